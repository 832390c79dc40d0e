#include "host/measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/device_backend.hpp"
#include "host/knn.hpp"
#include "host/transfer.hpp"
#include "kernels/kernels.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::cuda {
namespace {

constexpr double kTolerance = 1e-5;
constexpr std::int64_t kCopyBytes = std::int64_t{1} << 30;
constexpr std::int64_t kKeyBlock = 65536;  // keys that are drawn and sent at once
constexpr std::uint64_t kKeyStream = std::uint64_t{7} << 40;

// Numbers in [low, high), the same for the same place: cheap to draw again where a result is proved (the finalizer of SplitMix64).
float number_at(std::uint64_t place, float low, float high) {
  std::uint64_t x = (place + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return low + (high - low) * static_cast<float>((x ^ x >> 31) >> 40) * 0x1p-24f;
}

template <int N>
Tensor<float, N> drawn(const Extents<N>& extents, std::uint64_t stream, float low, float high) {
  Tensor<float, N> tensor(extents);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = number_at(stream << 40 | static_cast<std::uint64_t>(i), low, high);
  return tensor;
}

// Median of `rounds` timed calls, after one that is not counted.
Result<double> median_seconds(Device& device, int rounds, const std::function<Status()>& work) {
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {
    const auto seconds = device.seconds(work);
    if (!seconds.ok()) return seconds.status();
    if (round >= 0) times.push_back(seconds.value());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Status not_the_definition(const std::string& name, double error) {
  return Status::invalid(name + " on backend cuda: differs from the definition by " + std::to_string(error) + " of the largest value");
}

template <int N>
double difference(const View<const float, N>& got, const View<double, N>& expected) {
  double largest = 1, worst = 0;
  each_index<N>(expected.extents(), [&](const Extents<N>& at) {
    largest = std::max(largest, std::abs(expected[at]));
    const double gap = std::abs(static_cast<double>(got[at]) - expected[at]);
    if (!std::isnan(worst) && !(gap <= worst)) worst = gap;  // once NaN, always NaN
  });
  return worst / largest;
}

// The gated delta rule over B sequences of T tokens, K = V, with a state before the first token.
class DeltaCase {
 public:
  DeltaCase(Device& device, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t K)
      : device_(device), there_(device), q_(drawn<4>({B, T, H, K}, 1, -1, 1)),
        k_(drawn<4>({B, T, H, K}, 2, -1 / std::sqrt(static_cast<float>(K)), 1 / std::sqrt(static_cast<float>(K)))),
        v_(drawn<4>({B, T, H, K}, 3, -1, 1)), state_(drawn<4>({B, H, K, K}, 4, -1, 1)), o_({B, T, H, K}), final_state_({B, H, K, K}),
        beta_(drawn<3>({B, T, H}, 5, 0, 1)), g_(drawn<3>({B, T, H}, 6, -1, 0)) {
    on_device_.q = there_.up(q_.view()), on_device_.k = there_.up(k_.view()), on_device_.v = there_.up(v_.view());
    on_device_.beta = there_.up(beta_.view()), on_device_.g = there_.up(g_.view()), on_device_.state = there_.up(state_.view());
    on_device_.o = there_.out(o_.view()), on_device_.final_state = there_.out(final_state_.view());
  }

  Status launch() const { return launch_delta_rule(device_, on_device_, q_.extents()[0]); }

  // Once, and the outputs fetched.
  Status run() {
    if (there_.status().ok()) there_.keep(launch());
    return there_.down();
  }

  // Of the last head of the last sequence, against the definition.
  Result<double> error() const {
    const std::int64_t T = q_.extents()[1], K = q_.extents()[3];
    const Widened<4> q(last(q_)), k(last(k_)), v(last(v_)), state(last(state_));
    const Widened<3> beta(last(beta_)), g(last(g_));
    Tensor<double, 4> o({1, T, 1, K}), final_state({1, 1, K, K});
    const Status status = delta_rule(DeltaRuleArguments<double>{.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .g = g.view(),
                                                                .state = state.view(), .form = Form::reference, .o = o.view(),
                                                                .final_state = final_state.view()});
    if (!status.ok()) return status;
    return difference<4>(last(o_), o.view()) + difference<4>(last(final_state_), final_state.view());
  }

 private:
  // [1,T,1,K] out of [B,T,H,K], [1,1,K,V] out of [B,H,K,V], [1,T,1] out of [B,T,H].
  View<const float, 4> last(const Tensor<float, 4>& tensor) const {
    const Extents<4>& extents = tensor.extents();
    if (&tensor == &state_ || &tensor == &final_state_)
      return {&tensor(extents[0] - 1, extents[1] - 1, 0, 0), {1, 1, extents[2], extents[3]}, tensor.view().strides()};
    return {&tensor(extents[0] - 1, 0, extents[2] - 1, 0), {1, extents[1], 1, extents[3]}, tensor.view().strides()};
  }
  View<const float, 3> last(const Tensor<float, 3>& tensor) const {
    const Extents<3>& extents = tensor.extents();
    return {&tensor(extents[0] - 1, 0, extents[2] - 1), {1, extents[1], 1}, tensor.view().strides()};
  }

  Device& device_;
  Transfer there_;
  const Tensor<float, 4> q_, k_, v_, state_;
  Tensor<float, 4> o_, final_state_;
  const Tensor<float, 3> beta_, g_;
  DeltaRuleArguments<float> on_device_;
};

class Measure {
 public:
  Measure(Device& device, int rounds, const CudaSizes& sizes) : device_(device), rounds_(rounds), sizes_(sizes) {}

  Result<CudaReport> all() {
    report_.device = device_.description();
    Status status = limits();
    if (status.ok()) status = gated_delta("prefill", 1, sizes_.tokens, sizes_.heads);
    if (status.ok()) status = gated_delta("decode", sizes_.requests, 1, sizes_.decode_heads);
    if (status.ok()) status = nearest();
    if (!status.ok()) return status;
    return report_;
  }

 private:
  Status limits() {
    Transfer memory(device_);
    const std::int64_t bytes = std::min(kCopyBytes, 4 * sizes_.heads * sizes_.tokens * sizes_.width);
    auto* from = memory.room<std::byte>(bytes);
    auto* to = memory.room<std::byte>(bytes);
    const std::int64_t blocks = 8 * device_.limits().processors;
    MultiplyAddArguments chains{memory.room<float>(blocks * MultiplyAdd::kMostThreads), sizes_.tokens, 0.999f, 0.001f};
    if (!memory.status().ok()) return memory.status();
    const auto copy = median_seconds(device_, rounds_, [&] { return device_.copy(from, to, bytes); });
    if (!copy.ok()) return copy.status();
    const auto multiply = median_seconds(device_, rounds_, [&] {
      return device_.launch({kernel_number<MultiplyAdd>(), blocks, MultiplyAdd::kMostThreads, 0, &chains});
    });
    if (!multiply.ok()) return multiply.status();
    report_.bytes_per_second = 2.0 * static_cast<double>(bytes) / copy.value();
    report_.flops_per_second =
        2.0 * MultiplyAdd::kChains * MultiplyAdd::kMostThreads * static_cast<double>(blocks * chains.rounds) / multiply.value();
    return {};
  }

  Status gated_delta(const char* setting, std::int64_t B, std::int64_t T, std::int64_t H) {
    const std::int64_t K = sizes_.width;
    const std::string name = std::string("gated-delta-rule, ") + setting;
    DeltaCase subject(device_, B, T, H, K);
    if (Status status = subject.run(); !status.ok()) return status;
    const auto error = subject.error();
    if (!error.ok()) return error.status();
    if (!(error.value() <= kTolerance)) return not_the_definition(name, error.value());
    const auto seconds = median_seconds(device_, rounds_, [&] { return subject.launch(); });
    if (!seconds.ok()) return seconds.status();
    const auto tokens = static_cast<double>(B * T * H), square = static_cast<double>(K * K);
    const auto text = [](const char* axis, std::int64_t size) { return axis + std::to_string(size); };
    report_.measurements.push_back({name, text("B ", B) + text(", T ", T) + text(", H ", H) + text(", K = V = ", K) + ", f32", error.value(),
                                    seconds.value(), 7 * tokens * square,
                                    4 * (tokens * static_cast<double>(4 * K + 2) + 2 * static_cast<double>(B * H) * square),
                                    T == 1 ? report_.bytes_per_second : report_.flops_per_second, T == 1});
    return {};
  }

  // Keys [first, first + count), drawn.
  Tensor<float, 2> key_block(std::int64_t first, std::int64_t count) const {
    Tensor<float, 2> block({count, sizes_.key_width});
    const auto begin = static_cast<std::uint64_t>(first * sizes_.key_width);
    for (std::int64_t i = 0; i < block.size(); ++i) block.data()[i] = number_at(kKeyStream + begin + static_cast<std::uint64_t>(i), -1, 1);
    return block;
  }

  // One query against all keys, which go up block by block; the definition meets each block on its way.
  Status nearest() {
    const std::int64_t M = sizes_.keys, D = sizes_.key_width, k = sizes_.k;
    Transfer there(device_);
    auto* keys = there.room<float>(M * D);
    int* failed = there.room<int>(1);
    const auto query = drawn<2>({1, D}, 8, -1, 1);
    const View<const float, 2> query_there = there.up(query.view());
    if (there.status().ok()) there.keep(device_.clear(failed, sizeof(int)));
    std::vector<std::pair<double, std::int64_t>> expected;
    for (std::int64_t first = 0; first < M && there.status().ok(); first += kKeyBlock) {
      const Tensor<float, 2> block = key_block(first, std::min(kKeyBlock, M - first));
      there.keep(device_.upload(block.data(), keys + first * D, 4 * block.size()));
      there.keep(add_expected(block, query, first, expected));
    }
    if (!there.status().ok()) return there.status();
    const auto call = [&](std::vector<std::int64_t>* ids) {
      Transfer scratch(device_);
      const Nearest found = search(device_, scratch, {keys, {M, D}}, query_there, k, Metric::squared_l2, failed);
      if (scratch.status().ok() && ids) scratch.keep(device_.download(found.ids, ids->data(), 8 * k));
      return scratch.status();
    };
    std::vector<std::int64_t> ids(static_cast<std::size_t>(k));
    if (Status status = call(&ids); !status.ok()) return status;
    for (std::size_t r = 0; r < ids.size(); ++r)
      if (ids[r] != expected[r].second)
        return Status::invalid("knn on backend cuda: neighbour " + std::to_string(r) + " is " + std::to_string(ids[r]) + ", must be " +
                               std::to_string(expected[r].second));
    const auto seconds = median_seconds(device_, rounds_, [&] { return call(nullptr); });
    if (!seconds.ok()) return seconds.status();
    const auto numbers = static_cast<double>(M * D);
    report_.measurements.push_back({"knn", std::to_string(M) + " keys of " + std::to_string(D) + ", one query, k " + std::to_string(k), 0,
                                    seconds.value(), 3 * numbers, 4 * numbers, report_.bytes_per_second, true});
    return {};
  }

  // The k nearest so far, out of one block more.
  Status add_expected(const Tensor<float, 2>& block, const Tensor<float, 2>& query, std::int64_t first,
                      std::vector<std::pair<double, std::int64_t>>& nearest) const {
    const std::int64_t found = knn_columns(block.extents()[0], sizes_.k, true);
    Tensor<std::int64_t, 2> ids({1, found});
    Tensor<double, 2> distances({1, found});
    const Status status = knn_search(KnnSearchArguments<float>{.keys = block.view(), .queries = query.view(), .k = sizes_.k, .at_most_k = true,
                                                               .ids = ids.view(), .distances = distances.view()});
    for (std::int64_t r = 0; status.ok() && r < found; ++r) nearest.emplace_back(distances(0, r), first + ids(0, r));
    std::sort(nearest.begin(), nearest.end());
    nearest.resize(std::min(nearest.size(), static_cast<std::size_t>(sizes_.k)));
    return status;
  }

  Device& device_;
  int rounds_;
  const CudaSizes& sizes_;
  CudaReport report_{};
};

}  // namespace

Result<CudaReport> measure(Device& device, int rounds, const CudaSizes& sizes) { return Measure(device, rounds, sizes).all(); }

}  // namespace linearmem::cuda
