// A text that a verb takes from a file: a configuration, words to count.
#pragma once

#include <cstdint>
#include <string>

#include "linearmem/status.hpp"

namespace linearmem::cli {

// The whole file, or a pipe to its end. Errors: "FILE: cannot read: No such file or directory"; more bytes than `most`, both numbers.
Result<std::string> read_text_file(const std::string& file, std::uint64_t most);

}  // namespace linearmem::cli
