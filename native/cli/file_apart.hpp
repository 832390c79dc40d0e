// An output that would replace a file which the same call reads and its user keeps.
#pragma once

#include <filesystem>
#include <string>

#include "linearmem/status.hpp"

namespace linearmem::cli {

// Errors: --output names the file that `option` names. An empty name is none.
inline Status check_apart(const std::string& output, const char* option, const std::string& kept) {
  std::error_code error;
  if (output.empty() || kept.empty()) return {};
  const bool one = std::filesystem::equivalent(output, kept, error) ||
                   std::filesystem::weakly_canonical(output, error) == std::filesystem::weakly_canonical(kept, error);
  return one ? Status::invalid(std::string("--output and ") + option + " are one file, " + kept) : Status();
}

}  // namespace linearmem::cli
