// How a file made from the truth begins: a page that holds its header, zeros, and in its last four bytes the checksum of all before them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "foundation/crc32c.hpp"

namespace linearmem::store {

constexpr std::size_t kPage = 4096;

template <typename Header>
std::vector<std::byte> header_page(const Header& header) {
  static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) <= kPage - 4);
  std::vector<std::byte> page(kPage);
  std::memcpy(page.data(), &header, sizeof header);
  const std::uint32_t sum = crc32c(std::span(page).first(kPage - 4));
  std::memcpy(page.data() + kPage - 4, &sum, 4);
  return page;
}

// The header of a file of at least a page, sound or not.
template <typename Header>
Header header_of(std::span<const std::byte> file) {
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

inline bool header_is_sound(std::span<const std::byte> file) {
  std::uint32_t sum;
  std::memcpy(&sum, file.data() + kPage - 4, 4);
  return crc32c(file.first(kPage - 4)) == sum;
}

}  // namespace linearmem::store
