// Driven by events, as the header of a safetensors file is read: keys given twice are seen, and little of a hostile file is kept.
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint.hpp"
#include "counting_iterator.hpp"
#include "header.hpp"

namespace linearmem {
namespace {

constexpr std::size_t kMostDepth = 32;

// A file beside the index, not one elsewhere.
bool stays_in_folder(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos && name.find('\\') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

class IndexReader {
 public:
  explicit IndexReader(const std::uint64_t& position) : position_(position) {}

  std::map<std::string, std::string>& files() { return files_; }
  bool has_map() const { return has_map_; }
  const std::string& reason() const { return reason_; }
  std::uint64_t offset() const { return offset_; }

  bool null() { return value("null"); }
  bool boolean(bool) { return value("true or false"); }
  bool number_integer(std::int64_t) { return value("a number"); }
  bool number_unsigned(std::uint64_t) { return value("a number"); }
  bool number_float(double, const std::string&) { return value("a number"); }
  bool binary(nlohmann::json::binary_t&) { return refuse("binary values are not JSON"); }

  bool string(std::string& text) {
    if (!in_map()) return value("a text");
    if (!stays_in_folder(text)) return refuse("tensor " + shown(key_) + " is in " + shown(text) + ", which is not the name of a file beside the index");
    files_[key_] = text;
    return true;
  }

  bool start_object(std::size_t) {
    if (in_map() || (keys_.size() == 1 && key_ == "weight_map" && has_map_)) return refuse("an object is not expected here");
    if (keys_.size() == 1 && key_ == "weight_map") has_map_ = true;
    return open();
  }
  bool end_object() {
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t) {
    if (keys_.empty() || in_map() || (keys_.size() == 1 && key_ == "weight_map")) return refuse("an array is not expected here");
    return open();
  }
  bool end_array() { return end_object(); }

  bool key(std::string& name) {
    if (!keys_.back().insert(name).second) return refuse("duplicate key " + shown(name));
    if (keys_.size() == 1) top_ = name;
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    const std::string text = error.what();
    const std::size_t colon = text.find(": ");
    return refuse("not JSON: " + shown(colon == std::string::npos ? text : text.substr(colon + 2), 200));
  }

 private:
  bool in_map() const { return keys_.size() == 2 && top_ == "weight_map"; }

  bool open() {
    if (keys_.size() == kMostDepth) return refuse("nested deeper than " + std::to_string(kMostDepth));
    keys_.emplace_back();
    return true;
  }
  bool value(const char* what) {
    const bool wanted = keys_.empty() || in_map() || (keys_.size() == 1 && key_ == "weight_map");
    return wanted ? refuse(std::string(what) + " is not expected here") : true;
  }
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    offset_ = position_;
    return false;
  }

  const std::uint64_t& position_;
  std::vector<std::set<std::string>> keys_;  // of each object that is open
  std::string top_, key_;
  std::map<std::string, std::string> files_;
  bool has_map_ = false;
  std::string reason_;
  std::uint64_t offset_ = 0;
};

}  // namespace

Result<std::map<std::string, std::string>> parse_checkpoint_index(std::string_view text, const std::string& file) {
  if (text.empty() || text[0] != '{') return safetensors_error(file, 0, "the index does not start with {");
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) return safetensors_error(file, zero, "a NUL byte in the index");
  std::uint64_t position = 0;
  IndexReader reader(position);
  const CountingIterator begin(text.data(), text.data(), position), end(text.data() + text.size(), text.data(), position);
  if (!nlohmann::json::sax_parse(begin, end, &reader)) return safetensors_error(file, reader.offset(), reader.reason());
  if (!reader.has_map()) return safetensors_error(file, text.size(), "no weight_map");
  return std::move(reader.files());
}

}  // namespace linearmem
