// Counting that remembers whether a sum or product left the 64 bits.
#pragma once

#include <cstdint>

namespace linearmem {

class CheckedSize {
 public:
  CheckedSize(std::int64_t value) : value_(value) {}

  bool fits() const { return fits_; }
  std::int64_t value() const { return value_; }  // meaningful only where it fits

  friend CheckedSize operator*(CheckedSize a, CheckedSize b) {
    CheckedSize product(0);
    product.fits_ = !__builtin_mul_overflow(a.value_, b.value_, &product.value_) && a.fits_ && b.fits_;
    return product;
  }
  friend CheckedSize operator+(CheckedSize a, CheckedSize b) {
    CheckedSize sum(0);
    sum.fits_ = !__builtin_add_overflow(a.value_, b.value_, &sum.value_) && a.fits_ && b.fits_;
    return sum;
  }

 private:
  std::int64_t value_;
  bool fits_ = true;
};

// Whole bytes of so many elements.
inline CheckedSize bytes_of(CheckedSize elements, int bits) {
  const CheckedSize all = elements * bits + 7;
  return all.fits() ? CheckedSize(all.value() / 8) : all;
}

}  // namespace linearmem
