// An 8 x 8 picture of on and off pixels as a value of 64 components: what a reader can recognize when it is read back.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace linearmem::associative {

constexpr int kPictureSide = 8;

// Rows 0-3 and rows 4-7 as 32 bits each, row by row; the highest bit is the first pixel of the first row.
struct Picture {
  std::uint32_t top, bottom;

  bool on(int pixel) const { return (pixel < 32 ? top : bottom) >> (31 - pixel % 32) & 1; }
};

constexpr Picture kLetterT{0x007e1818, 0x18181800};

// Length 1; all zeros for a picture with no pixel on.
inline std::vector<double> unit_value(const Picture& picture) {
  std::vector<double> value(kPictureSide * kPictureSide);
  int count = 0;
  for (int pixel = 0; pixel < kPictureSide * kPictureSide; ++pixel) count += picture.on(pixel);
  for (int pixel = 0; pixel < kPictureSide * kPictureSide; ++pixel)
    value[static_cast<std::size_t>(pixel)] = picture.on(pixel) ? 1 / std::sqrt(static_cast<double>(count)) : 0;
  return value;
}

}  // namespace linearmem::associative
