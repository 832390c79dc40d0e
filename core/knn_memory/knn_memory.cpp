// The door of a search: check, choose a form, call it, hand over what it found.
#include "linearmem/knn_memory.hpp"

#include <string>

#include "foundation/backend_call.hpp"
#include "foundation/finite_check.hpp"
#include "foundation/form_check.hpp"
#include "foundation/shape_check.hpp"
#include "knn_memory/forms.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "knn_search";

template <typename T>
Status check(const KnnSearchArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  shapes.required("keys", a.keys, "M D")
      .required("queries", a.queries, "Q D")
      .required("ids", a.ids, "Q R")
      .required("distances", a.distances, "Q R");
  const std::int64_t M = a.keys.extent(0), R = shapes.size("R");
  shapes.require(a.k >= 1, [&] { return "k is " + std::to_string(a.k) + ", must be at least 1"; });
  shapes.require(a.k <= M || a.at_most_k, [&] {
    return "k is " + std::to_string(a.k) + ", but there are " + std::to_string(M) + " keys; allow at most k to take them all";
  });
  shapes.require(R == knn_columns(M, a.k, a.at_most_k), [&] {
    return "R is " + std::to_string(R) + ", but " + std::to_string(knn_columns(M, a.k, a.at_most_k)) + " neighbours are found";
  });
  if (shapes.status().ok()) check_finite(shapes, "queries", a.queries);
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, 0, {Form::reference, Form::streaming});
}

// The first key that is not finite, or else the first distance: which it is does not hang on the order of the search.
template <typename T>
Status refuse(const KnnSearchArguments<T>& a) {
  const auto key = [](std::int64_t i) { return std::string(kDoor) + ": keys[" + std::to_string(i); };
  for (std::int64_t i = 0; i < a.keys.extent(0); ++i)
    for (std::int64_t d = 0; d < a.keys.extent(1); ++d)
      if (const T value = a.keys(i, d); !std::isfinite(value))
        return Status::invalid(key(i) + "," + std::to_string(d) + "] is " + number_text(value) + "; every number must be finite");
  for (std::int64_t q = 0; q < a.queries.extent(0); ++q)
    for (std::int64_t i = 0; i < a.keys.extent(0); ++i)
      if (!std::isfinite(knn::exact_distance(a.keys, i, a.queries, q, a.metric)))
        return Status::invalid(key(i) + "] is farther from queries[" + std::to_string(q) + "] than float64 holds");
  return Status::invalid(std::string(kDoor) + ": a distance is not finite");
}

template <typename T>
Status enter(const KnnSearchArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  if (a.backend) {
    const Status status = run_on_backend(kDoor, a);
    return status.code() == StatusCode::invalid_argument ? refuse(a) : status;  // here it is told which number
  }
  const std::int64_t R = a.ids.extent(1);
  const knn::Search<T> search{a.keys, a.queries, R, a.metric, a.executor};
  std::vector<knn::Nearest> lists(static_cast<std::size_t>(a.queries.extent(0)), knn::Nearest(R));
  if (R > 0 && !(a.form == Form::reference ? reference(search, lists) : streaming(search, lists))) return refuse(a);
  for (std::int64_t q = 0; q < a.queries.extent(0); ++q) {
    const std::vector<knn::Neighbour> found = std::move(lists[static_cast<std::size_t>(q)]).sorted();
    for (std::int64_t r = 0; r < R; ++r) {
      a.ids(q, r) = found[static_cast<std::size_t>(r)].id;
      a.distances(q, r) = found[static_cast<std::size_t>(r)].distance;
    }
  }
  return {};
}

}  // namespace

std::string_view metric_name(Metric metric) { return metric == Metric::squared_l2 ? "squared-l2" : "inner-product"; }

std::optional<Metric> metric_named(std::string_view name) {
  for (Metric metric : {Metric::squared_l2, Metric::inner_product})
    if (metric_name(metric) == name) return metric;
  return std::nullopt;
}

Status knn_search(const KnnSearchArguments<float>& arguments) { return enter(arguments); }
Status knn_search(const KnnSearchArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
