// A checkpoint as Hugging Face stores it: one safetensors file, or an index, model.safetensors.index.json, that says in which of several
// files beside it each tensor lies:
//   {"metadata": {"total_size": 1234}, "weight_map": {"model.layers.0.linear_attn.A_log": "model-00001-of-00041.safetensors", ...}}
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

inline constexpr std::uint64_t kLongestCheckpointIndex = 100'000'000;  // bytes

// The weight_map: tensor name to file name. `file` is the name that errors give. Errors: "FILE: offset 17: reason": not JSON, a key twice,
// no weight_map or one that is not all texts, a file name that would lead out of the folder.
Result<std::map<std::string, std::string>> parse_checkpoint_index(std::string_view text, const std::string& file);

// The tensors whose names begin with `prefix` and a point, without these; all where it is empty. A file whose name ends in .json is an index;
// of its files only those that hold such tensors are opened. Tensors beside them may be of dtypes that cannot be read. Errors: those of
// read_safetensors and of the index, a tensor that the index puts into a file which lacks it, no tensor under the prefix.
Result<NamedTensors> read_checkpoint(const std::filesystem::path& file, const std::string& prefix);

}  // namespace linearmem
