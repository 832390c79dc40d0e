// The one style of answer and of error: a door returns Status, never throws, prints or exits.
// A message names the door, the argument, the axis and both numbers: "delta_rule: K differs: q has 64, k has 33".
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace linearmem {

enum class StatusCode {
  ok,
  invalid_argument,  // the caller's input; the message says what to change
  unavailable,       // not built or not present here; the message says why
  out_of_memory,     // refused before allocating; the message has the byte count
  cancelled,
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
