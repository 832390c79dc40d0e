// The checksum on its own: the check value that the CRC catalogue states, both ways of computing, and bytes that come in pieces.
#include "foundation/crc32c.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace linearmem {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

// "123456789" is the catalogue's input for every CRC; RFC 3720 has the other four (iSCSI, appendix B.4).
TEST(Crc32c, AgreesWithThePublishedValues) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c_by_table(bytes_of("123456789")), 0xe3069283u);
  const std::vector<unsigned char> zeros(32, 0), ones(32, 0xff);
  std::vector<unsigned char> rising(32), falling(32);
  for (unsigned char i = 0; i < 32; ++i) rising[i] = i, falling[i] = static_cast<unsigned char>(31 - i);
  EXPECT_EQ(crc32c(std::as_bytes(std::span(zeros))), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::as_bytes(std::span(ones))), 0x62a8ab43u);
  EXPECT_EQ(crc32c(std::as_bytes(std::span(rising))), 0x46dd794eu);
  EXPECT_EQ(crc32c(std::as_bytes(std::span(falling))), 0x113fdb5cu);
}

TEST(Crc32c, IsTheSameInPiecesAndByTable) {
  const std::string_view text = "state is an account: what is kept, how it may be rewritten, what it costs";
  const std::uint32_t whole = crc32c(bytes_of(text));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))), whole) << cut;
    EXPECT_EQ(crc32c_by_table(bytes_of(text.substr(cut)), crc32c_by_table(bytes_of(text.substr(0, cut)))), whole) << cut;
  }
}

}  // namespace
}  // namespace linearmem
