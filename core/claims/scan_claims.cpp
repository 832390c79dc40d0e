// RM01, RM02, RM04, RM05, RM15: scans in all their forms, and the memory of segments.
#include <algorithm>
#include <cmath>
#include <limits>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "claims/memories.hpp"
#include "linearmem/segment_memory.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kTokens = 13, kChannels = 3;

View<const double, 3> one_row(const Matrix& m) { return {m.data(), {1, m.extents()[0], m.extents()[1]}}; }

// x, a, b, c (13,3) from default_rng(41), the decays folded into (0, 1) by a / (1 + a^2) + 1/2.
struct ScanInputs {
  Matrix x, a, b, c;
};

ScanInputs scan_inputs() {
  RandomMatrices random(41);
  ScanInputs in{random.next(kTokens, kChannels), random.next(kTokens, kChannels), random.next(kTokens, kChannels), random.next(kTokens, kChannels)};
  for (double& a : in.a.values()) a = a / (1 + a * a) + 0.5;
  return in;
}

struct ScanOutput {
  Matrix y, state;
};

ScanOutput scan(const ScanInputs& in, Form form, std::int64_t chunk = 0) {
  ScanOutput out{missing(kTokens, kChannels), missing(1, kChannels)};
  const Status status = selective_scan(SelectiveScanArguments<double>{.x = one_row(in.x), .a = one_row(in.a), .b = one_row(in.b), .c = one_row(in.c),
                                                                      .form = form, .chunk = chunk, .y = {out.y.data(), {1, kTokens, kChannels}},
                                                                      .final_state = out.state.view()});
  return status.ok() ? out : ScanOutput{missing(kTokens, kChannels), missing(1, kChannels)};
}

// y = M x, channel by channel, with M_ji = c_j b_i a_{i+1} ... a_j.
Matrix matrix_times(const ScanInputs& in) {
  Matrix y({kTokens, kChannels});
  for (std::int64_t d = 0; d < kChannels; ++d)
    for (std::int64_t j = 0; j < kTokens; ++j)
      for (std::int64_t i = 0; i <= j; ++i) {
        double decay = 1;
        for (std::int64_t k = i + 1; k <= j; ++k) decay *= in.a(k, d);
        y(j, d) += in.c(j, d) * in.b(i, d) * decay * in.x(i, d);
      }
  return y;
}

std::vector<Check> explicit_matrix(const Mistakes&) {
  const ScanInputs in = scan_inputs();
  const Matrix y = matrix_times(in);
  std::vector<Check> checks;
  for (Form form : {Form::recurrent, Form::explicit_, Form::parallel_scan})
    checks.push_back(residual_check("max |" + std::string(form_name(form)) + " - M x|", largest_difference(scan(in, form).y, y), 1e-12));
  return checks;
}

std::vector<Check> every_chunk(const Mistakes&) {
  const ScanInputs in = scan_inputs();
  const ScanOutput whole = scan(in, Form::recurrent);
  double outputs = 0, states = 0;
  for (std::int64_t chunk = 1; chunk <= kTokens + 1; ++chunk) {
    const ScanOutput part = scan(in, Form::chunked, chunk);
    outputs = worse(outputs, largest_difference(part.y, whole.y));
    states = worse(states, largest_difference(part.state, whole.state));
  }
  return {residual_check("chunks of 1 to 14: outputs differ by", outputs, 1e-12), residual_check("chunks of 1 to 14: final states differ by", states, 1e-12)};
}

// x (1,11,4,3), dt (1,11,4) = |normal| / 2, A (4) = -|normal|, B, C (1,11,2,5), S (1,4,5,3) from default_rng(42), in that order.
struct SsdInputs {
  static constexpr std::int64_t kT = 11, kH = 4, kP = 3, kG = 2, kN = 5;
  Matrix x, dt, A, B, C, S;

  SsdInputs() {
    RandomMatrices random(42);
    x = random.next(kT, kH * kP);
    dt = random.next(kT, kH);
    A = random.next(1, kH);
    B = random.next(kT, kG * kN);
    C = random.next(kT, kG * kN);
    S = random.next(kH * kN, kP);
    for (double& value : dt.values()) value = std::abs(value) / 2;
    for (double& value : A.values()) value = -std::abs(value);
  }

  ScanOutput run(Form form, std::int64_t chunk = 0) const {
    ScanOutput out{missing(kT, kH * kP), missing(kH * kN, kP)};
    const Status status = ssd(SsdArguments<double>{.x = {x.data(), {1, kT, kH, kP}}, .dt = {dt.data(), {1, kT, kH}}, .A = {A.data(), {kH}},
                                                   .B = {B.data(), {1, kT, kG, kN}}, .C = {C.data(), {1, kT, kG, kN}},
                                                   .state = {S.data(), {1, kH, kN, kP}}, .form = form, .chunk = chunk,
                                                   .y = {out.y.data(), {1, kT, kH, kP}}, .final_state = {out.state.data(), {1, kH, kN, kP}}});
    return status.ok() ? out : ScanOutput{missing(kT, kH * kP), missing(kH * kN, kP)};
  }
};

std::vector<Check> state_space_duality(const Mistakes&) {
  const SsdInputs in;
  const ScanOutput recurrent = in.run(Form::recurrent), matrix = in.run(Form::explicit_);
  double outputs = 0, states = 0;
  for (std::int64_t chunk = 1; chunk <= SsdInputs::kT + 1; ++chunk) {
    const ScanOutput part = in.run(Form::chunked, chunk);
    outputs = worse(outputs, largest_difference(part.y, recurrent.y));
    states = worse(states, largest_difference(part.state, recurrent.state));
  }
  return {residual_check("max |recurrent - explicit matrix|", largest_difference(recurrent.y, matrix.y), 1e-12),
          residual_check("chunks of 1 to 12: outputs differ by", outputs, 1e-12), residual_check("chunks of 1 to 12: final states differ by", states, 1e-12)};
}

using Rows = Tensor<double, 3>;

Rows counted_rows(std::int64_t tokens, double first) {
  Rows hidden({2, tokens, 7});
  for (double& value : hidden.values()) value = first++;
  return hidden;
}

Rows remember(const Rows& memory, const Rows& hidden, std::int64_t limit) {
  Rows kept({2, segment_memory_rows(memory.extents()[1], hidden.extents()[1], limit), 7}, std::numeric_limits<double>::quiet_NaN());
  const Status status = segment_memory(SegmentMemoryArguments<double>{.hidden = hidden.view(), .memory = memory.view(), .limit = limit, .new_memory = kept.view()});
  return status.ok() ? kept : Rows({0, 0, 0});
}

// The largest difference between `kept` and the last rows of `hidden`; NaN when there are not enough.
double newest_gap(const Rows& kept, const Rows& hidden) {
  const std::int64_t rows = kept.extents()[1], skipped = hidden.extents()[1] - rows;
  if (kept.extents()[0] != 2 || skipped < 0) return std::nan("");
  double gap = 0;
  for (std::int64_t b = 0; b < kept.extents()[0]; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t d = 0; d < 7; ++d)
        gap = worse(gap, std::abs(kept(b, r, d) - hidden(b, r + skipped, d)));
  return gap;
}

std::vector<Check> newest_rows(const Mistakes&) {
  const Rows none({2, 0, 7}), first = counted_rows(5, 0), second = counted_rows(4, 1000);
  const Rows kept = remember(none, first, 3), next = remember(kept, second, 3), empty = remember(next, first, 0);
  return {exact_check("limit 3, [2,5,7]: rows kept", 3, static_cast<double>(kept.extents()[1])),
          exact_check("they are the newest, off by", 0, newest_gap(kept, first)),
          exact_check("4 more: rows kept", 3, static_cast<double>(next.extents()[1])),
          exact_check("they are the newest, off by", 0, newest_gap(next, second)),
          exact_check("limit 0: rows kept", 0, static_cast<double>(empty.extents()[1]))};
}

// What the next segment reads from the memory, as a number: the sum of its squares.
double reading(const Rows& memory) {
  double sum = 0;
  for (double value : memory.values()) sum += value * value;
  return sum;
}

std::vector<Check> no_gradient(const Mistakes&) {
  const Rows none({2, 0, 7});
  Rows hidden = counted_rows(5, 1);
  const Rows memory = remember(none, hidden, 3);
  const double before = reading(memory);
  for (double& value : hidden.values()) value += 1e-3;
  const double after = reading(memory), taken_again = reading(remember(none, hidden, 3));
  return {exact_check("change of the next segment's reading when the rows that made its memory move", 0, after - before),
          stated_check("change when the memory is taken again", "> 0", taken_again - before, taken_again > before)};
}

constexpr const char* kMamba = "Gu and Dao 2023, Mamba";
constexpr const char* kSsd = "Dao and Gu 2024, Transformers are SSMs";
constexpr const char* kTransformerXl = "Dai et al. 2019, Transformer-XL";
constexpr const char* kScanInputs = "rng = default_rng(41); x, a, b, c = rng.normal(size=(4,13,3)); a = a / (1 + a^2) + 1/2";

}  // namespace

void add_scan_claims(std::vector<Claim>& list) {
  list.push_back({"RM01", "selective_scan", "A selective scan is the matrix M_ji = c_j b_i a_{i+1} ... a_j applied to the inputs.", kMamba, kScanInputs, {}, explicit_matrix});
  list.push_back({"RM02", "selective_scan", "Cut into chunks of any size, the scan gives the same outputs and the same final state.", kMamba, kScanInputs, {}, every_chunk});
  list.push_back({"RM04", "segment_memory", "Segment memory keeps the newest rows up to its limit, and nothing at limit 0.", kTransformerXl,
                  "hidden (2,5,7), then (2,4,7), counted; limit 3, 3, 0", {}, newest_rows});
  list.push_back({"RM05", "segment_memory", "To the next segment its memory is a constant: no change of the rows that made it reaches it.", kTransformerXl,
                  "hidden (2,5,7) counted from 1; limit 3; every row moved by 0.001", {}, no_gradient});
  list.push_back({"RM15", "selective_scan", "SSD step by step, in chunks and as one matrix is the same map.", kSsd,
                  "rng = default_rng(42); x (11,12), dt (11,4), A (4), B, C (11,10), S (20,3) normal; dt = |dt|/2; A = -|A|", {}, state_space_duality});
}

}  // namespace linearmem
