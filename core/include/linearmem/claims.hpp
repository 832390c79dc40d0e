// The registry of claims: every statement the project verifies, its source, the value it must give and how close.
// The command line, the page and the tests run this one registry.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

// The tempting errors a reader may switch on to see which claims fall.
enum class Mistake {
  read_before_write,
  half_beta,           // beta 0.5 where the claim says 1
  no_forgetting,       // alpha 1 where the claim says 0.8
  single_precision,    // float32 where the claim says float64
  no_reset,            // the state of the last request is left in place
  error_before_decay,  // gated delta: measure the error against the undecayed state
  no_causal_mask,      // all keys, future ones too, in one state
  repeated_keys,       // keys drawn with replacement
  newest_only,         // only the newest pair is asked for
};

struct MistakeInfo {
  Mistake mistake;
  const char* name;     // "read-before-write": command line, URL and page
  const char* meaning;  // one sentence
};

const std::vector<MistakeInfo>& mistakes();
// Errors: an unknown name; the message lists those that are known.
Result<Mistake> find_mistake(std::string_view name);

using Mistakes = std::set<Mistake>;

// What a check's number is, and so how its verdict and its reproducible digits are read.
enum class CheckKind {
  value,     // |got - expected| <= tolerance; ten significant digits of got are the same on every target
  residual,  // a difference that should be 0: got <= tolerance; its size is rounding noise and differs by target
  exact,     // got == expected, bit for bit
  stated,    // a condition on got, written in `condition`
};

struct Check {
  std::string quantity;  // what was measured: "old key reads, value 0"
  CheckKind kind = CheckKind::value;
  double expected = 0;
  double got = 0;
  double error = 0;      // |got - expected|, relative where `relative`
  double tolerance = 0;
  bool relative = false;
  bool pass = false;
  std::string unit;       // of expected, got, error and tolerance: "MiB", "bytes"; empty for a pure number
  std::string condition;  // CheckKind::stated: "> 0 and < 1e-5"
  std::string digits;     // equal on every target: ten significant digits, or the verdict where got is noise
};

struct ClaimResult {
  std::string id;
  bool pass = false;
  std::vector<Check> checks;
};

struct Claim {
  const char* id;         // "LM08"
  const char* room;       // "delta_rule"
  const char* statement;  // one English sentence
  const char* source;     // paper, or the place in the notes' argument
  const char* inputs;     // how to make the inputs oneself: "rng = default_rng(7); q = rng.normal(size=(8,4)); ..."
  std::vector<Mistake> mistakes;  // those that change this claim
  std::vector<Check> (*run)(const Mistakes& mistakes);
};

const std::vector<Claim>& claims();
// Errors: an unknown id.
Result<const Claim*> find_claim(std::string_view id);
// Passes when every check does. Mistakes that the claim does not list leave it standing.
ClaimResult run_claim(const Claim& claim, const Mistakes& mistakes = {});

}  // namespace linearmem
