// The stability audit: runs the definition token by token and looks at each step's write, gates and state.
#include <algorithm>
#include <cmath>
#include <limits>

#include "delta_rule/arguments.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr double kRoundingSlack = 1e-12;  // relative; far above the error of a norm, far below any growth worth a word

double norm(const double* values, std::int64_t count) {
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) squares += values[i] * values[i];
  return std::sqrt(squares);
}

class Audit {
 public:
  Audit(const DeltaRuleArguments<double>& a, std::int64_t limit)
      : a_(a), limit_(limit), K_(a.q.extent(3)), V_(a.v.extent(3)), key_(static_cast<std::size_t>(K_)), row_(static_cast<std::size_t>(V_)) {
  }

  void head(const TokenRange& range, std::int64_t n, std::int64_t h) {
    Tensor<double, 2> S({K_, V_});
    if (a_.state.given()) convert(head_state(a_.state, n, h), S.view());
    for (std::int64_t t = range.begin; t < range.end; ++t) {
      const double before = norm(S.data(), S.size());
      delta::Head<double> one = delta::head_of(a_, TokenRange{range.row, t, t + 1}, h, Range{0, V_}, S.view());
      one.o = View<double, 2>(row_.data(), {1, V_});
      delta::reference(one);
      look(one, {range.row, t, h, 0}, before, norm(S.data(), S.size()));
    }
  }

  StabilityReport report() && { return std::move(report_); }

 private:
  void look(const delta::Head<double>& one, StabilityFinding at, double before, double after) {
    delta::prepare_row(one.k, 0, one.l2norm, 1.0, key_.data());
    const double length = norm(key_.data(), K_), beta = one.beta(0), strength = beta * length * length;
    if (strength > 2 || strength < 0) add(report_.unstable_writes, at, strength);
    double gate = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; one.gates.given() && i < one.gates.extent(1); ++i) gate = std::max(gate, one.gates(0, i));
    if (gate > 0) add(report_.growing_gates, at, gate);
    for (std::int64_t j = 0; j < V_; ++j) row_[static_cast<std::size_t>(j)] = one.v(0, j);
    const double brought = std::abs(beta) * length * norm(row_.data(), V_);
    if (after > (before + brought) * (1 + kRoundingSlack)) add(report_.growing_states, at, after);
  }

  void add(StabilityFindings& findings, StabilityFinding at, double number) const {
    at.number = number;
    if (findings.total++ < limit_) findings.listed.push_back(at);
  }

  const DeltaRuleArguments<double>& a_;
  std::int64_t limit_, K_, V_;
  std::vector<double> key_, row_;
  StabilityReport report_;
};

StabilityReport audit_all(const DeltaRuleArguments<double>& a, std::int64_t N, std::int64_t limit) {
  Audit audit(a, limit);
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t h = 0; h < a.v.extent(2); ++h) audit.head(sequence_range(a.cu_seqlens, a.q.extent(1), n), n, h);
  return std::move(audit).report();
}

template <typename T>
Status check(const DeltaRuleArguments<T>& a, ShapeCheck& shapes, std::int64_t limit) {
  delta::check_inputs(a, shapes);
  shapes.require(limit >= 0, [&] { return "limit is " + std::to_string(limit) + ", must be at least 0"; });
  return shapes.status().ok() ? check_gates(delta::door_name(a), a.g, a.g_key, true) : shapes.status();
}

}  // namespace

Result<StabilityReport> audit_delta_rule(const DeltaRuleArguments<double>& arguments, std::int64_t limit) {
  ShapeCheck shapes(delta::door_name(arguments));
  if (Status status = check(arguments, shapes, limit); !status.ok()) return status;
  DeltaRuleArguments<double> inputs = arguments;
  inputs.o = inputs.reads = {};
  return audit_all(inputs, shapes.size("N"), limit);
}

Result<StabilityReport> audit_delta_rule(const DeltaRuleArguments<float>& arguments, std::int64_t limit) {
  ShapeCheck shapes(delta::door_name(arguments));
  if (Status status = check(arguments, shapes, limit); !status.ok()) return status;
  return audit_all(delta::WidenedInputs(arguments).arguments(), shapes.size("N"), limit);
}

}  // namespace linearmem
