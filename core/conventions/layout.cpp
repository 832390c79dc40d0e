#include "conventions/layout.hpp"

#include <cstring>

#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

// Where the elements of ours stand among theirs: the place is the sum of one offset per axis of ours.
using Places = std::vector<std::vector<std::int64_t>>;

std::map<std::string, std::int64_t> strides_of(const ConventionTensor& entry, const Sizes& sizes) {
  std::map<std::string, std::int64_t> strides;
  std::int64_t step = 1;
  const std::vector<AxisLetters> axes = parse_axes(entry.axes);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    for (auto letter = axis->rbegin(); letter != axis->rend(); ++letter) {
      strides[*letter] = step;
      step *= sizes.at(*letter);
    }
  return strides;
}

Status check_known(const ConventionTensor& entry, const Sizes& sizes, const TiledHeads& tiled) {
  std::vector<std::string> letters;
  for (const AxisLetters& axis : parse_axes(entry.axes)) letters.insert(letters.end(), axis.begin(), axis.end());
  for (const OurAxis& axis : parse_our_axes(entry.our_axes)) {
    if (!axis.size().empty()) letters.push_back(axis.size());
    if (tiled.values && axis.base == tiled.values) letters.push_back(tiled.keys);
  }
  for (const std::string& letter : letters)
    if (!sizes.find(letter))
      return Status::invalid(sizes.door() + ": " + letter + " cannot be told from the tensors given; " + entry.name + " needs it");
  return {};
}

Result<Places> places_of(const ConventionTensor& entry, const Sizes& sizes, const TiledHeads& tiled) {
  if (Status status = check_known(entry, sizes, tiled); !status.ok()) return status;
  const std::map<std::string, std::int64_t> strides = strides_of(entry, sizes);
  Places places;
  for (const OurAxis& axis : parse_our_axes(entry.our_axes)) {
    const std::int64_t count = sizes.at(axis.size()), base = sizes.at(axis.base);
    const std::int64_t stride = axis.base.empty() ? 0 : strides.at(axis.base);
    std::int64_t heads = 1, tiles = 1, copies = 1;  // heads x tiles = base where they are tiled
    if (!axis.repeated.empty()) {
      if (Status status = sizes.check_multiple(axis.repeated, axis.base); !status.ok()) return status;
      copies = count / base;
    }
    if (tiled.values && axis.base == tiled.values) {
      if (Status status = sizes.check_multiple(tiled.values, tiled.keys); !status.ok()) return status;
      heads = sizes.at(tiled.keys);
      tiles = base / heads;
    }
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = i / copies;
      offsets.push_back(stride * (heads == 1 ? from : from % tiles * heads + from / tiles));
    }
    places.push_back(std::move(offsets));
  }
  return places;
}

// Calls visit(place among theirs) for the elements of ours in order.
template <typename Visit>
void each_place(const Places& places, std::size_t axis, std::int64_t place, const Visit& visit) {
  if (axis == places.size()) return visit(place);
  for (std::int64_t offset : places[axis]) each_place(places, axis + 1, place + offset, visit);
}

// Whether both sides have the same numbers in the same order.
bool only_reshaped(const ConventionTensor& entry, const TiledHeads& tiled) {
  std::vector<std::string> theirs, ours;
  for (const AxisLetters& axis : parse_axes(entry.axes)) theirs.insert(theirs.end(), axis.begin(), axis.end());
  for (const OurAxis& axis : parse_our_axes(entry.our_axes)) {
    if (!axis.repeated.empty() || (tiled.values && axis.base == tiled.values)) return false;
    if (!axis.base.empty()) ours.push_back(axis.base);
  }
  return theirs == ours;
}

Result<NamedTensor> empty_tensor(const std::string& who, DType dtype, std::vector<std::int64_t> shape) {
  const auto bytes = checked_bytes(who, shape.data(), static_cast<int>(shape.size()), dtype_bytes(dtype));
  if (!bytes.ok()) return bytes.status();
  return NamedTensor{.dtype = dtype, .shape = std::move(shape), .bytes = std::vector<std::byte>(static_cast<std::size_t>(bytes.value()))};
}

}  // namespace

Result<NamedTensor> moved_to_ours(const ConventionTensor& entry, const NamedTensor& theirs, const Sizes& sizes, const TiledHeads& tiled) {
  const auto places = places_of(entry, sizes, tiled);
  if (!places.ok()) return places.status();
  std::vector<std::int64_t> shape;
  for (const OurAxis& axis : parse_our_axes(entry.our_axes)) shape.push_back(sizes.at(axis.size()));
  auto ours = empty_tensor(sizes.door() + ": " + entry.name, theirs.dtype, std::move(shape));
  if (!ours.ok()) return ours;
  if (only_reshaped(entry, tiled)) {
    ours.value().bytes = theirs.bytes;
    return ours;
  }
  const auto width = static_cast<std::size_t>(dtype_bytes(theirs.dtype));
  std::byte* to = ours.value().bytes.data();
  each_place(places.value(), 0, 0, [&](std::int64_t place) {
    std::memcpy(to, theirs.bytes.data() + static_cast<std::size_t>(place) * width, width);
    to += width;
  });
  return ours;
}

Result<NamedTensor> moved_to_theirs(const ConventionTensor& entry, const NamedTensor& ours, const Sizes& sizes, const TiledHeads& tiled) {
  const auto places = places_of(entry, sizes, tiled);
  if (!places.ok()) return places.status();
  std::vector<std::int64_t> shape;
  for (const AxisLetters& axis : parse_axes(entry.axes)) {
    shape.push_back(1);
    for (const std::string& letter : axis) shape.back() *= sizes.at(letter);
  }
  auto theirs = empty_tensor(sizes.door() + ": " + entry.name, ours.dtype, std::move(shape));
  if (!theirs.ok()) return theirs;
  if (only_reshaped(entry, tiled)) {
    theirs.value().bytes = ours.bytes;
    return theirs;
  }
  const auto width = static_cast<std::size_t>(dtype_bytes(ours.dtype));
  std::vector<bool> written(static_cast<std::size_t>(theirs.value().size()));
  const std::byte* from = ours.bytes.data();
  bool differs = false;
  each_place(places.value(), 0, 0, [&](std::int64_t place) {
    std::byte* to = theirs.value().bytes.data() + static_cast<std::size_t>(place) * width;
    if (!written[static_cast<std::size_t>(place)]) std::memcpy(to, from, width);
    else differs |= std::memcmp(to, from, width) != 0;
    written[static_cast<std::size_t>(place)] = true;
    from += width;
  });
  if (differs)
    return Status::invalid(sizes.door() + ": " + entry.ours + " differs between heads that share one " + entry.name + " there");
  return theirs;
}

}  // namespace linearmem
