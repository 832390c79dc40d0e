#include "header.hpp"

#include <algorithm>
#include <tuple>

#include "counting_iterator.hpp"
#include "header_reader.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

// The parser reads NUL as the end of its input and skips a byte order mark; a header has neither.
Status check_text(std::string_view text, const std::string& file) {
  if (text.empty() || text[0] != '{') return safetensors_error(file, 8, "the header does not start with {");
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return safetensors_error(file, 8 + zero, "a NUL byte in the header");
  return {};
}

Status check_entry(const HeaderEntry& entry, std::uint64_t data_at, std::uint64_t data_size, const std::string& file) {
  const std::string name = "tensor " + shown(entry.name);
  const auto span = "[" + std::to_string(entry.begin) + "," + std::to_string(entry.end) + "]";
  if (entry.begin > entry.end) return safetensors_error(file, entry.at, name + ": data_offsets " + span + " fall");
  if (entry.end > data_size)
    return safetensors_error(
        file, data_at + data_size,
        name + ": data_offsets " + span + " reach beyond the file, which has " + std::to_string(data_size) + " bytes of data");
  const auto bytes = checked_bytes(name, entry.shape.data(), static_cast<int>(entry.shape.size()), entry.bytes);
  if (!bytes.ok()) return safetensors_error(file, entry.at, bytes.status().message());
  if (static_cast<std::uint64_t>(bytes.value()) != entry.end - entry.begin)
    return safetensors_error(file, data_at + entry.begin,
                             name + ": shape and dtype need " + std::to_string(bytes.value()) + " bytes, data_offsets " + span + " hold " +
                                 std::to_string(entry.end - entry.begin));
  return {};
}

// entries ascend; together they must cover the data exactly.
Status check_layout(const SafetensorsHeader& header, std::uint64_t data_size, const std::string& file) {
  std::uint64_t covered = 0;
  for (const HeaderEntry& entry : header.entries) {
    if (Status status = check_entry(entry, header.data_at, data_size, file); !status.ok()) return status;
    if (entry.begin != covered)
      return safetensors_error(file, header.data_at + std::min(entry.begin, covered),
                               "tensor " + shown(entry.name) + " begins at data byte " + std::to_string(entry.begin) +
                                   (entry.begin < covered ? ", overlapping the tensor that ends at " : ", leaving a hole after ") +
                                   std::to_string(covered));
    covered = entry.end;
  }
  if (covered != data_size)
    return safetensors_error(file, header.data_at + covered, std::to_string(data_size - covered) + " trailing bytes belong to no tensor");
  return {};
}

}  // namespace

Status safetensors_error(const std::string& file, std::uint64_t offset, const std::string& reason) {
  return Status::invalid(file + ": offset " + std::to_string(offset) + ": " + reason);
}

std::string shown(const std::string& text, std::size_t most) {
  const std::string kept = text.size() > most ? text.substr(0, most) + "..." : text;
  return nlohmann::json(kept).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Status check_dtype(const HeaderEntry& entry, const std::string& file) {
  if (entry.foreign.empty()) return {};
  return safetensors_error(file, entry.at, "tensor " + shown(entry.name) + " is " + entry.foreign + "; what can be read is " + kKnownDTypes);
}

Result<SafetensorsHeader> parse_header(std::string_view text, std::uint64_t file_size, const std::string& file, ForeignTensors foreign) {
  if (Status status = check_text(text, file); !status.ok()) return status;
  std::uint64_t position = 0;
  HeaderReader reader(position);
  const CountingIterator begin(text.data(), text.data(), position), end(text.data() + text.size(), text.data(), position);
  if (!nlohmann::json::sax_parse(begin, end, &reader)) return safetensors_error(file, 8 + reader.offset(), reader.reason());

  SafetensorsHeader header{.entries = std::move(reader.entries()), .data_at = 8 + text.size()};
  for (HeaderEntry& entry : header.entries) {
    entry.at += 8;
    if (foreign == ForeignTensors::refused)
      if (Status status = check_dtype(entry, file); !status.ok()) return status;
  }
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const HeaderEntry& a, const HeaderEntry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  if (Status status = check_layout(header, file_size - header.data_at, file); !status.ok()) return status;
  return header;
}

}  // namespace linearmem
