#include "claims/checks.hpp"

#include <cmath>
#include <utility>

#include "foundation/number_text.hpp"

namespace linearmem {
namespace {

std::string ten_digits(double number, double smallest) {
  if (std::abs(number) <= smallest) return "0";  // below the tolerance the digits are rounding noise
  return number_text(number, 10);
}

Check check(std::string quantity, CheckKind kind, double expected, double got, double tolerance) {
  Check made;
  made.quantity = std::move(quantity);
  made.kind = kind;
  made.expected = expected;
  made.got = got;
  made.error = std::abs(got - expected);
  made.tolerance = tolerance;
  made.pass = made.error <= tolerance;
  return made;
}

}  // namespace

Check value_check(std::string quantity, double expected, double got, double tolerance) {
  Check made = check(std::move(quantity), CheckKind::value, expected, got, tolerance);
  made.digits = ten_digits(got, tolerance);
  return made;
}

Check residual_check(std::string quantity, double difference, double tolerance) {
  Check made = check(std::move(quantity), CheckKind::residual, 0, difference, tolerance);
  made.digits = made.pass ? "0" : ten_digits(difference, tolerance);
  return made;
}

Check relative_check(std::string quantity, double difference, double tolerance) {
  Check made = residual_check(std::move(quantity), difference, tolerance);
  made.relative = true;
  return made;
}

Check exact_check(std::string quantity, double expected, double got) {
  Check made = check(std::move(quantity), CheckKind::exact, expected, got, 0);
  made.pass = got == expected;
  made.digits = ten_digits(got, 0);
  return made;
}

double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

Check in_unit(Check check, std::string unit) {
  check.unit = std::move(unit);
  return check;
}

Check stated_check(std::string quantity, std::string condition, double got, bool holds) {
  Check made = check(std::move(quantity), CheckKind::stated, 0, got, 0);
  made.error = 0;
  made.condition = std::move(condition);
  made.pass = holds;
  made.digits = holds ? "holds" : "fails";
  return made;
}

Checks& Checks::add(Check check) {
  list_.push_back(std::move(check));
  return *this;
}

Checks& Checks::value(const char* quantity, double expected, double got, double tolerance) {
  return add(value_check(quantity, expected, got, tolerance));
}
Checks& Checks::residual(const char* quantity, double difference, double tolerance) {
  return add(residual_check(quantity, difference, tolerance));
}
Checks& Checks::relative(const char* quantity, double difference, double tolerance) {
  return add(relative_check(quantity, difference, tolerance));
}
Checks& Checks::exact(const char* quantity, double expected, double got) { return add(exact_check(quantity, expected, got)); }
Checks& Checks::stated(const char* quantity, const char* condition, double got, bool holds) {
  return add(stated_check(quantity, condition, got, holds));
}

}  // namespace linearmem
