// Figures of recall: one part for each memory at each place of the figure, one seed for each step of it.
#pragma once

#include <string>
#include <vector>

#include "experiments/hybrid_recall.hpp"
#include "linearmem/experiments.hpp"

namespace linearmem {

// A memory with pairs of one kind, or the theory of the outer product at that place.
struct RecallCase {
  RecallMemory memory;
  std::int64_t M = 64, K = 32, V = 32;
  std::int64_t rewrites = 1;  // how often each key comes
  double rho = 0;             // inner product of the keys of a couple
  bool theory = false;
  Stack stack = Stack::both;  // where a stack answers instead of the memory
};

// Of one seed. Answers to questions of one group are counted together: of one distance, say.
struct SeedQuestions {
  RecallPairs pairs;
  Questions questions;
  std::vector<std::size_t> group = {};  // of each question; empty: all in group 0
};

struct RecallPlan {
  std::vector<RecallCase> cases = {};
  std::size_t groups = 1;
  std::int64_t queries = 16;  // of a seed
  SeedQuestions (*make)(const RecallCase& one, std::int64_t queries, Generator& generator);
  // Another way of answering than the memory's own, where there is one.
  Result<std::vector<std::int64_t>> (*answer)(const RecallCase& one, const RecallPairs& pairs,
                                              const std::vector<std::int64_t>& asked) = nullptr;
  // values of each case: hits of each group, then tries of each; of a theory: the probability. Empty where they are not known yet.
  Figure (*draw)(const Settings& settings, const std::vector<RecallCase>& cases, const std::vector<std::vector<double>>& values);
};

// seeds and first_seed are taken from the settings.
std::unique_ptr<FigureParts> recall_parts(const Settings& settings, RecallPlan plan);

// Random pairs and some of them asked for, none twice.
SeedQuestions some_of_all(const RecallCase& one, std::int64_t queries, Generator& generator);

// A point of the share in `group`, with its interval; nothing where the case is not known yet.
void add_share(Series& series, double x, const std::vector<double>& values, std::size_t group = 0);

Series share_series(const MemoryName& name);  // points, none yet

// The settings of every figure of recall.
inline SettingSpec recall_seeds(double seeds) { return {"seeds", "seeds sampled", seeds, 2, 2000, 1}; }
inline SettingSpec recall_first_seed() { return {"first_seed", "the first seed", 1, 0, 4294967295.0, 1}; }
inline SettingSpec recall_beta() { return {"beta", "how sharply softmax picks one key", 32, 1, 256, 0}; }
inline SettingSpec recall_alpha(double alpha) { return {"alpha", "what the decay keeps from one write to the next", alpha, 0.01, 1, 0}; }

}  // namespace linearmem
