// The one style of answer and of error: a door returns Status, never throws, prints or exits.
// A message names the door, the argument, the axis and both numbers: "delta_rule: K differs: q has 64, k has 33".
//
// What holds at every door, beside what its own header says:
//   An output shares no memory with an input or with another output unless its comment allows it.
//   An axis below 0, and a view whose data is null though it has elements, are refused.
//   cu_seqlens never falls; two equal entries are an empty sequence, whose last state is its first.
//   A form that the mechanism lacks, a chunk below 0 and a chunk beside any form but chunked are refused.
//   A backend computes in float32; with float64 arguments the door answers unavailable.
//   Working space comes from the heap. Where that has none left, std::bad_alloc is thrown: the one exception, and outputs are then undefined.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace linearmem {

enum class StatusCode {
  ok,
  invalid_argument,  // the caller's input; the message says what to change
  unavailable,       // not built or not present here; the message says why
  out_of_memory,     // refused before allocating, or no place left where places are fixed; the message has the count
  cancelled,         // the caller asked to stop
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status invalid(std::string message) { return {StatusCode::invalid_argument, std::move(message)}; }
  static Status unavailable(std::string message) { return {StatusCode::unavailable, std::move(message)}; }

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

// A value, or the reason there is none. Ask ok() before value().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status failure) : status_(std::move(failure)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  const T& value() const& { return *value_; }
  T& value() & { return *value_; }
  T&& value() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace linearmem
