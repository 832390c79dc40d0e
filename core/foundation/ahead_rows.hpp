// Rows that the next block of tokens will read and write. A kernel asks for them while it computes: heads lie side by side, so the rows
// of one are too far apart for a machine to foresee. Over few tokens it is the next head's state. No code: kernels include it too.
#pragma once

#include <cstdint>

namespace linearmem {

template <typename T>
struct AheadRows {
  struct Rows {
    const T* first = nullptr;
    std::int64_t stride = 0, width = 0;
  };
  Rows rows[4] = {};
  std::int64_t tokens = 0;
  const T* state = nullptr;  // of the head whose turn is next, packed, or null
};

}  // namespace linearmem
