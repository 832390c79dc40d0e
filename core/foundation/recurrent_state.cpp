#include "linearmem/recurrent_state.hpp"

#include "foundation/sequences.hpp"
#include "foundation/state_check.hpp"

namespace linearmem {
namespace {

struct StateTypeName {
  StateType type;
  std::string_view name;
};

constexpr StateTypeName kStateTypeNames[] = {
    {StateType::float64, "f64"}, {StateType::float32, "f32"}, {StateType::bfloat16, "bf16"}, {StateType::float16, "f16"}};

}  // namespace

std::string_view state_type_name(StateType type) {
  for (const StateTypeName& entry : kStateTypeNames)
    if (entry.type == type) return entry.name;
  return "unknown";
}

std::optional<StateType> state_type_named(std::string_view name) {
  for (const StateTypeName& entry : kStateTypeNames)
    if (entry.name == name) return entry.type;
  return std::nullopt;
}

std::int64_t checkpoint_count(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t B, std::int64_t T, std::int64_t every) {
  if (every < 1) return 0;
  if (!cu_seqlens.given()) return B * (T / every);
  std::int64_t count = 0;
  for (std::int64_t n = 0; n + 1 < cu_seqlens.extent(0); ++n) {
    const TokenRange range = sequence_range(cu_seqlens, T, n);
    if (range.begin >= 0 && range.begin < range.end && range.end <= T) count += (range.end - range.begin) / every;
  }
  return count;
}

Status check_state_type(const char* door, const std::optional<StateType>& type, Form form, bool computes_in_float64) {
  if (!type) return {};
  const std::string start = std::string(door) + ": state_type is " + std::string(state_type_name(*type));
  if (form == Form::chunked || form == Form::explicit_)
    return Status::invalid(start + ", but form " + std::string(form_name(form)) +
                           " has no state after each token; reference and recurrent have");
  if (*type == StateType::float64 && !computes_in_float64) return Status::invalid(start + ", wider than f32, in which this call computes");
  return {};
}

void check_checkpoints(ShapeCheck& shapes, const View<const std::int64_t, 1>& cu_seqlens, std::int64_t every, bool given) {
  const auto is = [every] { return "checkpoint_every is " + std::to_string(every); };
  shapes.require(every >= 0, [&] { return is() + ", must be at least 1 token, or 0 for none"; });
  shapes.require(given || every == 0, [&] { return is() + ", but there are no checkpoints to write to"; });
  shapes.require(!given || every > 0, [&] { return "checkpoints are given, but " + is(); });
  if (shapes.status().ok() && given)
    shapes.define("M", "checkpoint_every", checkpoint_count(cu_seqlens, shapes.size("B"), shapes.size("T"), every));
}

std::int64_t first_checkpoint(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t tokens, std::int64_t every, std::int64_t n) {
  std::int64_t row = 0;
  for (std::int64_t before = 0; every > 0 && before < n; ++before) row += sequence_tokens(cu_seqlens, tokens, before) / every;
  return row;
}

}  // namespace linearmem
