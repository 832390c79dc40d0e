#include "host/measure.hpp"

#include <algorithm>
#include <cmath>
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
double difference(const View<const float, N>& got, const View<const double, N>& expected) {
  double largest = 1, worst = 0;
  each_index<N>(expected.extents(), [&](const Extents<N>& at) {
    largest = std::max(largest, std::abs(expected[at]));
    const double gap = std::abs(static_cast<double>(got[at]) - expected[at]);
    if (!(gap <= worst)) worst = gap;
  });
  return worst / largest;
}

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

  // B sequences of T tokens, K = V; the states where they lie. Proved on the last head of the last sequence.
  Status gated_delta(const char* setting, std::int64_t B, std::int64_t T, std::int64_t H) {
    const std::int64_t K = sizes_.width, last = H - 1;
    const float longest = 1 / std::sqrt(static_cast<float>(K));
    const auto q = drawn<4>({B, T, H, K}, 1, -1, 1), k = drawn<4>({B, T, H, K}, 2, -longest, longest), v = drawn<4>({B, T, H, K}, 3, -1, 1),
               state = drawn<4>({B, H, K, K}, 4, -1, 1);
    const auto beta = drawn<3>({B, T, H}, 5, 0, 1), g = drawn<3>({B, T, H}, 6, -1, 0);
    Tensor<float, 4> o({B, T, H, K}), final_state({B, H, K, K});
    Transfer there(device_);
    DeltaRuleArguments<float> a{.q = there.up(q.view()), .k = there.up(k.view()), .v = there.up(v.view()), .beta = there.up(beta.view()),
                                .g = there.up(g.view()), .state = there.up(state.view()), .o = there.out(o.view()),
                                .final_state = there.out(final_state.view())};
    if (!there.status().ok()) return there.status();
    if (Status status = launch_delta_rule(device_, a, B); !status.ok()) return status;
    if (Status status = there.down(); !status.ok()) return status;
    const auto head = [&](const auto& tensor) { return Widened<4>(View<const float, 4>(&tensor(B - 1, 0, last, 0), {1, T, 1, K}, tensor.view().strides())); };
    const auto numbers = [&](const auto& tensor) { return Widened<3>(View<const float, 3>(&tensor(B - 1, 0, last), {1, T, 1}, tensor.view().strides())); };
    const auto q1 = head(q), k1 = head(k), v1 = head(v), o1 = head(o);
    const auto beta1 = numbers(beta), g1 = numbers(g);
    const Widened<4> state1(View<const float, 4>(&state(B - 1, last, 0, 0), {1, 1, K, K}));
    Tensor<double, 4> expected({1, T, 1, K}), expected_state({1, 1, K, K});
    const Status proof = delta_rule(DeltaRuleArguments<double>{.q = q1.view(), .k = k1.view(), .v = v1.view(), .beta = beta1.view(), .g = g1.view(),
                                                               .state = state1.view(), .form = Form::reference, .o = expected.view(),
                                                               .final_state = expected_state.view()});
    if (!proof.ok()) return proof;
    const Tensor<double, 4>& wanted = expected;
    const Tensor<double, 4>& wanted_state = expected_state;
    const View<const float, 4> got(&o(B - 1, 0, last, 0), {1, T, 1, K}, o.view().strides()), got_state(&final_state(B - 1, last, 0, 0), {1, 1, K, K});
    const double error = std::max(difference<4>(got, wanted.view()), difference<4>(got_state, wanted_state.view()));
    const std::string name = std::string("gated-delta-rule, ") + setting;
    if (!(error <= kTolerance)) return not_the_definition(name, error);
    const auto seconds = median_seconds(device_, rounds_, [&] { return launch_delta_rule(device_, a, B); });
    if (!seconds.ok()) return seconds.status();
    const auto tokens = static_cast<double>(B * T * H), square = static_cast<double>(K * K);
    report_.measurements.push_back({name, "B " + std::to_string(B) + ", T " + std::to_string(T) + ", H " + std::to_string(H) + ", K = V = " + std::to_string(K) + ", f32",
                                    error, seconds.value(), 7 * tokens * square,
                                    4 * (tokens * static_cast<double>(4 * K + 2) + 2 * static_cast<double>(B * H) * square),
                                    T == 1 ? report_.bytes_per_second : report_.flops_per_second, T == 1});
    return {};
  }

  // Keys [first, first + count), drawn.
  Tensor<float, 2> key_block(std::int64_t first, std::int64_t count) const {
    Tensor<float, 2> block({count, sizes_.key_width});
    const auto begin = static_cast<std::uint64_t>(first * sizes_.key_width);
    for (std::int64_t i = 0; i < block.size(); ++i) block.data()[i] = number_at((std::uint64_t{7} << 40) + begin + static_cast<std::uint64_t>(i), -1, 1);
    return block;
  }

  // One query against all keys, which go up block by block; the definition draws them again.
  Status nearest() {
    const std::int64_t M = sizes_.keys, D = sizes_.key_width, k = sizes_.k;
    Transfer there(device_);
    auto* keys = there.room<float>(M * D);
    int* failed = there.room<int>(1);
    const auto query = drawn<2>({1, D}, 8, -1, 1);
    const View<const float, 2> query_there = there.up(query.view());
    if (!there.status().ok()) return there.status();
    there.keep(device_.clear(failed, sizeof(int)));
    std::vector<std::pair<double, std::int64_t>> expected;
    for (std::int64_t first = 0; first < M; first += kKeyBlock) {
      const Tensor<float, 2> block = key_block(first, std::min(kKeyBlock, M - first));
      there.keep(device_.upload(block.data(), keys + first * D, 4 * block.size()));
      if (Status status = add_expected(block, query, first, expected); !status.ok()) return status;
    }
    const auto call = [&](std::vector<std::int64_t>* ids) {
      Transfer scratch(device_);
      const Nearest found = search(device_, scratch, {keys, {M, D}}, query_there, k, Metric::squared_l2, failed);
      if (scratch.status().ok() && ids) scratch.keep(device_.download(found.ids, ids->data(), 8 * k));
      return scratch.status();
    };
    std::vector<std::int64_t> ids(static_cast<std::size_t>(k));
    if (there.status().ok()) there.keep(call(&ids));
    if (!there.status().ok()) return there.status();
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
