#include "partial_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "settings.hpp"

namespace linearmem::cli {
namespace {

// Numbers are words: JSON has none for infinity and none for what is no number.
bool read_line(const std::string& line, std::vector<std::vector<double>>& values) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("part") || !json["part"].is_number_unsigned() || !json.contains("values") ||
      !json["values"].is_array())
    return false;
  const auto part = json["part"].get<std::size_t>();
  if (part >= values.size()) return false;
  std::vector<double> read;
  for (const nlohmann::json& word : json["values"]) {
    if (!word.is_string()) return false;
    const auto& text = word.get_ref<const std::string&>();
    double value = 0;
    if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        error != std::errc{} || end != text.data() + text.size())
      return false;
    read.push_back(value);
  }
  values[part] = std::move(read);
  return true;
}

}  // namespace

Result<PartialFile> PartialFile::open(const std::filesystem::path& path, const std::string& header, std::int64_t parts) {
  std::vector<std::vector<double>> values(static_cast<std::size_t>(parts));
  std::ostringstream content;
  if (std::ifstream file(path, std::ios::binary); file) content << file.rdbuf();
  const std::string text = content.str();
  std::size_t whole = 0;  // bytes of whole lines
  for (std::int64_t number = 1;; ++number) {
    const std::size_t end = text.find('\n', whole);
    if (end == std::string::npos) break;
    const std::string line = text.substr(whole, end - whole);
    if (number == 1 && line != header)
      return Status::invalid(path.string() + ": left by a run with other settings or of another build; delete it to start anew");
    if (number > 1 && !read_line(line, values))
      return Status::invalid(path.string() + ": line " + std::to_string(number) + " is damaged; delete the file to start anew");
    whole = end + 1;
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return Status::invalid(path.string() + ": cannot be opened for writing: " + std::strerror(errno));
  PartialFile partial(path, descriptor, std::move(values));
  if (::ftruncate(descriptor, static_cast<off_t>(whole)) != 0)
    return Status::invalid(path.string() + ": cannot be cut to its whole lines: " + std::strerror(errno));
  if (whole == 0)
    if (Status status = partial.write(header + "\n"); !status.ok()) return status;
  return partial;
}

PartialFile::PartialFile(std::filesystem::path path, int descriptor, std::vector<std::vector<double>> values)
    : path_(std::move(path)), descriptor_(descriptor), values_(std::move(values)) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), values_(std::move(other.values_)) {}

PartialFile::~PartialFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status PartialFile::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::invalid(path_.string() + ": cannot be written: " + std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Status PartialFile::add(std::int64_t part, const std::vector<double>& values) {
  nlohmann::ordered_json json = {{"part", part}, {"values", nlohmann::ordered_json::array()}};
  for (double value : values) json["values"].push_back(number_text(value));
  return write(json.dump() + "\n");
}

void PartialFile::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace linearmem::cli
