#include "foundation/gates.hpp"

#include "foundation/number_text.hpp"

namespace linearmem {
namespace {

// The first of `count` values, `step` apart, that is above 0; or count. Most rows have none, which is seen without a branch per value.
template <typename T>
std::int64_t first_above_zero(const T* values, std::int64_t count, std::int64_t step) {
  bool above = false;
  if (step == 1)
    for (std::int64_t i = 0; i < count; ++i) above |= values[i] > T{0};
  else
    for (std::int64_t i = 0; i < count; ++i) above |= values[i * step] > T{0};
  if (!above) return count;
  std::int64_t first = 0;
  while (!(values[first * step] > T{0})) ++first;
  return first;
}

Status growth(const char* door, const char* name, double gate, const std::string& place) {
  return Status::invalid(std::string(door) + ": " + name + " is " + number_text(gate) + " at " + place +
                         "; a log decay is at most 0, unless allow_growth is set");
}

std::string place(std::int64_t b, std::int64_t t, std::int64_t h) {
  return "batch " + std::to_string(b) + ", token " + std::to_string(t) + ", head " + std::to_string(h);
}

// Calls visit(b, t) for tokens that are not masked, until it returns a refusal.
template <typename Visit>
Status each_token(std::int64_t B, std::int64_t T, const View<const std::uint8_t, 2>& key_mask, Visit visit) {
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t t = 0; t < T; ++t) {
      if (key_mask.given() && key_mask(b, t) == 0) continue;
      if (Status status = visit(b, t); !status.ok()) return status;
    }
  return {};
}

template <typename T>
Status check_heads(const char* door, const View<const T, 3>& g, const View<const std::uint8_t, 2>& key_mask) {
  const std::int64_t H = g.extent(2);
  return each_token(g.extent(0), g.extent(1), key_mask, [&](std::int64_t b, std::int64_t t) -> Status {
    const std::int64_t h = first_above_zero(g.data() + b * g.stride(0) + t * g.stride(1), H, g.stride(2));
    if (h == H) return {};
    return growth(door, "g", static_cast<double>(g(b, t, h)), place(b, t, h));
  });
}

template <typename T>
Status check_keys(const char* door, const View<const T, 4>& g_key, const View<const std::uint8_t, 2>& key_mask) {
  const std::int64_t K = g_key.extent(3);
  return each_token(g_key.extent(0), g_key.extent(1), key_mask, [&](std::int64_t b, std::int64_t t) -> Status {
    for (std::int64_t h = 0; h < g_key.extent(2); ++h) {
      const T* row = g_key.data() + b * g_key.stride(0) + t * g_key.stride(1) + h * g_key.stride(2);
      const std::int64_t i = first_above_zero(row, K, g_key.stride(3));
      if (i < K) return growth(door, "g_key", static_cast<double>(g_key(b, t, h, i)), place(b, t, h) + ", key component " + std::to_string(i));
    }
    return {};
  });
}

}  // namespace

template <typename T>
Status check_gates(const char* door, const View<const T, 3>& g, const View<const T, 4>& g_key, bool allow_growth,
                   const View<const std::uint8_t, 2>& key_mask) {
  if (g.given() && g_key.given())
    return Status::invalid(std::string(door) + ": g and g_key are both given; the decay is either per head or per key component");
  if (allow_growth) return {};
  if (g.given()) return check_heads(door, g, key_mask);
  return g_key.given() ? check_keys(door, g_key, key_mask) : Status();
}

template Status check_gates<float>(const char*, const View<const float, 3>&, const View<const float, 4>&, bool,
                                   const View<const std::uint8_t, 2>&);
template Status check_gates<double>(const char*, const View<const double, 3>&, const View<const double, 4>&, bool,
                                    const View<const std::uint8_t, 2>&);

}  // namespace linearmem
