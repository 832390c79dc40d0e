// What an adapter computes, in float64, where a convention's numbers are not ours: logarithms of decays, gates from their parameters,
// scale and norms of q and k.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "linearmem/conventions.hpp"

namespace linearmem {

// The dtype of a computed tensor: F64 where that is what is computed in, otherwise its input's, F32 for BF16 and F16.
DType computed_dtype(DType input, std::optional<DType> compute);

// The values as float64, and back in a dtype.
Result<std::vector<double>> doubles_of(const std::string& who, const NamedTensor& tensor);
NamedTensor tensor_of(const std::vector<double>& values, std::vector<std::int64_t> shape, DType dtype);

// Every value through f.
Result<NamedTensor> mapped(const std::string& who, const NamedTensor& tensor, DType dtype, const std::function<double(double)>& f);

// Theirs to ours and back. Errors: a value the other side cannot say, with its place.
Result<NamedTensor> form_to_ours(NumberForm form, const std::string& who, const NamedTensor& theirs, std::optional<DType> compute);
Result<NamedTensor> form_to_theirs(NumberForm form, const std::string& who, const NamedTensor& ours, std::optional<DType> compute);

double before_softplus(double y);  // the x whose softplus is y, y > 0

// Rows along the last axis, each divided by its norm, of which `eps` is a floor: x / max(|x|, eps).
Result<NamedTensor> normed_with_floor(const std::string& who, const NamedTensor& rows, double eps, DType dtype);
// The same with eps added to the mean of the squares: x / sqrt(K (mean x^2 + eps)).
Result<NamedTensor> normed_on_mean(const std::string& who, const NamedTensor& rows, double eps, DType dtype);

}  // namespace linearmem
