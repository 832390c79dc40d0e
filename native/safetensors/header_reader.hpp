// A JSON event handler that accepts the shape of a safetensors header and nothing else. Being driven by events it sees
// duplicate keys, which a document tree would hide, and keeps no more than it needs of a hostile file.
#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "header.hpp"

namespace linearmem {

inline constexpr const char* kKnownDTypes = "F64, F32, BF16, F16, I64, I32, BOOL";

class HeaderReader {
 public:
  // position: bytes of the header that were read so far; kept up to date by whoever feeds the parser.
  explicit HeaderReader(const std::uint64_t& position) : position_(position) {}

  std::vector<HeaderEntry>& entries() { return entries_; }
  const std::string& reason() const { return reason_; }
  std::uint64_t offset() const { return offset_; }  // in the header, of the refusal

  bool null() { return refuse("null is not expected here"); }
  bool boolean(bool) { return refuse("true or false is not expected here"); }
  bool number_integer(std::int64_t value) { return refuse("negative number " + std::to_string(value)); }
  bool number_unsigned(std::uint64_t value);
  bool number_float(double, const std::string& text) { return refuse("\"" + text.substr(0, 40) + "\" is not a whole number below 2^63"); }
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t&) { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool key(std::string& name);
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error);

 private:
  enum class Place { outside, tensors, tensor, metadata, shape, offsets };

  bool refuse(std::string reason);
  bool finish_tensor();

  const std::uint64_t& position_;
  Place place_ = Place::outside;
  std::vector<HeaderEntry> entries_;
  std::set<std::string> names_, metadata_, fields_;
  std::string key_;
  int offsets_ = 0;
  std::string reason_;
  std::uint64_t offset_ = 0;
};

}  // namespace linearmem
