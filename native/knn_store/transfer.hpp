// A store as one safetensors file, and back: for copies, and for moving between machines and backends.
//
//   ids I64 [N], token_ids I64 [N], keys F32 [N,D]
//   sources I32, the UTF-8 bytes of all sources one after the other; source_ends I64 [N], where each ends
//   identity I32, the UTF-8 bytes of {"model": ..., "model_version": ..., "tokenizer": ..., "dimension": ..., "metric": ..., "domain": ...}
#pragma once

#include <filesystem>

#include "knn_store.hpp"
#include "linearmem/named_tensors.hpp"

namespace linearmem {

Status export_store(KnnStore& store, const std::filesystem::path& file);

// Makes a store at `path` that holds what the file holds, whole or not at all. Errors: those of create, a tensor that is missing or does
// not fit, an identity that is not the expected one.
Status import_store(const std::string& path, const std::filesystem::path& file, const KnnExpectation& expected);

// Records of a file that need no identity: keys [N,D] of any floating type, token_ids [N], [ids [N]].
// Errors name the file and the tensor.
Result<KnnRecords> read_records(const std::filesystem::path& file, std::int64_t dimension);

}  // namespace linearmem
