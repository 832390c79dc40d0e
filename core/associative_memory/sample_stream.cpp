#include "associative_memory/sample_stream.hpp"

#include <cmath>

#include "foundation/unit_rows.hpp"

namespace linearmem::associative {

SampleStream::SampleStream(const SamplingSettings& settings, std::uint64_t seed)
    : generator_(seed),
      K_(settings.K),
      V_(settings.V),
      targets_(static_cast<std::size_t>(settings.queries * K_)),
      keys_(static_cast<std::size_t>(K_ * kTileItems)),
      values_(static_cast<std::size_t>(kTileItems * padded_row(V_))),
      row_(static_cast<std::size_t>(K_)) {
  for (std::int64_t q = 0; q < settings.queries; ++q) draw_unit_rows(generator_, targets_.data() + q * K_, 1, K_);
  queries_ = targets_;
  queries_.resize(static_cast<std::size_t>(padded_queries(settings.queries) * K_));
  const double away = std::sqrt(1 - settings.match * settings.match);
  for (std::int64_t q = 0; settings.match < 1 && q < settings.queries; ++q) {
    const double* key = targets_.data() + q * K_;
    double along = 0;
    generator_.fill_normal(row_);
    for (std::int64_t i = 0; i < K_; ++i) along += row_[static_cast<std::size_t>(i)] * key[i];
    for (std::int64_t i = 0; i < K_; ++i) row_[static_cast<std::size_t>(i)] -= along * key[i];
    divide_by_length(row_.data(), K_);
    for (std::int64_t i = 0; i < K_; ++i)
      queries_[static_cast<std::size_t>(q * K_ + i)] = settings.match * key[i] + away * row_[static_cast<std::size_t>(i)];
  }
}

void SampleStream::draw_tile() {
  for (std::int64_t s = 0; s < kTileItems; ++s) {
    draw_unit_rows(generator_, row_.data(), 1, K_);
    for (std::int64_t c = 0; c < K_; ++c) keys_[static_cast<std::size_t>(c * kTileItems + s)] = row_[static_cast<std::size_t>(c)];
  }
  for (std::int64_t s = 0; s < kTileItems; ++s) draw_unit_rows(generator_, values_.data() + s * padded_row(V_), 1, V_);
}

}  // namespace linearmem::associative
