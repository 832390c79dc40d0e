// A selective scan as the matrix it is, whole and in chunks, with a fault at the chunk boundary to find. Channel i of the input is 1 at
// token i and 0 elsewhere, so the outputs of one scan over T channels are the columns of the matrix.
#include "experiments/lists.hpp"
#include "experiments/matrix_panel.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

enum class Boundary { right, decay_missing, token_missing };

struct Scan {
  std::int64_t T;
  std::vector<double> x, a, ones;  // [T,T]

  Scan(std::int64_t tokens, double decay, double selective, double seed) : T(tokens), x(static_cast<std::size_t>(T * T)), a(x.size()), ones(x.size(), 1) {
    Generator generator(static_cast<std::uint64_t>(seed));
    for (std::int64_t t = 0; t < T; ++t) {
      x[static_cast<std::size_t>(t * T + t)] = 1;
      const double kept = std::pow(decay, 1 + selective * (2 * generator.random() - 1));
      std::fill_n(a.begin() + t * T, T, kept);
    }
  }

  // Tokens [begin, end) from `state` [T], which becomes the state after them; y: rows from `begin` on, or nowhere.
  Status run(std::int64_t begin, std::int64_t end, Form form, std::vector<double>& state, std::vector<double>& y) const {
    const auto rows = [&](const std::vector<double>& all) { return View<const double, 3>(all.data() + begin * T, {1, end - begin, T}); };
    return selective_scan(SelectiveScanArguments<double>{.x = rows(x),
                                                         .a = rows(a),
                                                         .b = rows(ones),
                                                         .c = rows(ones),
                                                         .state = {state.data(), {1, T}},
                                                         .form = form,
                                                         .y = {y.data() + begin * T, {1, end - begin, T}},
                                                         .final_state = {state.data(), {1, T}}});
  }

  // The state that the next chunk starts from.
  Status hand_over(std::int64_t begin, std::int64_t end, Boundary boundary, std::vector<double>& state, std::vector<double>& y) const {
    std::vector<double> early = state, unread(y.size());
    if (Status status = run(begin, end, Form::recurrent, state, y); !status.ok()) return status;
    if (boundary == Boundary::token_missing) {
      state = early;
      if (end - begin > 1) return run(begin, end - 1, Form::recurrent, state, unread);
    }
    if (boundary == Boundary::decay_missing && end < T)
      for (double& value : state) value /= a[static_cast<std::size_t>(end * T)];
    return {};
  }

  Status in_chunks(std::int64_t chunk, Boundary boundary, std::vector<double>& y) const {
    std::vector<double> state(static_cast<std::size_t>(T));
    for (std::int64_t begin = 0; begin < T; begin += chunk)
      if (Status status = hand_over(begin, std::min(begin + chunk, T), boundary, state, y); !status.ok()) return status;
    return {};
  }
};

Result<Figure> run(const Settings& settings) {
  const std::int64_t T = whole(settings, "tokens"), chunk = whole(settings, "chunk");
  const Scan scan(T, settings.at("decay"), settings.at("selective"), settings.at("seed"));
  std::vector<double> matrix(scan.x.size()), chunked(matrix), state(static_cast<std::size_t>(T));
  if (Status status = scan.run(0, T, Form::explicit_, state, matrix); !status.ok()) return status;
  if (Status status = scan.in_chunks(chunk, static_cast<Boundary>(whole(settings, "boundary")), chunked); !status.ok()) return status;
  std::vector<double> difference = chunked;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= matrix[i];
  const char* memory = "selective_scan";
  std::vector<double> decays;
  for (std::int64_t t = 0; t < T; ++t) decays.push_back(scan.a[static_cast<std::size_t>(t * T)]);
  Figure figure{{matrix_panel("decays", T, {matrix_series(memory, "decay of each token", decays)}, 1),
                 matrix_panel("matrix", T, {matrix_series(memory, "one matrix", matrix), matrix_series(memory, "in chunks", chunked),
                                            matrix_series(memory, "difference", difference)}, 1)}};
  for (std::int64_t begin = 0; begin < T; begin += chunk)
    figure.panels[1].bands.push_back({"chunk", static_cast<double>(begin), static_cast<double>(std::min(begin + chunk, T))});
  return figure;
}

}  // namespace

Experiment scan_matrix_experiment() {
  return {"scan-matrix",
          "Which matrix is a scan, and what must a chunk hand over?",
          "One channel with input and output weights of 1; a trained scan has many channels and weights that depend on the token.",
          {{"chunk", "tokens of a chunk", 4, 1, 16, 1},
           {"decay", "what a token keeps of the state, typically", 0.8, 0.05, 1, 0},
           {"boundary", "0: right; 1 and 2: an error by one at each boundary", 0, 0, 2, 1},
           {"selective", "how much the decay depends on the token", 0.5, 0, 1, 0},
           {"tokens", "tokens T", 8, 2, 16, 1},
           {"seed", "of the tokens' decays", 1, 0, 4294967295.0, 1}},
          run};
}

}  // namespace linearmem
