// Tasks that ask a sequence memory for what it has seen: seeded batches of tokens, and the right answer wherever one is asked for.
//
//   associative recall   k1 v1 .. kN vN q             one key again; its value
//   multi-query recall   k1 v1 .. kN vN 0 q 0 0 q ..  every key again, soon or late; its value (MQAR)
//   key conflict         k v k' v' k v'' .. q q'      keys that were written several times; the newest value
//   copy                 x1 .. xn > 0 .. 0            the symbols, in order
//   selective copy       0 x1 0 0 x2 .. > 0 .. 0      the same, picked out of blanks
//   count                x1 .. xn q q' ..             how often each symbol came
//   mean                 k1 n1 .. kn nn q q' ..       the mean of the numbers that came with each key
//
// The answer stands at the position of the token that asks for it. Nothing collides: what a row tells apart it draws without
// replacement, and keys, values, symbols and signs are different tokens. Token 0 is a blank, except where there is none.
// Sources: Ba et al. 2016 and Graves, Wayne & Danihelka 2014 (recall, copy); Arora et al. 2024, "Zoology" (MQAR); Jing et al. 2019 and
// Gu & Dao 2023, "Mamba" (selective copy).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

inline constexpr std::int64_t kNoLabel = -100;  // what losses in training code ignore

// B rows, T tokens.
struct TaskBatch {
  Tensor<std::int64_t, 2> tokens;  // [B,T]
  Tensor<std::int64_t, 2> labels;  // [B,T], the answer: a token, or a whole number in count and mean; kNoLabel where nothing is asked
  Tensor<std::uint8_t, 2> mask;    // [B,T], 1 where there is a label
  Tensor<double, 2> answers = {};  // [B,T] in count and mean, the answer before it is rounded, 0 where nothing is asked; otherwise empty
  Tensor<double, 2> key_vectors = {};  // [keys,K] in key conflict, unit vectors of the key tokens 1, 2, ..; otherwise empty
};

// FNV-1a, 64 bits, as 16 hexadecimal digits, over the bytes of tokens, labels, mask, answers and key_vectors in this order, each packed
// and little endian. In Python: h = 0xcbf29ce484222325, and h = (h ^ byte) * 0x100000001b3 % 2**64 for each byte.
std::string task_digest(const TaskBatch& batch);

// Every task draws from numpy.random.default_rng(seed), row after row.
// Tokens: keys 1 .. key_vocabulary, then as many values as value_vocabulary says.
struct AssociativeRecallTask {
  std::int64_t rows = 32, pairs = 8, key_vocabulary = 64, value_vocabulary = 64;  // T = 2 pairs + 1
  std::uint64_t seed = 1;
};

// After the pairs come slots of two tokens, s = 1, 2, ..; each key is asked for in a slot of its own, drawn without replacement
// with weights s^(power-1): 1 is even, towards 0 most questions come early and some very late.
struct MultiQueryRecallTask {
  std::int64_t rows = 32, pairs = 8, length = 64, key_vocabulary = 64, value_vocabulary = 64;  // T = length, at least 4 pairs
  double power = 0.01;                                                                        // above 0, at most 1
  std::uint64_t seed = 1;
};

// `keys` keys, each written `rewrites` times with values of its own, in random order; then each is asked for. Keys come in couples of
// tokens (1,2), (3,4), .. whose vectors have inner product rho; both of a couple are in a row.
struct KeyConflictTask {
  std::int64_t rows = 32, keys = 8, rewrites = 2, key_vocabulary = 64, value_vocabulary = 64;  // T = 2 keys rewrites + keys
  double rho = 0.5;                                                                            // in [-1,1]
  std::int64_t key_width = 32;                                                                 // K, at least 2
  std::uint64_t seed = 1;
};

// Token 1 says that the answer begins; symbols from 2 on, drawn with replacement. span tokens hold the symbols, of which the rest
// are blank; copy has no blanks: its span is symbols.
struct CopyTask {
  std::int64_t rows = 32, symbols = 16, span = 16, vocabulary = 16;  // T = span + 1 + symbols
  std::uint64_t seed = 1;
};

enum class Aggregate { count, mean };

// count: items tokens out of the keys, then every key. mean: items pairs of a key and a number 0 .. largest, token 1 + keys + number,
// each key at least once; then every key. Keys are tokens 1 .. keys. A mean's label is the nearest whole number, of two the even one.
struct AggregationTask {
  Aggregate aggregate = Aggregate::count;
  std::int64_t rows = 32, items = 64, keys = 8, largest = 9;  // T = items + keys, or 2 items + keys
  std::uint64_t seed = 1;
};

// Errors: a number below its least, more pairs, keys or values than their vocabulary has, a length or span too short, a power or rho out
// of range, a batch that cannot be addressed; each names both numbers.
Result<TaskBatch> make_task(const AssociativeRecallTask& task);
Result<TaskBatch> make_task(const MultiQueryRecallTask& task);
Result<TaskBatch> make_task(const KeyConflictTask& task);
Result<TaskBatch> make_task(const CopyTask& task);
Result<TaskBatch> make_task(const AggregationTask& task);

// The tasks by name, for the command line.
struct TaskSetting {
  const char* name;
  const char* meaning;
  double default_value, minimum, maximum;
  bool whole = true;
};

using TaskSettings = std::map<std::string, double>;

struct RecallTask {
  const char* name;    // "multi-query-recall"
  const char* layout;  // "k1 v1 .. kN vN 0 q 0 0 q .."
  std::vector<TaskSetting> settings;
  Result<TaskBatch> (*make)(const TaskSettings& settings);  // every setting present and within its limits
};

const std::vector<RecallTask>& recall_tasks();
// Errors: an unknown name; the message lists those that are known.
Result<const RecallTask*> find_recall_task(std::string_view name);

// Fills in defaults. Errors: unknown names, settings outside their limits, and those above.
Result<TaskBatch> make_recall_task(std::string_view name, const TaskSettings& settings);

}  // namespace linearmem
