#include "experiments/recall_parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "experiments/lists.hpp"

namespace linearmem {
namespace {

constexpr double kTheoryWork = 5e6;

class CaseRun final : public PartRun {
 public:
  CaseRun(const RecallPlan& plan, const RecallCase& one, std::uint64_t first_seed, std::int64_t seeds)
      : plan_(plan), case_(one), first_seed_(first_seed), seeds_(seeds), values_(2 * plan.groups) {}

  Status step() override {
    Generator generator(first_seed_ + static_cast<std::uint64_t>(done_++));
    const SeedQuestions seed = plan_.make(case_, plan_.queries, generator);
    const auto answers = plan_.answer ? plan_.answer(case_, seed.pairs, seed.questions.asked)
                                      : recall_answers(case_.memory, seed.pairs, seed.questions.asked);
    if (!answers.ok()) return answers.status();
    for (std::size_t i = 0; i < answers.value().size(); ++i) {
      const std::size_t group = seed.group.empty() ? 0 : seed.group[i];
      values_[group] += answers.value()[i] == seed.questions.expected[i];
      ++values_[plan_.groups + group];
    }
    return {};
  }
  double progress() const override { return static_cast<double>(done_) / static_cast<double>(seeds_); }
  std::vector<double> values() const override { return values_; }

 private:
  const RecallPlan& plan_;
  const RecallCase& case_;
  std::uint64_t first_seed_;
  std::int64_t seeds_, done_ = 0;
  std::vector<double> values_;
};

class TheoryRun final : public PartRun {
 public:
  explicit TheoryRun(const RecallCase& one) : case_(one) {}
  Status step() override {
    values_ = {outer_product_recall(static_cast<double>(case_.M), static_cast<double>(case_.K), static_cast<double>(case_.V))};
    return {};
  }
  double progress() const override { return values_.empty() ? 0 : 1; }
  std::vector<double> values() const override { return values_; }

 private:
  const RecallCase& case_;
  std::vector<double> values_;
};

class RecallParts final : public FigureParts {
 public:
  RecallParts(const Settings& settings, RecallPlan plan)
      : settings_(settings),
        plan_(std::move(plan)),
        first_seed_(static_cast<std::uint64_t>(settings.at("first_seed"))),
        seeds_(whole(settings, "seeds")) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(plan_.cases.size()); }
  double work(std::int64_t part) const override {
    const RecallCase& one = at(part);
    return one.theory ? kTheoryWork
                      : static_cast<double>(seeds_) * (2e4 + recall_work(one.memory.kind, one.M, plan_.queries, one.K, one.V));
  }
  Result<std::unique_ptr<PartRun>> start(std::int64_t part) const override {
    if (at(part).theory) return std::unique_ptr<PartRun>(std::make_unique<TheoryRun>(at(part)));
    return std::unique_ptr<PartRun>(std::make_unique<CaseRun>(plan_, at(part), first_seed_, seeds_));
  }
  Figure draw(const std::vector<std::vector<double>>& values) const override { return plan_.draw(settings_, plan_.cases, values); }

 private:
  const RecallCase& at(std::int64_t part) const { return plan_.cases[static_cast<std::size_t>(part)]; }

  Settings settings_;
  RecallPlan plan_;
  std::uint64_t first_seed_;
  std::int64_t seeds_;
};

}  // namespace

std::unique_ptr<FigureParts> recall_parts(const Settings& settings, RecallPlan plan) {
  return std::make_unique<RecallParts>(settings, std::move(plan));
}

SeedQuestions some_of_all(const RecallCase& one, std::int64_t queries, Generator& generator) {
  SeedQuestions seed{random_pairs(generator, one.M, one.K, one.V), {generator.permutation(one.M), {}}};
  seed.questions.asked.resize(static_cast<std::size_t>(std::min(one.M, queries)));
  seed.questions.expected = seed.questions.asked;
  return seed;
}

void add_share(Series& series, double x, const std::vector<double>& values, std::size_t group) {
  if (values.empty()) return;
  const Share share = wilson(values[group], values[values.size() / 2 + group]);
  series.x.push_back(x);
  series.y.push_back(share.value);
  series.low.push_back(share.low);
  series.high.push_back(share.high);
}

Series share_series(const MemoryName& name) {
  Series series{name.memory, name.label, {}, {}};
  series.points = true;
  return series;
}

}  // namespace linearmem
