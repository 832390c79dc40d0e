// One measured quantity and its verdict. A NaN never passes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linearmem/claims.hpp"

namespace linearmem {

// got is within tolerance of expected.
Check value_check(std::string quantity, double expected, double got, double tolerance);

// difference is at most tolerance.
Check residual_check(std::string quantity, double difference, double tolerance);

// The same, where `difference` is already divided by the size of what is compared.
Check relative_check(std::string quantity, double difference, double tolerance);

// got is expected, bit for bit.
Check exact_check(std::string quantity, double expected, double got);

// The condition in words held or did not; got is shown beside it.
Check stated_check(std::string quantity, std::string condition, double got, bool holds);

// The larger of two differences, and NaN once either is: a later number must not hide a door that gave none.
double worse(double a, double b);

// The same check, its numbers counted in `unit`.
Check in_unit(Check check, std::string unit);

// The checks of a claim, one after the other: Checks().value(...).residual(...).list(). Their functions take plain text, so that a
// claim is a row of short calls in the page's module too.
class Checks {
 public:
  Checks& value(const char* quantity, double expected, double got, double tolerance);
  Checks& residual(const char* quantity, double difference, double tolerance);
  Checks& relative(const char* quantity, double difference, double tolerance);
  Checks& exact(const char* quantity, double expected, double got);
  Checks& stated(const char* quantity, const char* condition, double got, bool holds);
  Checks& add(Check check);
  std::vector<Check> list() { return std::move(list_); }

 private:
  std::vector<Check> list_;
};

}  // namespace linearmem
