#include "header_reader.hpp"

#include <limits>
#include <utility>

namespace linearmem {
namespace {

// Of the format's other dtypes, 0 where it has none of this name.
std::int64_t foreign_bytes(const std::string& dtype) {
  for (const char* one : {"U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"})
    if (dtype == one) return 1;
  if (dtype == "U16" || dtype == "I16") return 2;
  if (dtype == "U32") return 4;
  return dtype == "U64" || dtype == "C64" ? 8 : 0;
}

}  // namespace

bool HeaderReader::refuse(std::string reason) {
  reason_ = std::move(reason);
  offset_ = position_;
  return false;
}

bool HeaderReader::key(std::string& name) {
  std::set<std::string>& seen = place_ == Place::tensors ? names_ : place_ == Place::metadata ? metadata_ : fields_;
  if (!seen.insert(name).second) return refuse("duplicate key " + shown(name));
  if (place_ == Place::tensor && name != "dtype" && name != "shape" && name != "data_offsets")
    return refuse("unknown key " + shown(name) + "; a tensor has dtype, shape, data_offsets");
  key_ = std::move(name);
  return true;
}

bool HeaderReader::start_object(std::size_t) {
  if (place_ == Place::outside) {
    place_ = Place::tensors;
    return true;
  }
  if (place_ != Place::tensors) return refuse("an object is not expected here");
  if (key_ == "__metadata__") {
    place_ = Place::metadata;
    return true;
  }
  place_ = Place::tensor;
  fields_.clear();
  entries_.push_back({.name = key_, .dtype = DType::f64, .shape = {}, .begin = 0, .end = 0, .at = position_});
  return true;
}

bool HeaderReader::end_object() {
  if (place_ == Place::tensor && !finish_tensor()) return false;
  place_ = place_ == Place::tensors ? Place::outside : Place::tensors;
  return true;
}

bool HeaderReader::finish_tensor() {
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!fields_.count(field)) return refuse("tensor " + shown(entries_.back().name) + " has no " + field);
  return true;
}

bool HeaderReader::start_array(std::size_t) {
  if (place_ != Place::tensor || key_ == "dtype") return refuse("an array is not expected here");
  place_ = key_ == "shape" ? Place::shape : Place::offsets;
  offsets_ = 0;
  return true;
}

bool HeaderReader::end_array() {
  if (place_ == Place::offsets && offsets_ != 2) return refuse("data_offsets must have 2 numbers, has " + std::to_string(offsets_));
  place_ = Place::tensor;
  return true;
}

bool HeaderReader::number_unsigned(std::uint64_t value) {
  if (place_ != Place::shape && place_ != Place::offsets) return refuse("a number is not expected here");
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return refuse(std::to_string(value) + " is not a whole number below 2^63");
  HeaderEntry& entry = entries_.back();
  if (place_ == Place::shape) {
    entry.shape.push_back(static_cast<std::int64_t>(value));
    return true;
  }
  if (++offsets_ > 2) return refuse("data_offsets must have 2 numbers, has more");
  (offsets_ == 1 ? entry.begin : entry.end) = value;
  return true;
}

bool HeaderReader::string(std::string& value) {
  if (place_ == Place::metadata) return true;
  if (place_ != Place::tensor || key_ != "dtype") return refuse("a string is not expected here");
  HeaderEntry& entry = entries_.back();
  if (const std::optional<DType> dtype = dtype_named(value)) {
    entry.dtype = *dtype;
    entry.bytes = dtype_bytes(*dtype);
    return true;
  }
  entry.foreign = value;
  entry.bytes = foreign_bytes(value);
  return entry.bytes > 0 || refuse("unknown dtype " + shown(value) + "; known are " + kKnownDTypes);
}

bool HeaderReader::parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ...": the last part is the reason.
  const std::string text = error.what();
  const std::size_t colon = text.find(": ");
  return refuse("not JSON: " + shown(colon == std::string::npos ? text : text.substr(colon + 2), 200));
}

}  // namespace linearmem
