// One token of linear attention, written out: what stood in the state, what the token adds, what is read. Inputs are those of claim LM05.
#include <span>

#include "experiments/lists.hpp"
#include "experiments/matrix_panel.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kT = NotesTokens::kT, kK = NotesTokens::kK, kV = NotesTokens::kV;

// S [K,V], z [K] and o [T,V] after T tokens from an empty memory.
struct Memory {
  std::vector<double> S = std::vector<double>(kK * kV), z = std::vector<double>(kK), o;
};

Status remember(std::span<const double> q, std::span<const double> k, std::span<const double> v, Form form, Memory& memory) {
  const auto T = static_cast<std::int64_t>(v.size()) / kV;
  memory.o.assign(v.size(), 0);
  if (T == 0) return {};
  return linear_attention(LinearAttentionArguments<double>{.q = {q.data(), {1, T, 1, kK}},
                                                           .k = {k.data(), {1, T, 1, kK}},
                                                           .v = {v.data(), {1, T, 1, kV}},
                                                           .form = form,
                                                           .o = {memory.o.data(), {1, T, 1, kV}},
                                                           .final_state = {memory.S.data(), {1, 1, kK, kV}},
                                                           .final_z = {memory.z.data(), {1, 1, kK}}});
}

// phi(q) S, V numbers, and phi(q) z.
struct Read {
  Read(const std::vector<double>& query, const Memory& memory) {
    for (std::size_t i = 0; i < query.size(); ++i) {
      weight += query[i] * memory.z[i];
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += query[i] * memory.S[i * sum.size() + j];
    }
    constexpr double kEps = 1e-6;  // as linear_attention's own
    for (double value : sum) output.push_back(value / (weight + kEps));
  }
  std::vector<double> sum = std::vector<double>(kV), output;
  double weight = 0;
};

Status fill(const NotesTokens& in, std::int64_t tokens, Memory& memory) {
  const auto rows = [&](const std::vector<double>& all, std::int64_t width) { return std::span(all).first(static_cast<std::size_t>(tokens * width)); };
  return remember(rows(in.q, kK), rows(in.k, kK), rows(in.v, kV), Form::recurrent, memory);
}

// What one token alone leaves in an empty memory: S is phi(key)^T v, z is phi(key).
Status alone(const std::vector<double>& keys, const NotesTokens& in, std::int64_t at, Memory& memory) {
  const auto row = [&](const std::vector<double>& all, std::int64_t width) {
    return std::span(all).subspan(static_cast<std::size_t>(at * width), static_cast<std::size_t>(width));
  };
  return remember(row(keys, kK), row(keys, kK), row(in.v, kV), Form::recurrent, memory);
}

Result<Figure> run(const Settings& settings) {
  const NotesTokens in(settings.at("seed"));
  const std::int64_t token = whole(settings, "token");
  const bool late = settings.at("order") == 1;
  Memory before, after, written, query, explicit_form;
  for (const Status& status : {fill(in, token - 1, before), fill(in, token, after), alone(in.k, in, token - 1, written),
                               alone(in.q, in, token - 1, query), remember(in.q, in.k, in.v, Form::explicit_, explicit_form)})
    if (!status.ok()) return status;
  const Read read(query.z, late ? before : after);
  std::vector<double> outputs;
  for (std::int64_t t = 1; t <= token; ++t) {
    Memory then, asked;
    if (Status status = fill(in, late ? t - 1 : t, then); !status.ok()) return status;
    if (Status status = alone(in.q, in, t - 1, asked); !status.ok()) return status;
    const Read answer(asked.z, then);
    outputs.insert(outputs.end(), answer.output.begin(), answer.output.end());
  }
  Memory whole;
  if (Status status = fill(in, kT, whole); !status.ok()) return status;
  double reach = 0, count = 0;  // scales that stay as the tokens step
  for (double value : whole.S) reach = std::max(reach, std::abs(value));
  for (double value : whole.z) count = std::max(count, value);
  const char* memory = "linear_attention";
  const auto value = std::span(in.v).subspan(static_cast<std::size_t>((token - 1) * kV), kV);
  return Figure{{matrix_panel("write", kV,
                              {matrix_series(memory, "value", {value.begin(), value.end()}), matrix_series(memory, "before", before.S),
                               matrix_series(memory, "written", written.S), matrix_series(memory, "after", after.S)},
                              reach),
                 matrix_panel("count", 1,
                              {matrix_series(memory, "before", before.z), matrix_series(memory, "written", written.z), matrix_series(memory, "after", after.z)},
                              count),
                 matrix_panel("query", kK, {matrix_series(memory, "query", query.z)}, count),
                 matrix_panel("sum", kV, {matrix_series(memory, "sum", read.sum)}, reach),
                 matrix_panel("weight", 1, {matrix_series(memory, "weight", {read.weight})}, count),
                 matrix_panel("output", kV, {matrix_series(memory, "output", read.output)}, reach),
                 matrix_panel("outputs", kV,
                              {matrix_series(memory, "step by step", outputs), matrix_series(memory, "looking back", explicit_form.o)})}};
}

}  // namespace

Experiment recurrent_state_experiment() {
  return {"recurrent-state",
          "What does one token do to a state?",
          "Eight random tokens, key width 4 and value width 3; a trained model chooses its keys. Linear attention with elu + 1.",
          {{"token", "the token that is written and read", 3, 1, kT, 1},
           {"order", "0: write, then read; 1: read first, which is wrong", 0, 0, 1, 1},
           {"seed", "of the random tokens; 7: those of claim LM05", 7, 0, 4294967295.0, 1}},
          run};
}

}  // namespace linearmem
