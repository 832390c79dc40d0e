// A libFuzzer entry: whatever the bytes, the loader refuses them with a reason and leaves nothing open, or opens requests that save to the
// same bytes again. The first byte chooses: checksums as they are, or made right after the fuzzer's changes, so that what lies behind them is
// reached too.
//   CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DLINEARMEM_FUZZ=ON && cmake --build build/fuzz --target linearmem_sessions_fuzz
//   mkdir -p build/sessions && build/fuzz/native/sessions/linearmem_sessions_fuzz -max_total_time=60 build/sessions
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "foundation/crc32c.hpp"
#include "linearmem/session.hpp"

namespace linearmem {
namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// Two parts, one of them empty now and then, of a few bytes: the loader looks at nothing else of a layer.
class SmallLayer final : public Layer<float> {
 public:
  std::string_view kind() const override { return "small"; }
  std::int64_t width() const override { return 1; }
  LayerStateLayout state_layout() const override { return {.layer = "small", .parts = {{"conv_state", {1, 2}}, {"recurrent_state", {3, 0}}, {"z", {1}}}}; }
  Status forward(const LayerCall<float>&) const override { return Status::unavailable("this layer has no weights"); }
};

constexpr std::size_t kHead = 56, kEach = 20 + (8 + 4) + (0 + 4) + (4 + 4);
constexpr std::size_t kParts[] = {8, 0, 4};

template <typename Value>
Value at(const std::vector<std::byte>& bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}
void put(std::vector<std::byte>& bytes, std::size_t offset, std::uint32_t value) { std::memcpy(bytes.data() + offset, &value, sizeof value); }

// Every checksum as README.md has it, over whatever lies there.
void seal(std::vector<std::byte>& bytes) {
  if (bytes.size() < kHead) return;
  const auto model = at<std::uint64_t>(bytes, 24);
  if (model <= bytes.size() - kHead) put(bytes, 48, crc32c(std::span(bytes).subspan(kHead, model)));
  put(bytes, 52, crc32c(std::span(bytes).first(52)));
  if (model > bytes.size() - kHead) return;
  for (std::size_t from = kHead + model; from + kEach <= bytes.size(); from += kEach) {
    const std::uint32_t request = crc32c(std::span(bytes).subspan(from, 16), at<std::uint32_t>(bytes, 52));
    put(bytes, from + 16, request);
    std::size_t part_at = from + 20;
    for (std::uint64_t part = 0; part < 3; part_at += kParts[part] + 4, ++part)
      put(bytes, part_at + kParts[part], crc32c(std::span(bytes).subspan(part_at, kParts[part]), crc32c_of(part, request)));
  }
}

// A session of three requests, a part of which the fuzzer's bytes replace.
std::vector<std::byte> changed(Sessions<float>& sessions, const std::uint8_t* data, std::size_t size) {
  std::vector<SavedRequest> saved;
  for (std::int64_t id = 0; id < 3; ++id) saved.push_back({id, sessions.open().value()});
  std::vector<std::byte> bytes = sessions.save(saved).value();
  for (const SavedRequest& request : saved) must(sessions.close(request.request).ok());
  if (size < 2) return bytes;
  const std::size_t first = data[0] * bytes.size() / 256, cut = std::min<std::size_t>(data[1], bytes.size() - first);
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.begin() + static_cast<std::ptrdiff_t>(first + cut));
  const auto* words = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(first), words + 2, words + size);
  return bytes;
}

void load(Sessions<float>& sessions, const std::vector<std::byte>& bytes) {
  const auto loaded = sessions.load(bytes, "fuzz");
  must(sessions.open_requests() == (loaded.ok() ? static_cast<std::int64_t>(loaded.value().size()) : 0));
  if (!loaded.ok()) return must(loaded.status().message().rfind("fuzz: ", 0) == 0);
  bool fresh = false;  // what has seen nothing comes back as zeros, whatever was in its parts
  for (const SavedRequest& request : loaded.value()) fresh = fresh || sessions.tokens(request.request).value() == 0;
  must(fresh || sessions.save(loaded.value()).value() == bytes);
  for (const SavedRequest& request : loaded.value()) must(sessions.close(request.request).ok());
}

}  // namespace
}  // namespace linearmem

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linearmem;
  static const SmallLayer layer;
  static Sessions<float> sessions = Sessions<float>::create({&layer}, {.requests = 4}).value();
  if (size < 1) return 0;
  std::vector<std::byte> bytes;
  if (data[0] & 1) {
    const auto* words = reinterpret_cast<const std::byte*>(data);
    bytes.assign(words + 1, words + size);
  } else {
    bytes = changed(sessions, data + 1, size - 1);
  }
  if (data[0] & 2) seal(bytes);
  load(sessions, bytes);
  return 0;
}
