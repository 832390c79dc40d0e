// CRC-32C (Castagnoli, reflected 0x1EDC6F41), the checksum of iSCSI and ext4: finds every change of one byte and every burst of 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace linearmem::store {

// before: the checksum of the bytes that come first; 0 for none.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The same without the processor's own instruction.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

template <typename T>
std::uint32_t crc32c_of(const T& value, std::uint32_t before) {
  return crc32c(std::as_bytes(std::span(&value, 1)), before);
}

// All bits of the result depend on all of `value` (the finalizer of SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace linearmem::store
