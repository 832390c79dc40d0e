#include "foundation/crc32c.hpp"
#include "linearmem/session.hpp"

namespace linearmem {
namespace {

std::uint32_t text_checksum(std::string_view text, std::uint32_t before) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())), crc32c_of(static_cast<std::uint64_t>(text.size()), before));
}

}  // namespace

std::uint64_t weights_checksum(const NamedTensors& weights, std::string_view settings) {
  std::uint32_t form = text_checksum(settings, 0), values = 0;
  for (const auto& [name, tensor] : weights) {
    form = text_checksum(dtype_name(tensor.dtype), text_checksum(name, form));
    form = crc32c(std::as_bytes(std::span(tensor.shape)), crc32c_of(static_cast<std::uint64_t>(tensor.shape.size()), form));
    values = crc32c(tensor.bytes, values);
  }
  return std::uint64_t{form} << 32 | values;
}

}  // namespace linearmem
