// How far a state drifts that is kept in a narrow format: streamed, so that length costs time and not memory.
#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/lists.hpp"
#include "experiments/sampled.hpp"
#include "foundation/unit_rows.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/random.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kFirstLength = 16, kBlock = 1024;
constexpr std::array<StateType, 4> kTypes = {StateType::float64, StateType::float32, StateType::float16,
                                             StateType::bfloat16};           // the first is what the others are compared with
constexpr const char* kMemories[] = {"relu", "squared_relu", "cubed_relu"};  // looks that no memory here has: float32, float16, bfloat16
constexpr const char* kLabels[] = {"float32", "float16", "bfloat16"};

struct Variant {
  const char* panel;
  bool delta, decay, l2norm;
};
constexpr Variant kVariants[] = {
    {"sum", false, false, true}, {"sum-decay", false, true, true}, {"delta-norm", true, false, true}, {"delta-raw", true, false, false}};

// One memory in every format at once, on the same tokens, block by block.
class DriftRun final : public PartRun {
 public:
  DriftRun(const Variant& variant, const Settings& settings)
      : variant_(variant),
        K_(whole(settings, "width")),
        tokens_(whole(settings, "tokens")),
        gate_(variant.decay ? std::log(settings.at("alpha")) : 0),
        generator_(static_cast<std::uint64_t>(settings.at("seed"))) {
    for (std::vector<double>& state : states_) state.assign(static_cast<std::size_t>(K_ * K_), 0);
  }

  Status step() override {
    const std::int64_t length = std::min({kBlock, next_ - done_, tokens_ - done_});
    draw(length);
    for (std::size_t type = 0; type < kTypes.size(); ++type)
      if (Status status = variant_.delta ? delta(type, length) : sum(type, length); !status.ok()) return status;
    done_ += length;
    if (done_ == next_ || done_ == tokens_) {
      for (std::size_t type = 1; type < kTypes.size(); ++type) values_.push_back(error(type));
      next_ *= 2;
    }
    return {};
  }
  double progress() const override { return static_cast<double>(done_) / static_cast<double>(tokens_); }
  std::vector<double> values() const override { return values_; }

 private:
  // Queries and keys of length 1, or of about 1 where they are to stay as they are.
  void draw(std::int64_t length) {
    const auto count = static_cast<std::size_t>(length * K_);
    for (std::vector<double>* rows : {&q_, &k_, &v_}) {
      rows->resize(count);
      generator_.fill_normal(*rows);
    }
    for (std::vector<double>* rows : {&q_, &k_})
      for (std::int64_t t = 0; t < length; ++t) {
        double* row = rows->data() + t * K_;
        const double by = variant_.l2norm ? length_of(row, K_) : std::sqrt(static_cast<double>(K_));
        for (std::int64_t c = 0; c < K_; ++c) row[c] /= by;
      }
    g_.assign(static_cast<std::size_t>(length), gate_);
    beta_.assign(static_cast<std::size_t>(length), 1);
  }

  View<const double, 4> rows(const std::vector<double>& values, std::int64_t length) const { return {values.data(), {1, length, 1, K_}}; }
  View<double, 4> out(std::size_t type, std::int64_t length) {
    o_[type].resize(static_cast<std::size_t>(length * K_));
    return {o_[type].data(), {1, length, 1, K_}};
  }
  View<double, 4> state(std::size_t type) { return {states_[type].data(), {1, 1, K_, K_}}; }

  Status sum(std::size_t type, std::int64_t length) {
    LinearAttentionArguments<double> a{.q = rows(q_, length),
                                       .k = rows(k_, length),
                                       .v = rows(v_, length),
                                       .state = state(type),
                                       .feature = Feature::identity,
                                       .normalize = false,
                                       .form = Form::recurrent,
                                       .state_type = kTypes[type],
                                       .o = out(type, length),
                                       .final_state = state(type)};
    if (variant_.decay) a.g = {g_.data(), {1, length, 1}};
    return linear_attention(a);
  }
  Status delta(std::size_t type, std::int64_t length) {
    return delta_rule(DeltaRuleArguments<double>{.q = rows(q_, length),
                                                 .k = rows(k_, length),
                                                 .v = rows(v_, length),
                                                 .beta = {beta_.data(), {1, length, 1}},
                                                 .state = state(type),
                                                 .scale = 1.0,
                                                 .form = Form::recurrent,
                                                 .state_type = kTypes[type],
                                                 .o = out(type, length),
                                                 .final_state = state(type)});
  }

  // |o - o in float64| / |o in float64| over the last block.
  double error(std::size_t type) const {
    double off = 0, size = 0;
    for (std::size_t i = 0; i < o_[0].size(); ++i) {
      off += (o_[type][i] - o_[0][i]) * (o_[type][i] - o_[0][i]);
      size += o_[0][i] * o_[0][i];
    }
    return std::sqrt(off / size);
  }

  const Variant variant_;
  const std::int64_t K_, tokens_;
  const double gate_;
  Generator generator_;
  std::int64_t done_ = 0, next_ = kFirstLength;
  std::array<std::vector<double>, 4> states_, o_;
  std::vector<double> q_, k_, v_, g_, beta_, values_;
};

class DriftParts final : public FigureParts {
 public:
  explicit DriftParts(const Settings& settings) : settings_(settings) {}
  std::int64_t count() const override { return sizeof kVariants / sizeof *kVariants; }
  double work(std::int64_t part) const override {
    const double width = settings_.at("width");
    return settings_.at("tokens") * (60 * width + (kVariants[part].delta ? 16 : 12) * width * width);
  }
  Result<std::unique_ptr<PartRun>> start(std::int64_t part) const override {
    return std::unique_ptr<PartRun>(std::make_unique<DriftRun>(kVariants[part], settings_));
  }
  Figure draw(const std::vector<std::vector<double>>& values) const override {
    Figure figure;
    for (std::size_t part = 0; part < values.size(); ++part) {
      Panel panel{kVariants[part].panel, {"tokens", "tokens", true}, {"error relative to a float64 state", "", true}, {}};
      for (std::size_t type = 0; type < 3; ++type) {
        panel.series.push_back({kMemories[type], kLabels[type], {}, {}});
        std::int64_t length = kFirstLength;
        for (std::size_t i = type; i < values[part].size(); i += 3, length *= 2) {
          panel.series.back().x.push_back(std::min(static_cast<double>(length), settings_.at("tokens")));
          panel.series.back().y.push_back(values[part][i]);
        }
      }
      figure.panels.push_back(std::move(panel));
    }
    return figure;
  }

 private:
  Settings settings_;
};

}  // namespace

Experiment state_precision_experiment() {
  return {"state-precision",
          "How far does a state drift in a narrow format?",
          "Only the state is rounded, after every write; the arithmetic is float64 and so is what the others are compared with. Random "
          "tokens, one head.",
          {{"tokens", "tokens T", 16384, 64, 1048576, 1},
           {"width", "key and value width K", 8, 2, 64, 1},
           {"alpha", "what the decay keeps from one token to the next", 0.99, 0.01, 1, 0},
           {"seed", "seed of the tokens", 1, 0, 4294967295.0, 1}},
          nullptr,
          [](const Settings& settings) {
            return Result<std::unique_ptr<FigureParts>>(std::unique_ptr<FigureParts>(std::make_unique<DriftParts>(settings)));
          },
          {{"large", {{"tokens", 1048576}}}}};
}

}  // namespace linearmem
