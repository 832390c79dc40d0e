#include "foundation/gates.hpp"

namespace linearmem {
namespace {

std::string place(const std::string& name, double gate, std::int64_t b, std::int64_t t, std::int64_t h) {
  return name + " is " + std::to_string(gate) + " at batch " + std::to_string(b) + ", token " + std::to_string(t) + ", head " +
         std::to_string(h);
}

Status growth(const std::string& door, const std::string& where) {
  return Status::invalid(door + ": " + where + "; a log decay is at most 0, unless allow_growth is set");
}

// Calls visit(b, t, h) until it returns false.
template <typename Visit>
void each_head(std::int64_t B, std::int64_t T, std::int64_t H, const View<const std::uint8_t, 2>& key_mask, Visit visit) {
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t t = 0; t < T; ++t) {
      if (key_mask.given() && key_mask(b, t) == 0) continue;
      for (std::int64_t h = 0; h < H; ++h)
        if (!visit(b, t, h)) return;
    }
}

}  // namespace

template <typename T>
Status check_gates(const std::string& door, const View<const T, 3>& g, const View<const T, 4>& g_key, bool allow_growth,
                   const View<const std::uint8_t, 2>& key_mask) {
  if (g.given() && g_key.given())
    return Status::invalid(door + ": g and g_key are both given; the decay is either per head or per key component");
  if (allow_growth) return {};
  Status status;
  if (g.given())
    each_head(g.extent(0), g.extent(1), g.extent(2), key_mask, [&](std::int64_t b, std::int64_t t, std::int64_t h) {
      if (g(b, t, h) > T{0}) status = growth(door, place("g", static_cast<double>(g(b, t, h)), b, t, h));
      return status.ok();
    });
  if (g_key.given())
    each_head(g_key.extent(0), g_key.extent(1), g_key.extent(2), key_mask, [&](std::int64_t b, std::int64_t t, std::int64_t h) {
      for (std::int64_t i = 0; i < g_key.extent(3); ++i)
        if (g_key(b, t, h, i) > T{0}) {
          status = growth(door, place("g_key", static_cast<double>(g_key(b, t, h, i)), b, t, h) + ", key component " + std::to_string(i));
          return false;
        }
      return true;
    });
  return status;
}

template Status check_gates<float>(const std::string&, const View<const float, 3>&, const View<const float, 4>&, bool,
                                   const View<const std::uint8_t, 2>&);
template Status check_gates<double>(const std::string&, const View<const double, 3>&, const View<const double, 4>&, bool,
                                    const View<const std::uint8_t, 2>&);

}  // namespace linearmem
