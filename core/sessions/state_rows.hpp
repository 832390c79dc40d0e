// Memory for states: rows of fixed size, each what one request keeps in all layers. A row may have several holders; who is about to write
// asks for one of its own first. Part p of row r lies at part(p).data + r * part(p).bytes, so that a layer gets all rows of a part at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "linearmem/layer_state.hpp"

namespace linearmem::sessions {

inline constexpr std::int64_t kNoRow = -1;  // of a request that has seen nothing: its state is zeros

struct RowPart {
  std::byte* data = nullptr;  // of row 0
  std::int64_t bytes = 0;     // in each row
};

class StateRows {
 public:
  // Errors: sizes that cannot be addressed.
  static Result<StateRows> create(std::span<const LayerStateLayout> layouts, std::int64_t rows);

  std::int64_t rows() const { return static_cast<std::int64_t>(holders_.size()); }
  std::int64_t held_bytes() const;
  const std::vector<RowPart>& parts() const { return parts_; }  // of layer 0, of layer 1, ...
  std::span<std::byte> bytes(std::size_t part, std::int64_t row) const;

  // There is a free row: holders never are more than rows.
  std::int64_t take();                     // zeros, with one holder
  std::int64_t share(std::int64_t row);    // the same row with one holder more; kNoRow stays kNoRow
  void release(std::int64_t row);          // one holder less; without any it is free
  std::int64_t own(std::int64_t row);      // for its holder: a row of the same content that nobody else holds

 private:
  std::vector<RowPart> parts_;
  std::vector<std::int64_t> holders_;  // of each row
  std::vector<std::int64_t> free_;     // the last one is given first
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t memory_bytes_ = 0;
};

}  // namespace linearmem::sessions
