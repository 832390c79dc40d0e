#include "records.hpp"

#include <cmath>
#include <limits>

#include "foundation/crc32c.hpp"

namespace linearmem::store {
namespace {

std::uint32_t text_checksum(std::string_view text, std::uint32_t before) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())), crc32c_of(static_cast<std::uint64_t>(text.size()), before));
}

}  // namespace

std::uint32_t identity_checksum(const KnnIdentity& identity) {
  std::uint32_t sum = crc32c_of(kFormat, 0);
  for (const std::string* text : {&identity.model, &identity.model_version, &identity.tokenizer, &identity.domain})
    sum = text_checksum(*text, sum);
  return text_checksum(metric_name(identity.metric), crc32c_of(identity.dimension, sum));
}

std::uint32_t state_checksum(std::uint32_t salt, const State& state) {
  std::uint32_t sum = salt;
  for (std::int64_t value : {state.generation, state.rewritten, state.count, state.next_id}) sum = crc32c_of(value, sum);
  return crc32c_of(state.digest, sum);
}

std::uint32_t record_checksum(std::uint32_t salt, const Record& record) {
  return crc32c(std::as_bytes(record.key), text_checksum(record.source, crc32c_of(record.token, crc32c_of(record.id, salt))));
}

std::uint64_t digest_of(std::uint32_t checksum, std::int64_t id) {
  return mixed(std::uint64_t{checksum} ^ mixed(static_cast<std::uint64_t>(id)));
}

State after_change(const State& before, State after) {
  if (after == before) return after;
  if (after.rewritten != before.rewritten) after.rewritten = before.generation + 1;
  ++after.generation;
  return after;
}

Record record_at(const KnnRecords& records, std::size_t i, std::int64_t id, std::int64_t dimension) {
  const auto D = static_cast<std::size_t>(dimension);
  return {.id = id,
          .token = records.tokens[i],
          .source = records.sources.empty() ? std::string_view() : std::string_view(records.sources[i]),
          .key = std::span(records.keys).subspan(i * D, D)};
}

Status check_records(const std::string& store, const KnnIdentity& identity, const KnnRecords& records, bool with_ids) {
  const std::int64_t D = identity.dimension, n = records.count();
  const auto keys = static_cast<std::int64_t>(records.keys.size());
  if (keys != n * D)
    return refuse(store, n > 0 && keys % n == 0
                             ? "dimension differs: the store has " + std::to_string(D) + ", keys have " + std::to_string(keys / n)
                             : "there are " + std::to_string(n) + " tokens, but " + std::to_string(keys) + " numbers of keys; " +
                                   std::to_string(D) + " make a key");
  if (!records.sources.empty() && static_cast<std::int64_t>(records.sources.size()) != n)
    return refuse(store, "there are " + std::to_string(n) + " tokens, but " + std::to_string(records.sources.size()) + " sources");
  if (static_cast<std::int64_t>(records.ids.size()) != (with_ids ? n : 0))
    return refuse(store, with_ids ? "there are " + std::to_string(n) + " tokens, but " + std::to_string(records.ids.size()) + " ids"
                                  : "ids are given by the store when records are appended; upsert takes ids");
  for (std::size_t i = 0; i < records.tokens.size(); ++i) {
    if (records.tokens[i] < 0)
      return refuse(store, "tokens[" + std::to_string(i) + "] is " + std::to_string(records.tokens[i]) + ", must be at least 0");
    if (with_ids && (records.ids[i] < 0 || records.ids[i] == std::numeric_limits<std::int64_t>::max()))
      return refuse(store, "ids[" + std::to_string(i) + "] is " + std::to_string(records.ids[i]) + ", must be from 0 to 2^63-2");
  }
  for (std::int64_t at = 0; at < keys; ++at)
    if (!std::isfinite(records.keys[static_cast<std::size_t>(at)]))
      return refuse(store, "keys[" + std::to_string(at / D) + "," + std::to_string(at % D) + "] is not finite");
  return {};
}

Status check_filter(const std::string& store, const KnnFilter& filter) {
  if (filter.token || filter.source || filter.first_id || filter.last_id) return {};
  return refuse(store, "the filter sets nothing; to remove every record set first_id to 0");
}

bool meets(const KnnFilter& filter, const Record& record) {
  return record.id >= filter.first_id.value_or(record.id) && record.id <= filter.last_id.value_or(record.id) &&
         record.token == filter.token.value_or(record.token) && (!filter.source || record.source == *filter.source);
}

}  // namespace linearmem::store
