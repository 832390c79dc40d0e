// Who holds which row: open requests in slots, and their checkpoints. Nothing here is allocated after it was made.
#pragma once

#include <cstdint>
#include <vector>

#include "linearmem/session.hpp"
#include "sessions/state_rows.hpp"

namespace linearmem::sessions {

inline constexpr std::int64_t kNone = -1;

struct Slot {
  std::int64_t generation = 0;  // of the request that is open in it, or was last; 0: none yet
  bool open = false;
  bool broken = false;  // a forward failed midway: some layers have gone on, others not
  std::int64_t row = kNoRow;
  std::int64_t tokens = 0;
  std::int64_t newest = kNone;     // its checkpoints: the newest, which knows the one before
  std::int64_t next_number = 0;
  std::uint64_t named_in = 0;      // the last call that named it
};

struct Checkpoint {
  std::int64_t row = kNoRow, tokens = 0, number = 0;
  std::int64_t older = kNone;  // of the same request, or in the list of those not in use
};

class RequestTable {
 public:
  static Result<RequestTable> create(std::span<const LayerStateLayout> layouts, const SessionSettings& settings);

  StateRows& rows() { return rows_; }
  const StateRows& rows() const { return rows_; }
  std::int64_t held_bytes() const;
  std::int64_t open_requests() const { return static_cast<std::int64_t>(slots_.size() - free_slots_.size()); }
  std::int64_t free_requests() const { return static_cast<std::int64_t>(free_slots_.size()); }
  std::int64_t kept_checkpoints() const { return kept_; }

  Status check(RequestHandle request) const;        // in range and open
  Status check_whole(RequestHandle request) const;  // and not broken
  Slot& slot(RequestHandle request) { return slots_[static_cast<std::size_t>(request.slot)]; }
  const Slot& slot(RequestHandle request) const { return slots_[static_cast<std::size_t>(request.slot)]; }
  // Ok once for each request and call.
  Status name_once(RequestHandle request, std::uint64_t call);

  Result<RequestHandle> open();
  Status close(RequestHandle request);
  Status reset(RequestHandle request);
  Result<RequestHandle> fork(RequestHandle request);
  Result<CheckpointHandle> checkpoint(RequestHandle request);
  Status rollback(CheckpointHandle handle);
  Status discard(CheckpointHandle handle);

 private:
  void clear(Slot& slot);
  std::int64_t find(const Slot& slot, std::int64_t number) const;  // kNone where it is not kept
  Status gone(CheckpointHandle handle) const;
  void discard_from(std::int64_t& newest);  // that checkpoint and all older ones
  void drop(std::int64_t checkpoint);

  StateRows rows_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> free_slots_;
  std::vector<Checkpoint> checkpoints_;
  std::int64_t free_checkpoint_ = kNone;
  std::int64_t kept_ = 0;
};

}  // namespace linearmem::sessions
