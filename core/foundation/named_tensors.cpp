#include "linearmem/named_tensors.hpp"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

static_assert(std::endian::native == std::endian::little, "NamedTensor holds little-endian bytes and copies them as they are");

struct DTypeEntry {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;
  bool floating;
};

constexpr DTypeEntry kDTypes[] = {
    {DType::f64, "F64", 8, true},  {DType::f32, "F32", 4, true},  {DType::bf16, "BF16", 2, true},     {DType::f16, "F16", 2, true},
    {DType::i64, "I64", 8, false}, {DType::i32, "I32", 4, false}, {DType::boolean, "BOOL", 1, false},
};

const DTypeEntry& entry_of(DType dtype) {
  for (const DTypeEntry& entry : kDTypes)
    if (entry.dtype == dtype) return entry;
  return kDTypes[0];
}

// std::bit_cast, which the oldest C++ library we build with does not have.
template <typename To, typename From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

float widen_bf16(std::uint16_t bits) { return bits_as<float>(static_cast<std::uint32_t>(bits) << 16); }

// Half precision: 1 sign, 5 exponent (bias 15), 10 mantissa bits; every value is a float.
float widen_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: mantissa x 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return bits_as<float>(bits_as<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t widened = exponent == 0x1fu ? 0xffu : exponent + (127 - 15);
  return bits_as<float>(sign | widened << 23 | mantissa << 13);
}

Status check_bytes(const std::string& name, const NamedTensor& tensor) {
  const auto bytes = checked_bytes(name, tensor.shape.data(), static_cast<int>(tensor.shape.size()), dtype_bytes(tensor.dtype));
  if (!bytes.ok()) return bytes.status();
  if (static_cast<std::uint64_t>(bytes.value()) != tensor.bytes.size())
    return Status::invalid(name + ": its shape and dtype " + std::string(dtype_name(tensor.dtype)) + " need " +
                           std::to_string(bytes.value()) + " bytes, it has " + std::to_string(tensor.bytes.size()));
  return {};
}

Status wrong_kind(const std::string& name, const char* wanted, DType dtype) {
  return Status::invalid(name + ": must be " + wanted + ", is " + std::string(dtype_name(dtype)));
}

// Element by element, because the stored bytes are not aligned for Stored.
template <typename Stored, typename T, typename Convert>
std::vector<T> convert_all(const NamedTensor& tensor, Convert convert) {
  std::vector<T> values(tensor.bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, tensor.bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert(stored);
  }
  return values;
}

template <typename Stored, typename T>
std::vector<T> cast_all(const NamedTensor& tensor) {
  return convert_all<Stored, T>(tensor, [](Stored stored) { return static_cast<T>(stored); });
}

}  // namespace

std::string_view dtype_name(DType dtype) { return entry_of(dtype).name; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const DTypeEntry& entry : kDTypes)
    if (entry.name == name) return entry.dtype;
  return std::nullopt;
}

std::int64_t dtype_bytes(DType dtype) { return entry_of(dtype).bytes; }

bool is_floating(DType dtype) { return entry_of(dtype).floating; }

std::int64_t NamedTensor::size() const {
  std::int64_t product = 1;
  for (std::int64_t extent : shape) product *= extent;
  return product;
}

template <typename T>
Result<std::vector<T>> floating_values(const std::string& name, const NamedTensor& tensor) {
  if (Status status = check_bytes(name, tensor); !status.ok()) return status;
  switch (tensor.dtype) {
    case DType::f64: return cast_all<double, T>(tensor);
    case DType::f32: return cast_all<float, T>(tensor);
    case DType::bf16: return convert_all<std::uint16_t, T>(tensor, [](std::uint16_t bits) { return static_cast<T>(widen_bf16(bits)); });
    case DType::f16: return convert_all<std::uint16_t, T>(tensor, [](std::uint16_t bits) { return static_cast<T>(widen_f16(bits)); });
    default: return wrong_kind(name, "floating (F64, F32, BF16, F16)", tensor.dtype);
  }
}

Result<std::vector<std::int64_t>> integer_values(const std::string& name, const NamedTensor& tensor) {
  if (Status status = check_bytes(name, tensor); !status.ok()) return status;
  if (tensor.dtype == DType::i64) return cast_all<std::int64_t, std::int64_t>(tensor);
  if (tensor.dtype == DType::i32) return cast_all<std::int32_t, std::int64_t>(tensor);
  return wrong_kind(name, "integer (I64, I32)", tensor.dtype);
}

Result<std::vector<std::uint8_t>> boolean_values(const std::string& name, const NamedTensor& tensor) {
  if (Status status = check_bytes(name, tensor); !status.ok()) return status;
  if (tensor.dtype != DType::boolean) return wrong_kind(name, "BOOL", tensor.dtype);
  std::vector<std::uint8_t> values = cast_all<std::uint8_t, std::uint8_t>(tensor);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > 1)
      return Status::invalid(name + ": element " + std::to_string(i) + " is " + std::to_string(values[i]) + "; a BOOL is 0 or 1");
  return values;
}

template <typename T>
NamedTensor to_named(const std::vector<T>& values, std::vector<std::int64_t> shape) {
  constexpr DType dtype = std::is_same_v<T, double>         ? DType::f64
                          : std::is_same_v<T, float>        ? DType::f32
                          : std::is_same_v<T, std::int64_t> ? DType::i64
                                                            : DType::boolean;
  NamedTensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template Result<std::vector<double>> floating_values<double>(const std::string&, const NamedTensor&);
template Result<std::vector<float>> floating_values<float>(const std::string&, const NamedTensor&);
template NamedTensor to_named<double>(const std::vector<double>&, std::vector<std::int64_t>);
template NamedTensor to_named<float>(const std::vector<float>&, std::vector<std::int64_t>);
template NamedTensor to_named<std::int64_t>(const std::vector<std::int64_t>&, std::vector<std::int64_t>);
template NamedTensor to_named<std::uint8_t>(const std::vector<std::uint8_t>&, std::vector<std::int64_t>);

}  // namespace linearmem
