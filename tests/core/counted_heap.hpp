// How often the test program has asked its heap for memory.
#pragma once

#include <cstdint>

namespace linearmem::test {

std::int64_t allocations();

}  // namespace linearmem::test
