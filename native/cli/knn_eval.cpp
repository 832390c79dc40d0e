// linearmem knn eval: perplexity of a text without and with a memory filled from its first part. The model counts the words of another
// text (ngram_model.hpp), its contexts are the keys. Weight, k and temperature are chosen on one part and judged on the next.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "gnuplot.hpp"
#include "knn_options.hpp"
#include "knn_verbs.hpp"
#include "linearmem/tensor.hpp"
#include "ngram_model.hpp"
#include "picture_file.hpp"
#include "settings.hpp"
#include "staged_file.hpp"
#include "text_file.hpp"

namespace linearmem::cli {
namespace {

struct EvalArguments {
  std::string train, text, store, plot;
  std::int64_t order = 3, context = 4, dimension = 64;
  std::vector<std::int64_t> ks = {1, 4, 16, 64};
  std::vector<double> temperatures = {0.05, 0.1, 0.2, 0.5, 1}, weights = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  bool json = false;
};

// The second text in three parts: tokens [0, memory) fill the memory, [memory, choice) choose, [choice, end) judge.
struct Texts {
  std::vector<std::int64_t> train, text;
  std::size_t memory = 0, choice = 0;
  std::int64_t vocabulary = 0;
};

constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 30;

Result<Texts> read_texts(const EvalArguments& arguments) {
  const auto train = read_text_file(arguments.train, kMostTextBytes), text = read_text_file(arguments.text, kMostTextBytes);
  for (const auto* one : {&train, &text})
    if (!one->ok()) return one->status();
  Vocabulary vocabulary;
  Texts texts{.train = vocabulary.numbers_of(words_of(train.value())), .text = vocabulary.numbers_of(words_of(text.value()))};
  texts.vocabulary = vocabulary.size();
  const std::size_t n = texts.text.size();
  if (texts.train.empty() || n < 50)
    return Status::invalid("knn eval: " + arguments.train + " has " + std::to_string(texts.train.size()) + " words and " + arguments.text +
                           " " + std::to_string(n) + "; at least 1 and 50 are needed");
  texts.memory = n * 6 / 10, texts.choice = n * 8 / 10;
  return texts;
}

// Where the store lives: as told, or in a folder that goes with the object.
class StorePlace {
 public:
  explicit StorePlace(const std::string& told) : path_(told) {
    if (!told.empty()) return;
    std::string name = (std::filesystem::temp_directory_path() / "linearmem-eval-XXXXXX").string();
    if (::mkdtemp(name.data())) folder_ = name, path_ = name + "/memory.knn";
  }
  ~StorePlace() {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
  }
  StorePlace(const StorePlace&) = delete;
  StorePlace& operator=(const StorePlace&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
};

Result<std::shared_ptr<const KnnSnapshot>> fill_memory(const EvalArguments& arguments, const Texts& texts, const std::string& path) {
  const KnnIdentity identity{.model = "ngram",
                             .model_version = "order " + std::to_string(arguments.order) + ", context " + std::to_string(arguments.context),
                             .tokenizer = "words of " + std::filesystem::path(arguments.train).filename().string() + " and " +
                                          std::filesystem::path(arguments.text).filename().string(),
                             .dimension = arguments.dimension,
                             .metric = Metric::squared_l2,
                             .domain = "eval"};
  if (Status status = KnnStore::create(path, identity); !status.ok()) return status;
  auto store = KnnStore::open(path, expect_all(identity), KnnAccess::write);
  if (!store.ok()) return store.status();
  KnnRecords records;
  for (std::size_t at = 1; at < texts.memory; ++at) {
    records.tokens.push_back(texts.text[at]);
    const std::vector<float> key = context_key(texts.text, at, arguments.context, arguments.dimension);
    records.keys.insert(records.keys.end(), key.begin(), key.end());
  }
  if (const auto added = store.value()->append(records); !added.ok()) return added.status();
  return store.value()->snapshot();
}

// For each token of a part: the model's probability, and its neighbours with whether they have this very token.
struct Part {
  std::vector<double> model;
  KnnNeighbours found;
  Tensor<std::int64_t, 2> hits;  // 1 where the neighbour's token is the one that came
};

Result<Part> look_up(const EvalArguments& arguments, const Texts& texts, const NgramModel& model, const KnnSnapshot& snapshot,
                     std::size_t begin, std::size_t end) {
  const auto Q = static_cast<std::int64_t>(end - begin);
  Tensor<float, 2> queries({Q, arguments.dimension});
  Part part;
  for (std::int64_t q = 0; q < Q; ++q) {
    const std::size_t at = begin + static_cast<std::size_t>(q);
    part.model.push_back(model.probability(texts.text, at));
    const std::vector<float> key = context_key(texts.text, at, arguments.context, arguments.dimension);
    for (std::int64_t d = 0; d < arguments.dimension; ++d) queries(q, d) = key[static_cast<std::size_t>(d)];
  }
  const std::int64_t most = *std::max_element(arguments.ks.begin(), arguments.ks.end());
  auto found = snapshot.search({.queries = View<const float, 2>(queries.view()), .k = most, .at_most_k = true});
  if (!found.ok()) return found.status();
  part.found = std::move(found).value();
  part.hits = Tensor<std::int64_t, 2>(part.found.tokens.extents());
  for (std::int64_t q = 0; q < Q; ++q)
    for (std::int64_t r = 0; r < part.hits.extents()[1]; ++r)
      part.hits(q, r) = part.found.tokens(q, r) == texts.text[begin + static_cast<std::size_t>(q)];
  return part;
}

struct Choice {
  std::int64_t k = 0;
  double temperature = 0, weight = 0, perplexity = HUGE_VAL;
};

// p_memory of the tokens that came: a distribution over two kinds of tokens, this one and all others.
Result<Tensor<double, 2>> memory_of(const Part& part, std::int64_t k, double temperature) {
  const auto Q = static_cast<std::int64_t>(part.model.size());
  const Extents<2> nearest = {Q, std::min(k, part.hits.extents()[1])}, strides = packed_strides<2>(part.hits.extents());
  Tensor<double, 2> prob({Q, 2});
  const Status status = knn_distribution({.distances = View<const double, 2>(part.found.distances.data(), nearest, strides),
                                          .tokens = View<const std::int64_t, 2>(part.hits.data(), nearest, strides),
                                          .temperature = temperature,
                                          .prob = prob.view()});
  if (!status.ok()) return status;
  return prob;
}

Result<double> perplexity_of(const Part& part, const Tensor<double, 2>& memory, double weight) {
  const auto Q = static_cast<std::int64_t>(part.model.size());
  Tensor<double, 2> mixed({Q, 1});
  const Status status = knn_interpolate({.memory = View<const double, 2>(memory.data() + 1, {Q, 1}, {2, 1}),
                                         .model = View<const double, 2>(part.model.data(), {Q, 1}),
                                         .weight = weight,
                                         .mixed = mixed.view()});
  if (!status.ok()) return status;
  std::vector<double> logs;
  for (double probability : mixed.values()) logs.push_back(std::log(probability));
  return perplexity(View<const double, 1>(logs.data(), {Q}));
}

struct Evaluation {
  Texts texts;
  std::int64_t records = 0;
  std::vector<Choice> tried;  // on the choosing part
  Choice chosen;
  double plain_choice = 0, plain = 0, with_memory = 0;  // perplexities: without, choosing and judging part; with, judging part
};

Status sweep(const EvalArguments& arguments, const Part& part, Evaluation& result) {
  for (std::int64_t k : arguments.ks)
    for (double temperature : arguments.temperatures) {
      const auto memory = memory_of(part, k, temperature);
      if (!memory.ok()) return memory.status();
      for (double weight : arguments.weights) {
        const auto value = perplexity_of(part, memory.value(), weight);
        if (!value.ok()) return value.status();
        result.tried.push_back({k, temperature, weight, value.value()});
        if (value.value() < result.chosen.perplexity) result.chosen = result.tried.back();
      }
    }
  return {};
}

Result<Evaluation> evaluate(const EvalArguments& arguments) {
  auto texts = read_texts(arguments);
  if (!texts.ok()) return texts.status();
  Evaluation result;
  result.texts = std::move(texts).value();
  NgramModel model(arguments.order, result.texts.vocabulary);
  model.count(result.texts.train);
  const StorePlace place(arguments.store);
  const auto snapshot = fill_memory(arguments, result.texts, place.path());
  if (!snapshot.ok()) return snapshot.status();
  result.records = snapshot.value()->count();
  const auto choose = look_up(arguments, result.texts, model, *snapshot.value(), result.texts.memory, result.texts.choice);
  const auto judge = look_up(arguments, result.texts, model, *snapshot.value(), result.texts.choice, result.texts.text.size());
  for (const auto* part : {&choose, &judge})
    if (!part->ok()) return part->status();
  if (Status status = sweep(arguments, choose.value(), result); !status.ok()) return status;
  const auto memory = memory_of(judge.value(), result.chosen.k, result.chosen.temperature);
  if (!memory.ok()) return memory.status();
  const auto with = perplexity_of(judge.value(), memory.value(), result.chosen.weight),
             without = perplexity_of(judge.value(), memory.value(), 0);
  const auto before = perplexity_of(choose.value(), Tensor<double, 2>({static_cast<std::int64_t>(choose.value().model.size()), 2}), 0);
  for (const auto* value : {&with, &without, &before})
    if (!value->ok()) return value->status();
  result.with_memory = with.value(), result.plain = without.value(), result.plain_choice = before.value();
  return result;
}

// Perplexity over the weight: of each k the line of its best temperature.
Figure figure_of(const EvalArguments& arguments, const Evaluation& result) {
  Panel panel{.name = "perplexity", .x = {"weight of the memory", ""}, .y = {"perplexity of the choosing part", ""}, .series = {}};
  for (std::int64_t k : arguments.ks) {
    Choice best;
    for (const Choice& one : result.tried)
      if (one.k == k && one.perplexity < best.perplexity) best = one;
    Series line{
        .memory = "knn_memory", .label = "k " + std::to_string(k) + ", temperature " + number_text(best.temperature), .x = {}, .y = {}};
    for (const Choice& one : result.tried)
      if (one.k == k && one.temperature == best.temperature && std::isfinite(one.perplexity))
        line.x.push_back(one.weight), line.y.push_back(one.perplexity);
    panel.series.push_back(std::move(line));
  }
  return {.panels = {std::move(panel)}};
}

void print_json(const EvalArguments& arguments, const Evaluation& result) {
  nlohmann::ordered_json tried = nlohmann::ordered_json::array();
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json("infinite");
  };
  for (const Choice& one : result.tried)
    tried.push_back({{"k", one.k}, {"temperature", one.temperature}, {"weight", one.weight}, {"perplexity", number(one.perplexity)}});
  const nlohmann::ordered_json report = {
      {"train_words", result.texts.train.size()},
      {"text_words", result.texts.text.size()},
      {"vocabulary", result.texts.vocabulary},
      {"records", result.records},
      {"order", arguments.order},
      {"context", arguments.context},
      {"dimension", arguments.dimension},
      {"chosen", {{"k", result.chosen.k}, {"temperature", result.chosen.temperature}, {"weight", result.chosen.weight}}},
      {"without_memory", number(result.plain)},
      {"with_memory", number(result.with_memory)},
      {"tried", std::move(tried)}};
  std::cout << report.dump(2) << "\n";
}

void print_text(const EvalArguments& arguments, const Evaluation& result) {
  const Texts& texts = result.texts;
  std::cout << "model    words of " << arguments.train << ": " << texts.train.size() << ", order " << arguments.order << "\n"
            << "memory   words of " << arguments.text << ": the first " << texts.memory << ", " << result.records << " records\n"
            << "chosen   on the next " << texts.choice - texts.memory << " words: k " << result.chosen.k << ", temperature "
            << number_text(result.chosen.temperature) << ", weight " << number_text(result.chosen.weight) << "; perplexity there "
            << number_text(result.plain_choice) << " without, " << number_text(result.chosen.perplexity) << " with\n"
            << "judged   on the last " << texts.text.size() - texts.choice << " words: perplexity " << number_text(result.plain)
            << " without, " << number_text(result.with_memory) << " with the memory\n";
}

Result<int> eval(const EvalArguments& arguments) {
  for (const auto& [name, value] :
       {std::pair("--order", arguments.order), std::pair("--context", arguments.context), std::pair("--dimension", arguments.dimension)})
    if (value < 1 || value > 4096) return Status::invalid(std::string(name) + " is " + std::to_string(value) + ", must be from 1 to 4096");
  if (arguments.context > 63) return Status::invalid("--context is " + std::to_string(arguments.context) + ", must be from 1 to 63");
  if (!arguments.plot.empty())
    if (Status status = find_gnuplot(); !status.ok()) return status;
  const auto result = evaluate(arguments);
  if (!result.ok()) return result.status();
  if (!arguments.plot.empty()) {
    auto picture = stage_picture(figure_of(arguments, result.value()), arguments.plot);
    if (!picture.ok()) return picture.status();
    if (Status status = picture.value().commit(); !status.ok()) return status;
  }
  if (arguments.json) print_json(arguments, result.value());
  else print_text(arguments, result.value());
  return kDone;
}

}  // namespace

void add_knn_eval(CLI::App& knn, Verb& chosen) {
  const auto arguments = std::make_shared<EvalArguments>();
  CLI::App* verb =
      knn.add_subcommand("eval", "Perplexity of a text without and with a memory of its first part, under a word model of another text");
  verb->add_option("--train", arguments->train, "The text that the model counts")->required();
  verb->add_option("--text", arguments->text, "The text to remember and to judge: 60 % fill the memory, 20 % choose, 20 % judge")
      ->required();
  verb->add_option("--store", arguments->store, "Keep the memory as a store there; else it goes with the program");
  verb->add_option("--plot", arguments->plot, "Write perplexity over weight as a picture, SVG or PNG by its ending, by gnuplot");
  verb->add_option("--order", arguments->order, "Words of an n-gram at most")->capture_default_str();
  verb->add_option("--context", arguments->context, "Words before that make a key")->capture_default_str();
  verb->add_option("--dimension", arguments->dimension, "Numbers in a key")->capture_default_str();
  verb->add_option("-k", arguments->ks, "Neighbours to try; may be repeated")->take_all()->expected(1);
  verb->add_option("--temperature", arguments->temperatures, "Temperatures to try; may be repeated")->take_all()->expected(1);
  verb->add_option("--weight", arguments->weights, "Weights to try; may be repeated")->take_all()->expected(1);
  verb->add_flag("--json", arguments->json, "One JSON object with every setting tried");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return eval(*arguments); }; });
}

}  // namespace linearmem::cli
