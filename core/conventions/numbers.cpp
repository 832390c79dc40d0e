#include "conventions/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "foundation/activation.hpp"
#include "foundation/number_text.hpp"

namespace linearmem {
namespace {

// The logarithm of a decay factor of 0: finite, so that sums of gates stay numbers, and 0 again when exponentiated in any format.
constexpr double kForgetsAll = -1e4;

double to_ours(NumberForm form, double x) {
  switch (form) {
    case NumberForm::same: return x;
    case NumberForm::factor: return x == 0 ? kForgetsAll : std::log(x);
    case NumberForm::log_of_negative: return -std::exp(x);
    case NumberForm::before_softplus: return softplus(x);
    case NumberForm::before_sigmoid: return 1 / (1 + std::exp(-x));
  }
  return x;
}

double to_theirs(NumberForm form, double y) {
  switch (form) {
    case NumberForm::same: return y;
    case NumberForm::factor: return std::exp(y);
    case NumberForm::log_of_negative: return std::log(-y);
    case NumberForm::before_softplus: return before_softplus(y);
    case NumberForm::before_sigmoid: return std::log(y) - std::log1p(-y);
  }
  return y;
}

// What a value must be to have a counterpart, as a test and in words. NaN passes, as NaN.
bool allowed(NumberForm form, bool theirs, double x) {
  if (std::isnan(x) || form == NumberForm::same) return true;
  if (theirs) return form != NumberForm::factor || x >= 0;
  if (form == NumberForm::log_of_negative) return x < 0;
  if (form == NumberForm::before_softplus) return x > 0;
  return form != NumberForm::before_sigmoid || (x > 0 && x < 1);
}

const char* limits(NumberForm form) {
  switch (form) {
    case NumberForm::factor: return "a decay factor is 0 or above";
    case NumberForm::log_of_negative: return "the logarithm of its negative needs it below 0";
    case NumberForm::before_softplus: return "a softplus gives numbers above 0 only";
    case NumberForm::before_sigmoid: return "a sigmoid gives numbers between 0 and 1 only";
    case NumberForm::same: break;
  }
  return "";
}

Result<NamedTensor> in_form(NumberForm form, bool theirs, const std::string& who, const NamedTensor& tensor,
                            std::optional<DType> compute) {
  if (form == NumberForm::same) return tensor;
  auto values = doubles_of(who, tensor);
  if (!values.ok()) return values.status();
  for (std::size_t i = 0; i < values.value().size(); ++i) {
    double& x = values.value()[i];
    if (!allowed(form, theirs, x)) return Status::invalid(who + ": element " + std::to_string(i) + " is " + number_text(x) + "; " + limits(form));
    x = theirs ? to_ours(form, x) : to_theirs(form, x);
  }
  return tensor_of(values.value(), tensor.shape, computed_dtype(tensor.dtype, compute));
}

Result<NamedTensor> normed(const std::string& who, const NamedTensor& rows, DType dtype, const std::function<double(double)>& norm) {
  auto values = doubles_of(who, rows);
  if (!values.ok()) return values.status();
  const auto K = static_cast<std::size_t>(rows.shape.empty() ? 1 : rows.shape.back());
  for (std::size_t row = 0; K > 0 && row < values.value().size(); row += K) {
    double* x = values.value().data() + row;
    double squares = 0;
    for (std::size_t i = 0; i < K; ++i) squares += x[i] * x[i];
    const double divisor = norm(squares);
    for (std::size_t i = 0; i < K; ++i) x[i] /= divisor;
  }
  return tensor_of(values.value(), rows.shape, dtype);
}

}  // namespace

DType computed_dtype(DType input, std::optional<DType> compute) {
  return input == DType::f64 || compute == DType::f64 ? DType::f64 : DType::f32;
}

Result<std::vector<double>> doubles_of(const std::string& who, const NamedTensor& tensor) { return floating_values<double>(who, tensor); }

NamedTensor tensor_of(const std::vector<double>& values, std::vector<std::int64_t> shape, DType dtype) {
  if (dtype == DType::f64) return to_named(values, std::move(shape));
  std::vector<float> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [](double x) { return static_cast<float>(x); });
  return to_named(narrow, std::move(shape));
}

Result<NamedTensor> mapped(const std::string& who, const NamedTensor& tensor, DType dtype, const std::function<double(double)>& f) {
  auto values = doubles_of(who, tensor);
  if (!values.ok()) return values.status();
  std::transform(values.value().begin(), values.value().end(), values.value().begin(), f);
  return tensor_of(values.value(), tensor.shape, dtype);
}

Result<NamedTensor> form_to_ours(NumberForm form, const std::string& who, const NamedTensor& theirs, std::optional<DType> compute) {
  return in_form(form, true, who, theirs, compute);
}

Result<NamedTensor> form_to_theirs(NumberForm form, const std::string& who, const NamedTensor& ours, std::optional<DType> compute) {
  return in_form(form, false, who, ours, compute);
}

double before_softplus(double y) { return y + std::log(-std::expm1(-y)); }

Result<NamedTensor> normed_with_floor(const std::string& who, const NamedTensor& rows, double eps, DType dtype) {
  return normed(who, rows, dtype, [eps](double squares) { return std::max(std::sqrt(squares), eps); });
}

Result<NamedTensor> normed_on_mean(const std::string& who, const NamedTensor& rows, double eps, DType dtype) {
  const double K = rows.shape.empty() ? 1.0 : static_cast<double>(rows.shape.back());
  return normed(who, rows, dtype, [eps, K](double squares) { return std::sqrt(squares + K * eps); });
}

}  // namespace linearmem
