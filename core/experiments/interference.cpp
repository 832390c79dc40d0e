// How interference grows: with the number of items at any width, under the outer product and least squares, and as a picture.
#include <algorithm>
#include <cmath>

#include "associative_memory/picture.hpp"
#include "experiments/lists.hpp"
#include "experiments/sampled.hpp"
#include "foundation/unit_rows.hpp"

namespace linearmem {
namespace {

const ResponseRule kLinear{.response = Response::linear};
const ResponseRule kLeastSquares{.response = Response::least_squares};

// Growth: M on a logarithmic axis.

std::vector<std::int64_t> growth_samples(const Settings& settings) { return logarithmic_items(2, whole(settings, "items"), 12); }

Figure draw_growth(const Settings& settings, const Samplers& samplers) {
  const std::int64_t K = whole(settings, "key_width");
  const std::vector<std::int64_t> items = growth_samples(settings);
  return {
      {{"growth",
        {"stored items M", "", true},
        {"R", "", true},
        {theory_series("outer_product", "RMS, theory", kLinear, K, logarithmic_items(2, std::max(whole(settings, "items"), 16 * K), 40)),
         sampled_series("outer_product", "RMS, sampled", samplers[0], 0, items),
         sampled_series("sampled_median", "median, sampled", samplers[0], 0, items, Statistic::median),
         sampled_series("sampled_mean", "mean, sampled", samplers[0], 0, items, Statistic::mean)}}}};
}

// Outer product against least squares: M on a linear axis up to 4 K.

std::vector<std::int64_t> evenly(std::int64_t last, int count) {
  std::vector<std::int64_t> items;
  for (int i = 0; i <= count; ++i)
    if (const std::int64_t M = 1 + (last - 1) * i / count; items.empty() || M > items.back()) items.push_back(M);
  return items;
}

Figure draw_least_squares(const Settings& settings, const Samplers& samplers) {
  const std::int64_t K = whole(settings, "key_width");
  const std::vector<std::int64_t> items = evenly(4 * K, 16), line = evenly(4 * K, 96);
  Series theory{"least_squares", "least squares, RMS, theory", {}, {}};
  for (std::int64_t M : line) {
    theory.x.push_back(static_cast<double>(M));
    theory.y.push_back(least_squares_interference(K, static_cast<double>(M)));
  }
  return {{{"least-squares",
            {"stored items M", "", false},
            {"RMS of R", "", false},
            {theory_series("outer_product", "outer product, RMS, theory", kLinear, K, line),
             sampled_series("outer_product", "outer product, RMS, sampled", samplers[0], 0, items), theory,
             sampled_series("least_squares", "least squares, RMS, sampled", samplers[1], 0, items)},
            {{"exact recovery", 1, static_cast<double>(K)}}}}};
}

Result<std::unique_ptr<FigureParts>> start_least_squares(const Settings& settings) {
  const std::vector<std::int64_t> items = evenly(4 * whole(settings, "key_width"), 16);
  return sampled_parts(settings, {sampling_settings(settings, {kLinear}, items), sampling_settings(settings, {kLeastSquares}, items)},
                     draw_least_squares);
}

// The picture: the items of AM02, and 256 more at a time.

constexpr std::int64_t kBlock = 256, kWidth = 64, kMostPictures = 1024;

// Reads of key 0 after M = 1, 2, ... items, and R of each.
class Readback {
 public:
  Readback(std::uint64_t seed, const associative::Picture& picture)
      : read_(associative::unit_value(picture)), picture_(read_), generator_(seed) {
    for (double pixel : picture_) own_ += pixel * pixel;
  }

  // Rising M only.
  const std::vector<double>& at(std::int64_t M) {
    for (; items_ < M; ++items_) {
      if (items_ % kBlock == 0 || query_.empty()) draw_block();
      const auto row = static_cast<std::size_t>(items_ % kBlock * kWidth);
      double score = 0;
      for (std::size_t c = 0; c < kWidth; ++c) score += query_[c] * keys_[row + c];
      for (std::size_t c = 0; c < kWidth; ++c) read_[c] += score * values_[row + c];
    }
    return read_;
  }
  double ratio() const {
    double squares = 0;
    for (std::size_t c = 0; c < kWidth; ++c) squares += (read_[c] - picture_[c]) * (read_[c] - picture_[c]);
    return std::sqrt(squares / own_);
  }
  bool blank() const { return own_ == 0; }

 private:
  void draw_block() {
    draw_unit_rows(generator_, keys_.data(), kBlock, kWidth);
    draw_unit_rows(generator_, values_.data(), kBlock, kWidth);
    if (query_.empty()) query_.assign(keys_.begin(), keys_.begin() + kWidth);
  }

  std::vector<double> read_, picture_, query_;
  std::vector<double> keys_ = std::vector<double>(kBlock * kWidth), values_ = keys_;
  Generator generator_;
  double own_ = 0;
  std::int64_t items_ = 1;  // the picture is item 0
};

Series picture_series(const std::string& label, const std::vector<double>& pixels) {
  Series series{"outer_product", label, {}, pixels};
  for (std::size_t pixel = 0; pixel < pixels.size(); ++pixel) series.x.push_back(static_cast<double>(pixel));
  return series;
}

Result<Figure> read_picture(const Settings& settings) {
  const associative::Picture picture{static_cast<std::uint32_t>(settings.at("picture_top")),
                                     static_cast<std::uint32_t>(settings.at("picture_bottom"))};
  const auto seed = static_cast<std::uint64_t>(settings.at("seed"));
  const std::int64_t chosen = whole(settings, "items");
  Panel pictures{"pictures", {"pixel", "", false}, {"value", "", false}, {picture_series("stored", associative::unit_value(picture))}};
  pictures.columns = associative::kPictureSide;
  pictures.limit = 0.125;
  Readback fixed(seed, picture), line(seed, picture), knob(seed, picture);
  for (std::int64_t M : {1, 16, 64, 256}) pictures.series.push_back(picture_series("M = " + std::to_string(M), fixed.at(M)));
  pictures.series.push_back(picture_series("M of the knob", knob.at(chosen)));
  if (line.blank()) return Figure{{pictures}};  // a picture of no pixel has no length to compare with
  Series ratios{"outer_product", "this draw", {}, {}}, here{"sampled_mean", "M of the knob", {static_cast<double>(chosen)}, {knob.ratio()}};
  here.points = true;
  for (std::int64_t M : logarithmic_items(2, kMostPictures, 60)) {
    line.at(M);
    ratios.x.push_back(static_cast<double>(M));
    ratios.y.push_back(line.ratio());
  }
  const std::vector<std::int64_t> items = logarithmic_items(2, kMostPictures, 40);
  return Figure{{pictures,
                 {"ratio",
                  {"stored items M", "", true},
                  {"R of the picture", "", false},
                  {theory_series("linear_attention", "RMS, theory", kLinear, kWidth, items), ratios, here}}}};
}

}  // namespace

Experiment picture_readback_experiment() {
  return {"picture-readback",
          "What is left of a picture when others are stored beside it?",
          "One random draw, read without a threshold; grey beyond the scale is cut off in the picture, not in R.",
          {{"items", "stored items M", 64, 1, static_cast<double>(kMostPictures), 1},
           {"seed", "seed of the other items", 20261021, 0, 4294967295.0, 1},
           {"picture_top", "rows 0 to 3 of the picture as 32 bits", associative::kLetterT.top, 0, 4294967295.0, 1},
           {"picture_bottom", "rows 4 to 7 of the picture as 32 bits", associative::kLetterT.bottom, 0, 4294967295.0, 1}},
          read_picture};
}

Experiment interference_growth_experiment() {
  return {"interference-growth",
          "How fast do the other items drown the one asked for?",
          "Random unit keys and values, linear weights; keys that resemble each other do worse.",
          {key_width_setting(64), items_setting(512), seeds_setting(20), first_seed_setting()},
          nullptr,
          [](const Settings& settings) {
            return sampled_parts(settings, {sampling_settings(settings, {kLinear}, growth_samples(settings))}, draw_growth);
          }};
}

Experiment least_squares_experiment() {
  return {"least-squares",
          "What does it bring to write all items at once?",
          "Least squares needs every key at the time of writing; the theory beyond K items is for Gaussian keys.",
          {{"key_width", "key width K", 32, 2, 128, 1}, seeds_setting(12), first_seed_setting()},
          nullptr,
          start_least_squares};
}

}  // namespace linearmem
