// The safetensors format: 8 bytes little-endian header length, a JSON header, then the tensors' bytes without gaps.
//   {"q": {"dtype": "F32", "shape": [1,8,2,4], "data_offsets": [0, 256]}, "__metadata__": {"by": "text"}}
// data_offsets count from the end of the header. Nothing in a file is trusted: every refusal names the file, the
// offset in it and the reason, and memory is asked for only after the sizes have been checked against the file's.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

inline constexpr std::uint64_t kLongestSafetensorsHeader = 100'000'000;  // bytes, the format's own limit

Result<NamedTensors> read_safetensors(const std::filesystem::path& file);

// The same from memory; `file` is the name that errors give.
Result<NamedTensors> parse_safetensors(std::span<const std::byte> bytes, const std::string& file);

// Written whole or not at all. Widest elements first, then by name, so that every tensor is aligned. Errors: a tensor
// whose bytes do not fit its shape, the reserved name "__metadata__", a name that is not UTF-8, a file that cannot be written.
Status write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace linearmem
