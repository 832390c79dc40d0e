// What every backend keeps of a store, and the checksums over it: the same wherever the rows lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "knn_store.hpp"

namespace linearmem::store {

constexpr std::int64_t kFormat = 1;

struct State {
  std::int64_t generation = 0;  // raised by every change
  std::int64_t rewritten = 0;   // the last generation that did more than add records with higher ids
  std::int64_t count = 0;
  std::int64_t next_id = 0;  // above every id ever used
  std::uint64_t digest = 0;  // sum of the records' own, modulo 2^64

  friend bool operator==(const State&, const State&) = default;
};

struct Record {
  std::int64_t id = 0, token = 0;
  std::string_view source;
  std::span<const float> key;
};

// How a sentence of every part of a store begins: with the store's name, or the file's.
inline Status refuse(const std::string& name, const std::string& sentence) { return Status::invalid(name + ": " + sentence); }

// salt: the identity's, which goes into every other.
std::uint32_t identity_checksum(const KnnIdentity& identity);
std::uint32_t state_checksum(std::uint32_t salt, const State& state);
std::uint32_t record_checksum(std::uint32_t salt, const Record& record);
std::uint64_t digest_of(std::uint32_t checksum, std::int64_t id);  // what a record adds to the digest

// All bits of the result depend on all of `value` (the finalizer of SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// The state after a change: a generation more, unless nothing changed. A change that did more than add sets rewritten to -1.
State after_change(const State& before, State after);

Record record_at(const KnnRecords& records, std::size_t i, std::int64_t id, std::int64_t dimension);

// Errors: numbers that do not make whole keys, lists of other lengths, a key that is not finite, a token or an id out of range.
Status check_records(const std::string& store, const KnnIdentity& identity, const KnnRecords& records, bool with_ids);

// Errors: a filter that sets nothing.
Status check_filter(const std::string& store, const KnnFilter& filter);
bool meets(const KnnFilter& filter, const Record& record);

// The ids of the records that meet it, rising; within a transaction of the caller's.
template <typename Truth>
Result<std::vector<std::int64_t>> ids_that_meet(const KnnFilter& filter, Truth& truth) {
  std::vector<std::int64_t> ids;
  const Status read = truth.each(std::max<std::int64_t>(filter.first_id.value_or(0), 0), [&](const Record& record, std::uint32_t) {
    if (meets(filter, record)) ids.push_back(record.id);
    return Status();
  });
  if (!read.ok()) return read;
  return ids;
}

}  // namespace linearmem::store
