// Tensors whose element type is known only at run time: what files and JavaScript hand over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

enum class DType { f64, f32, bf16, f16, i64, i32, boolean };

std::string_view dtype_name(DType dtype);  // safetensors spelling: "F64", "F32", "BF16", "F16", "I64", "I32", "BOOL"
std::optional<DType> dtype_named(std::string_view name);
std::int64_t dtype_bytes(DType dtype);  // of one element
bool is_floating(DType dtype);

struct NamedTensor {
  DType dtype = DType::f64;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // packed, little endian

  std::int64_t size() const;  // elements
};

using NamedTensors = std::map<std::string, NamedTensor>;

// Conversions; T is double or float. bf16 and f16 widen exactly, f64 to float rounds to nearest even.
// Errors: a dtype of another kind, bytes that do not fit the shape, a boolean that is neither 0 nor 1.
template <typename T>
Result<std::vector<T>> floating_values(const std::string& name, const NamedTensor& tensor);
Result<std::vector<std::int64_t>> integer_values(const std::string& name, const NamedTensor& tensor);
Result<std::vector<std::uint8_t>> boolean_values(const std::string& name, const NamedTensor& tensor);

// T is double, float, int64_t (I64) or uint8_t (BOOL); the shape's product is the number of values.
template <typename T>
NamedTensor to_named(const std::vector<T>& values, std::vector<std::int64_t> shape);

}  // namespace linearmem
