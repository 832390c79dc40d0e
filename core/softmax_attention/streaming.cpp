// The streaming form: packs the keys that are not masked and their values once, then hands blocks of queries to the SIMD kernel,
// which sees every key once and keeps no scores. Memory is linear in T. A masked key is dropped here, so it is as if absent.
#include <algorithm>
#include <vector>

#include "foundation/aligned_buffer.hpp"
#include "foundation/packed_rows.hpp"
#include "foundation/sequences.hpp"
#include "softmax_attention/head.hpp"
#include "softmax_attention/kernel.hpp"

namespace linearmem::softmax {
namespace {

constexpr double kLog2E = 1.4426950408889634;

template <typename T>
std::vector<std::int64_t> kept_tokens(const Head<T>& head) {
  std::vector<std::int64_t> kept;
  for (std::int64_t s = 0; s < head.tokens(); ++s)
    if (!head.masked(s)) kept.push_back(s);
  return kept;
}

constexpr std::int64_t kRowsTurned = 16;  // divides kTileKeys

template <typename T>
class PackedKeys {
 public:
  PackedKeys(const Head<T>& head, const std::vector<std::int64_t>& kept)
      : head_(head), kept_(kept), K_(head.key_width()), row_(padded_columns<T>(head.value_width())),
        packed_from_(place(head.first_seen(head.begin)) / kTileKeys * kTileKeys),
        packed_(place(head.end_seen(head.end - 1)) - packed_from_), keys_((packed_ + kTileKeys - 1) / kTileKeys * kTileKeys * K_),
        values_(packed_ * row_), q_(kBlockQueries * K_), o_(kBlockQueries * row_) {
    for (std::int64_t s = 0; s < packed_; ++s) copy_row(head.v, kept_token(s), values_.data() + s * row_);
    AlignedBuffer<T> rows(kRowsTurned * K_);
    for (std::int64_t s = 0; s < packed_; s += kRowsTurned) turn_keys(s, std::min(kRowsTurned, packed_ - s), rows.data());
  }

  void run(std::int64_t begin, std::int64_t queries) {
    for (std::int64_t t = 0; t < queries; ++t) {
      first_[t] = place(head_.first_seen(begin + t)) - packed_from_;
      end_[t] = place(head_.end_seen(begin + t)) - packed_from_;
      T* q = q_.data() + t * K_;
      copy_row(head_.q, begin + t, q);
      for (std::int64_t i = 0; i < K_; ++i) q[i] = static_cast<T>(kLog2E * head_.scale * static_cast<double>(q[i]));
    }
    kernel_block({q_.data(), keys_.data(), values_.data(), first_, end_, o_.data(), queries, K_, row_});
    unpack_rows(o_.data(), row_, head_.o, begin, queries);
  }

 private:
  std::int64_t kept_token(std::int64_t s) const { return kept_[static_cast<std::size_t>(packed_from_ + s)]; }

  // Keys [s, s + count) of one tile become columns, a cache line of each row of the tile at a time. rows: room for the keys.
  void turn_keys(std::int64_t s, std::int64_t count, T* rows) {
    for (std::int64_t n = 0; n < count; ++n) copy_row(head_.k, kept_token(s + n), rows + n * K_);
    T* tile = keys_.data() + s / kTileKeys * kTileKeys * K_ + s % kTileKeys;
    for (std::int64_t i = 0; i < K_; ++i)
      for (std::int64_t n = 0; n < count; ++n) tile[i * kTileKeys + n] = rows[n * K_ + i];
  }

  // Kept tokens before token s.
  std::int64_t place(std::int64_t s) const { return std::lower_bound(kept_.begin(), kept_.end(), s) - kept_.begin(); }

  const Head<T>& head_;
  const std::vector<std::int64_t>& kept_;
  std::int64_t K_, row_;
  std::int64_t packed_from_, packed_;  // among the kept tokens: whole tiles from the first one that is seen, to the last one that is
  AlignedBuffer<T> keys_, values_, q_, o_;
  std::int64_t first_[kBlockQueries], end_[kBlockQueries];
};

}  // namespace

template <typename T>
void streaming(const Head<T>& head) {
  if (head.begin == head.end || head.value_width() == 0) return;
  const std::vector<std::int64_t> kept = kept_tokens(head);
  PackedKeys<T> packed(head, kept);
  for (std::int64_t begin = head.begin; begin < head.end; begin += kBlockQueries)
    packed.run(begin, std::min(kBlockQueries, head.end - begin));
}

template void streaming(const Head<float>&);
template void streaming(const Head<double>&);

}  // namespace linearmem::softmax
