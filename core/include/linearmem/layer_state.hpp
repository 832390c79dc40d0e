// A whole layer of a model as seen from outside: hidden states in, hidden states out, and per request a state of known size that
// the caller owns. Sessions, the command line and the figures drive every layer through this and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/executor.hpp"
#include "linearmem/ledger.hpp"
#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

inline constexpr std::int64_t kMostTokens = std::int64_t{1} << 48;  // of one request: sums with it stay far from overflow

// One tensor of what a layer keeps per request.
struct StatePart {
  std::string name;                 // "conv_state", "recurrent_state", "keys", ...
  std::vector<std::int64_t> shape;  // of one request, packed; the axis of requests is not part of it
  DType dtype = DType::f32;         // f32 or f64, what the layer computes in

  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * dtype_bytes(dtype); }

  bool operator==(const StatePart&) const = default;
};

struct LayerStateLayout {
  std::string layer;             // the kind, "gated-delta-net"
  std::vector<StatePart> parts;  // in the order in which calls hand them over; none: the layer keeps nothing
  LayerGroup ledger = {};        // the same memory as the ledger counts it; layers: rounds where each has a history of its own
  std::int64_t most_tokens = 0;  // rows of a history of keys and values: a window, or the longest request; 0: the state is fixed

  std::int64_t bytes() const;  // of one request
  // What the ledger room says one request takes when its history is full; equal to bytes(). Errors: those of layer_bytes.
  Result<std::int64_t> ledger_bytes() const;
};

// Storage of one state part for many requests: row r begins at data + r * stride and is packed. Read and written in place.
template <typename T>
struct StateRows {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;  // elements from row to row, at least those of the part
};

// Receives the tensors inside a layer as they are computed. Tokens are packed: those of request 0, then of request 1, ..., padding left
// out. `values` is packed and valid during the call only.
template <typename T>
class LayerTap {
 public:
  virtual ~LayerTap() = default;
  virtual void take(std::string_view name, std::span<const std::int64_t> shape, const T* values) = 0;
};

// B batch, T time, M model width, N requests: B, or the number of packed ones when cu_seqlens is given (then B = 1).
template <typename T>
struct LayerCall {
  View<const T, 3> hidden;                      // [B,T,M]
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed requests of any lengths, 0 too
  View<const std::uint8_t, 2> mask = {};        // [B,T], 0: padding, as if the token were not there; its out is 0; absent: none

  std::span<const StateRows<T>> states = {};    // one per part of state_layout(); none: requests begin, and no state is kept
  std::span<const std::int64_t> slots = {};     // [N], all different: the row of each request in states; none: request n in row n
  // [N], tokens of each request that earlier calls took in, padding not counted; absent: 0. At 0 the request begins: its rows are
  // not read, whatever they hold. The next call's is larger by taken_tokens of this one.
  View<const std::int64_t, 1> seen = {};
  const Executor* executor = nullptr;           // whose threads to use; none: the calling thread. Same bits either way
  LayerTap<T>* tap = nullptr;                   // absent: nothing is shown

  View<T, 3> out;  // [B,T,M], not the same memory as hidden
};

// Tokens of request n that a call takes in: those that are not padding.
template <typename T>
std::int64_t taken_tokens(const LayerCall<T>& call, std::int64_t n);

template <typename T>
class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::string_view kind() const = 0;
  virtual std::int64_t width() const = 0;  // M
  virtual LayerStateLayout state_layout() const = 0;

  // Errors: an axis that differs, cu_seqlens not rising from 0 to T, another number of states than parts, rows shorter than the part,
  // a slot outside them or given twice, a seen below 0 or above kMostTokens, a history that would outgrow its rows. Then nothing is
  // written, neither out nor states.
  virtual Status forward(const LayerCall<T>& call) const = 0;
};

}  // namespace linearmem
