// The checks of axes by letter: first sentence kept, many names at once, names as long as mechanisms have them.
#include "foundation/shape_check.hpp"

#include <gtest/gtest.h>

#include "linearmem/mechanisms.hpp"

namespace linearmem {
namespace {

TEST(ShapeCheck, KeepsTheFirstDisagreement) {
  const float values[24] = {};
  ShapeCheck shapes("door");
  shapes.required("a", View<const float, 2>(values, {2, 3}), "T Hv").required("b", View<const float, 2>(values, {4, 3}), "T Hv");
  shapes.optional("c", View<const float, 1>(values, {5}), "Hv").optional("d", View<const float, 1>(), "Hv");
  EXPECT_EQ(shapes.status().message(), "door: T differs: a has 2, b has 4");
  EXPECT_EQ(shapes.size("Hv"), 3);
  EXPECT_EQ(shapes.size("K"), 0);
}

TEST(ShapeCheck, AnAxisBelowZeroAndAPointerToNothingAreRefused) {
  const float values[6] = {};
  const auto said = [](const View<const float, 2>& view) { return ShapeCheck("door").required("a", view, "T K").status().message(); };
  EXPECT_EQ(said({values, {-1, 3}}), "door: T is -1 in a, must be at least 0");
  EXPECT_EQ(said({nullptr, {2, 3}}), "door: a points nowhere, and is not empty");
  EXPECT_EQ(said({nullptr, {0, 3}}), "");
  EXPECT_EQ(said({values, {2, 3}}), "");
  EXPECT_EQ(ShapeCheck("door").optional("a", View<const float, 1>(nullptr, {2}), "T").status().message(), "door: a points nowhere, and is not empty");
  EXPECT_EQ(ShapeCheck("door").define("B", "a", 1).define("T", "a", 2).sequences({nullptr, {2}}).status().message(),
            "door: cu_seqlens points nowhere, and is not empty");
}

TEST(ShapeCheck, MakesItsSentenceOnlyWhenItIsWanted) {
  ShapeCheck shapes("door");
  int made = 0;
  const auto sentence = [&] {
    ++made;
    return std::string("n is 5");
  };
  shapes.require(true, sentence);
  EXPECT_EQ(made, 0);
  shapes.require(false, sentence).require(false, "later");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(shapes.status().message(), "door: n is 5");
}

TEST(ShapeCheck, HoldsManyAxesApart) {
  ShapeCheck shapes("door");
  for (char first = 'A'; first <= 'Z'; ++first) shapes.define(std::string(1, first) + "v", "argument", first);
  for (char first = 'A'; first <= 'Z'; ++first) EXPECT_EQ(shapes.size(std::string(1, first) + "v"), first);
  EXPECT_TRUE(shapes.status().ok());
  EXPECT_EQ(shapes.define("Qv", "other", 7).status().message(), "door: Qv differs: argument has 81, other has 7");
}

TEST(ShapeCheck, MissingArgumentsAreNamedWithTheirAxes) {
  ShapeCheck shapes("door");
  EXPECT_EQ(shapes.required("q", View<const float, 4>(), "B T Hv K").status().message(), "door: q is missing; it is [B,T,Hv,K]");
}

TEST(ShapeCheck, EveryAxisOfTheRegistryHasAShortName) {
  for (const Mechanism& mechanism : mechanisms())
    for (const InputSpec& input : mechanism.inputs)
      for (const std::string& letters : axis_letters(input.axes)) EXPECT_LE(letters.size(), 8u) << mechanism.name << " " << input.name;
}

}  // namespace
}  // namespace linearmem
