// By the processor's own instruction where it has one, else by a table of single bytes.
#include "foundation/crc32c.hpp"

#include <array>
#include <cstring>

namespace linearmem {

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
// In the namespace of an instruction set, the only place where the library may hold what is past the baseline.
namespace N_SSE4 {
__attribute__((target("sse4.2"))) static std::uint32_t crc32c_by_instruction(const std::byte* bytes, std::size_t count, std::uint32_t state) {
  std::uint64_t wide = state;
  std::size_t at = 0;
  for (; at + 8 <= count; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; at < count; ++at) state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(bytes[at]));
  return state;
}
}  // namespace N_SSE4
#endif

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0x82f63b78u : value >> 1;
    table[byte] = value;
  }
  return table;
}

std::uint32_t by_table(std::span<const std::byte> bytes, std::uint32_t state) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_table();
  for (std::byte byte : bytes) state = state >> 8 ^ kTable[(state ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return state;
}

std::uint32_t after(std::span<const std::byte> bytes, std::uint32_t state) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return N_SSE4::crc32c_by_instruction(bytes.data(), bytes.size(), state);
#endif
  return by_table(bytes, state);
}

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) { return ~by_table(bytes, ~before); }

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) { return ~after(bytes, ~before); }

}  // namespace linearmem
