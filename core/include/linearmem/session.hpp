// Sessions: the states of many requests at once, over a stack of layers, and what a server does with them: open and close, go on with any
// of them in one call, reset, fork, take back to a checkpoint (speculative decoding), save and load.
//
//   hidden -> layer 0 -> layer 1 -> ... -> out        the output of a layer is the input of the next; no residual is added
//
// Memory: (requests + checkpoints) rows of bytes_per_request(), taken when the object is made and never grown; a row is what one request
// keeps in all layers. A fork or a checkpoint shares its request's row until one of the two goes on, and then takes a row of its own,
// which is always there.
//
// One object belongs to one thread at a time. A request gives the same bits alone and beside any others, whatever its slot held before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linearmem/executor.hpp"
#include "linearmem/layer_state.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// A request that is or was open. Its slot is given away again after close, under another generation: an old handle is refused by name.
struct RequestHandle {
  std::int64_t slot = -1, generation = 0;

  bool operator==(const RequestHandle&) const = default;
};

// Checkpoints of a request are numbered 0, 1, 2, ... since it was opened; no number is given twice.
struct CheckpointHandle {
  RequestHandle request;
  std::int64_t number = -1;

  bool operator==(const CheckpointHandle&) const = default;
};

struct SessionSettings {
  std::int64_t requests = 1;     // that may be open at once
  std::int64_t checkpoints = 0;  // that may be kept at once, of all requests together
  std::uint64_t weights = 0;     // what tells the layers' weights and settings from others, such as weights_checksum: a saved state goes only
                                 // with its own
};

// B batch, T time, M model width, N requests: B, or the number of packed ones when cu_seqlens is given (then B = 1). T = 1 is a step of
// each request.
template <typename T>
struct SessionCall {
  std::span<const RequestHandle> requests;      // [N], all different, of those that are open
  View<const T, 3> hidden;                      // [B,T,M]
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed requests of any lengths, 0 too
  View<const std::uint8_t, 2> mask = {};        // [B,T], 0: padding, as if the token were not there; its out is 0; absent: none
  const Executor* executor = nullptr;           // whose threads to use; none: the calling thread. Same bits either way

  View<T, 3> out;  // [B,T,M], not the same memory as hidden
};

// A request under the name it has outside: in a saved session, and on the command line.
struct SavedRequest {
  std::int64_t id = 0;
  RequestHandle request;
};

// Where a saved session lies: memory, a file, a socket. Read in pieces, so that it need not fit into memory beside the states.
class SessionSource {
 public:
  virtual ~SessionSource() = default;
  virtual const std::string& name() const = 0;  // that errors give
  virtual std::int64_t size() const = 0;        // bytes
  // offset and the length of `to` lie within the size.
  virtual Status read(std::int64_t offset, std::span<std::byte> to) const = 0;
};

// Where one goes to, piece after piece.
class SessionSink {
 public:
  virtual ~SessionSink() = default;
  virtual Status write(std::span<const std::byte> bytes) = 0;
};

// What a request keeps in layers of these layouts, in bytes: their sum. Errors: a size below 0, or a sum that cannot be addressed.
Result<std::int64_t> bytes_per_request(std::span<const LayerStateLayout> layouts);

// For SessionSettings::weights: checksums of names, types and shapes, of the values, and of `settings`, whatever else must not differ.
std::uint64_t weights_checksum(const NamedTensors& weights, std::string_view settings = {});

template <typename T>
class Sessions {
 public:
  // The layers live longer than the object; one may stand at several places, with a state at each. Errors: no layers, a null among them, widths
  // that differ, a part that is not of T, a setting out of range, states that cannot be addressed.
  static Result<Sessions> create(std::vector<const Layer<T>*> layers, const SessionSettings& settings);

  Sessions(Sessions&&) noexcept;
  Sessions& operator=(Sessions&&) noexcept;
  ~Sessions();

  const std::vector<LayerStateLayout>& layouts() const;
  std::int64_t bytes_per_request() const;
  std::int64_t state_bytes() const;  // (requests + checkpoints) * bytes_per_request()
  std::int64_t held_bytes() const;   // those, the tables beside them, and room for the hidden states of the largest call so far
  std::int64_t open_requests() const;
  std::int64_t kept_checkpoints() const;

  // A request that has seen no token: every state is zeros. Errors: as many are open as there may be.
  Result<RequestHandle> open();
  // Errors of this and all below: a slot out of range, a handle whose request was closed.
  Status close(RequestHandle request);
  // As after open, under the same handle; its checkpoints are discarded.
  Status reset(RequestHandle request);
  // Another request that has seen the same tokens; checkpoints are not taken along. Errors: those of open; a forward that failed midway.
  Result<RequestHandle> fork(RequestHandle request);

  // Keeps the state as it is now. Errors: as many are kept as there may be; a forward that failed midway.
  Result<CheckpointHandle> checkpoint(RequestHandle request);
  // The request is as it was; the checkpoint stays, later ones of the request are discarded. Errors: a checkpoint that was discarded.
  Status rollback(CheckpointHandle checkpoint);
  // Discards it and all earlier ones of its request: what came before is settled. Errors: a checkpoint that was discarded.
  Status discard(CheckpointHandle checkpoint);

  // Tokens the request has taken in, padding not counted.
  Result<std::int64_t> tokens(RequestHandle request) const;
  // Copies one part of the state: `part` counts within `layer`. Errors: no such layer or part, a span of another size.
  Status read_state(RequestHandle request, std::int64_t layer, std::int64_t part, std::span<T> to) const;

  // Errors: an axis that differs, cu_seqlens not rising from 0 to T, a request that is not open or is named twice, one whose last forward failed
  // midway, a history that would outgrow its rows, what a layer refuses. Where the first layer or what comes before it refuses, nothing is
  // written and every request is as it was. Where a later one does, out is not written, and the call's requests go on only
  // after reset or rollback.
  Status forward(const SessionCall<T>& call);

  // The requests' states under their ids, in the format of core/sessions/README.md; checkpoints are not in it. Errors: an id given twice,
  // a forward that failed midway, what the sink refuses.
  Status save(std::span<const SavedRequest> requests, SessionSink& sink) const;
  Result<std::vector<std::byte>> save(std::span<const SavedRequest> requests) const;
  // Opens each request of a saved session, all or none; or the one with the id `only`, and then the states of others are not read. Errors
  // name the offset and the reason: damage, another version, model, weights or type, more requests than there are free slots, no such id,
  // what the source refuses.
  Result<std::vector<SavedRequest>> load(const SessionSource& source, std::optional<std::int64_t> only = {});
  Result<std::vector<SavedRequest>> load(std::span<const std::byte> bytes, const std::string& name, std::optional<std::int64_t> only = {});
  // Of the requests in a saved session, in its order. Errors: those of load that do not depend on what is open; states are not read.
  Result<std::vector<std::int64_t>> saved_ids(const SessionSource& source) const;
  // Of a saved session of so many requests.
  Result<std::int64_t> saved_bytes(std::int64_t requests) const;

 private:
  struct Store;
  explicit Sessions(std::unique_ptr<Store> store);

  std::unique_ptr<Store> store_;
};

}  // namespace linearmem
