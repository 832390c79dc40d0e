// By the processor's own instruction where it has one, else by a table of single bytes.
#include "crc32c.hpp"

#include <array>
#include <cstring>

namespace linearmem::store {
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

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t state) {
  std::uint64_t wide = state;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; at < bytes.size(); ++at) state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(bytes[at]));
  return state;
}

bool has_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2");
  return has;
}
#else
std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t state) { return by_table(bytes, state); }
bool has_instruction() { return false; }
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) { return ~by_table(bytes, ~before); }

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  return has_instruction() ? ~by_instruction(bytes, ~before) : crc32c_by_table(bytes, before);
}

}  // namespace linearmem::store
