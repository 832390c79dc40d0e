// CRC-32C (Castagnoli, reflected 0x1EDC6F41), the checksum of iSCSI and ext4: finds every change of one byte and every burst of 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace linearmem {

// before: the checksum of the bytes that come first; 0 for none.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The same without the processor's own instruction.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

template <typename T>
std::uint32_t crc32c_of(const T& value, std::uint32_t before) {
  return crc32c(std::as_bytes(std::span(&value, 1)), before);
}

}  // namespace linearmem
