#include "sessions/request_table.hpp"

#include <string>
#include <utility>

namespace linearmem::sessions {
namespace {

std::string in_slot(RequestHandle request) { return "sessions: the request in slot " + std::to_string(request.slot); }

std::string full(std::int64_t most, std::int64_t are, const char* what) {
  return "sessions: full: " + std::to_string(most) + " " + what + " may be, " + std::to_string(are) + " are";
}

Status check_setting(const char* name, std::int64_t value, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (value >= least && value <= kMost) return {};
  return Status::invalid("sessions: " + std::string(name) + " is " + std::to_string(value) + "; it is from " + std::to_string(least) + " to " +
                         std::to_string(kMost));
}

}  // namespace

Result<RequestTable> RequestTable::create(std::span<const LayerStateLayout> layouts, const SessionSettings& settings) {
  if (Status status = check_setting("requests", settings.requests, 1); !status.ok()) return status;
  if (Status status = check_setting("checkpoints", settings.checkpoints, 0); !status.ok()) return status;
  RequestTable table;
  auto rows = StateRows::create(layouts, settings.requests + settings.checkpoints);
  if (!rows.ok()) return rows.status();
  table.rows_ = std::move(rows).value();
  table.slots_.resize(static_cast<std::size_t>(settings.requests));
  for (std::int64_t slot = settings.requests; slot-- > 0;) table.free_slots_.push_back(slot);
  table.checkpoints_.resize(static_cast<std::size_t>(settings.checkpoints));
  for (std::int64_t at = settings.checkpoints; at-- > 0;) table.checkpoints_[static_cast<std::size_t>(at)].older = std::exchange(table.free_checkpoint_, at);
  return table;
}

std::int64_t RequestTable::held_bytes() const {
  return rows_.held_bytes() + static_cast<std::int64_t>(slots_.capacity() * sizeof(Slot) + free_slots_.capacity() * sizeof(std::int64_t) +
                                                        checkpoints_.capacity() * sizeof(Checkpoint));
}

Status RequestTable::check(RequestHandle request) const {
  if (request.slot < 0 || request.slot >= static_cast<std::int64_t>(slots_.size()))
    return Status::invalid("sessions: slot " + std::to_string(request.slot) + " is none of the " + std::to_string(slots_.size()) + " there are");
  const Slot& slot = this->slot(request);
  if (slot.open && slot.generation == request.generation) return {};
  return Status::invalid(in_slot(request) + " with generation " + std::to_string(request.generation) + " is closed" +
                         (slot.open ? "; generation " + std::to_string(slot.generation) + " is open in it" : ""));
}

Status RequestTable::check_whole(RequestHandle request) const {
  if (Status status = check(request); !status.ok()) return status;
  return slot(request).broken ? Status::invalid(in_slot(request) + " had a forward that failed midway; reset it, roll it back or close it") : Status();
}

Status RequestTable::name_once(RequestHandle request, std::uint64_t call) {
  if (std::exchange(slot(request).named_in, call) != call) return {};
  return Status::invalid(in_slot(request) + " is named twice");
}

Result<RequestHandle> RequestTable::open() {
  if (free_slots_.empty()) {
    const auto most = static_cast<std::int64_t>(slots_.size());
    return Status(StatusCode::out_of_memory, full(most, most, "requests open at once"));
  }
  RequestHandle request{.slot = free_slots_.back()};
  free_slots_.pop_back();
  Slot& slot = this->slot(request);
  slot.open = true;
  slot.next_number = 0;
  request.generation = ++slot.generation;
  return request;
}

void RequestTable::clear(Slot& slot) {
  discard_from(slot.newest);
  rows_.release(std::exchange(slot.row, kNoRow));
  slot.tokens = 0;
  slot.broken = false;
}

Status RequestTable::close(RequestHandle request) {
  if (Status status = check(request); !status.ok()) return status;
  clear(slot(request));
  slot(request).open = false;
  free_slots_.push_back(request.slot);
  return {};
}

Status RequestTable::reset(RequestHandle request) {
  if (Status status = check(request); !status.ok()) return status;
  clear(slot(request));
  return {};
}

Result<RequestHandle> RequestTable::fork(RequestHandle request) {
  if (Status status = check_whole(request); !status.ok()) return status;
  const auto twin = open();
  if (!twin.ok()) return twin.status();
  slot(twin.value()).row = rows_.share(slot(request).row);
  slot(twin.value()).tokens = slot(request).tokens;
  return twin.value();
}

Result<CheckpointHandle> RequestTable::checkpoint(RequestHandle request) {
  if (Status status = check_whole(request); !status.ok()) return status;
  const std::int64_t at = free_checkpoint_;
  if (at == kNone) return Status(StatusCode::out_of_memory, full(static_cast<std::int64_t>(checkpoints_.size()), kept_, "checkpoints kept at once"));
  Slot& slot = this->slot(request);
  Checkpoint& made = checkpoints_[static_cast<std::size_t>(at)];
  free_checkpoint_ = made.older;
  made = {.row = rows_.share(slot.row), .tokens = slot.tokens, .number = slot.next_number++, .older = std::exchange(slot.newest, at)};
  ++kept_;
  return CheckpointHandle{request, made.number};
}

std::int64_t RequestTable::find(const Slot& slot, std::int64_t number) const {
  std::int64_t at = slot.newest;
  while (at != kNone && checkpoints_[static_cast<std::size_t>(at)].number != number) at = checkpoints_[static_cast<std::size_t>(at)].older;
  return at;
}

Status RequestTable::gone(CheckpointHandle handle) const {
  const std::string what = in_slot(handle.request) + " has no checkpoint " + std::to_string(handle.number);
  const std::int64_t newest = slot(handle.request).newest;
  if (newest == kNone) return Status::invalid(what + "; none is kept");
  return Status::invalid(what + "; the newest is " + std::to_string(checkpoints_[static_cast<std::size_t>(newest)].number));
}

void RequestTable::drop(std::int64_t checkpoint) {
  Checkpoint& dropped = checkpoints_[static_cast<std::size_t>(checkpoint)];
  rows_.release(dropped.row);
  dropped.older = std::exchange(free_checkpoint_, checkpoint);
  --kept_;
}

void RequestTable::discard_from(std::int64_t& newest) {
  for (std::int64_t at = std::exchange(newest, kNone), older; at != kNone; at = older) {
    older = checkpoints_[static_cast<std::size_t>(at)].older;
    drop(at);
  }
}

Status RequestTable::rollback(CheckpointHandle handle) {
  if (Status status = check(handle.request); !status.ok()) return status;
  Slot& slot = this->slot(handle.request);
  const std::int64_t found = find(slot, handle.number);
  if (found == kNone) return gone(handle);
  while (slot.newest != found) drop(std::exchange(slot.newest, checkpoints_[static_cast<std::size_t>(slot.newest)].older));
  const Checkpoint& kept = checkpoints_[static_cast<std::size_t>(found)];
  rows_.release(slot.row);
  slot.row = rows_.share(kept.row);
  slot.tokens = kept.tokens;
  slot.broken = false;
  return {};
}

Status RequestTable::discard(CheckpointHandle handle) {
  if (Status status = check(handle.request); !status.ok()) return status;
  Slot& slot = this->slot(handle.request);
  const std::int64_t found = find(slot, handle.number);
  if (found == kNone) return gone(handle);
  std::int64_t* link = &slot.newest;
  while (*link != found) link = &checkpoints_[static_cast<std::size_t>(*link)].older;
  discard_from(*link);
  return {};
}

}  // namespace linearmem::sessions
