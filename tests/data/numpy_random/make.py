#!/usr/bin/env python3
"""Prints what NumPy draws, as a C++ header: /usr/bin/python3 make.py > expected.hpp

`make.py tables` prints core/foundation/random_ziggurat.hpp instead, from the constants inside NumPy's own library.
"""
import bisect
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

MASK = 2**64 - 1
EDGE = 3.6541528853610088  # where the outermost ziggurat layer meets the tail
SEEDS = [0, 7, 20261021, 2**64 - 1, 0x0123456789ABCDEFFEDCBA9876543210, [1, 2, 3, 4, 5, 6, 7]]
LONG_DRAWS = 10_000_000
RANGES = [  # both ends included
    (5, 5), (0, 1), (0, 9), (-3, 3), (0, 2**16 - 1), (0, 2**31), (0, 3 * 2**30), (0, 2**32 - 2), (0, 2**32 - 1), (0, 2**32),
    (-(2**40), 2**40 - 1), (-5, 3 * 2**61), (0, 2**62 - 1), (0, 2**63 - 1), (-(2**62), 2**62), (-(2**63), 2**63 - 2),
    (-(2**63), 2**63 - 1)]
# Runs of arguments of log1p(-u), u = (start + i * step) 2^-53: all of [0, 1), then around the places where fdlibm changes formula.
LOG_RUNS = [
    (0, 2**32 + 12345, 2**20), (0, 1, 100), (1, 2**14 + 1, 20000), (2**32, 2**16 + 1, 20000),
    (int(0.2905 * 2**53), 2**31 + 1, 20000),
    (2**52 - 2**35, 2**22, 2**14), (3 * 2**51 - 2**35, 2**22, 2**14), (2**53 - 1000, 1, 1000)]


def bits(values):
    return np.ascontiguousarray(values).view(np.uint64)


def checksum(words):
    """sum of word[i] * (2 i + 1) mod 2^64: depends on every bit and on the order."""
    words = np.ascontiguousarray(words).view(np.uint64)
    weights = 2 * np.arange(words.size, dtype=np.uint64) + np.uint64(1)
    return int((words * weights).sum(dtype=np.uint64))


def ziggurat_tables():
    """wi, fi and ki out of the static library that NumPy installs for C users; 256 words of 8 bytes each."""
    archive = os.path.join(os.path.dirname(np.random.__file__), "lib", "libnpyrandom.a")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ar", "x", archive], cwd=folder, check=True)
        member = next(os.path.join(folder, name) for name in os.listdir(folder)
                      if "distributions" in name and "legacy" not in name)
        symbols = subprocess.run(["nm", member], check=True, capture_output=True, text=True).stdout.split("\n")
        start = {line.split()[2]: int(line.split()[0], 16) for line in symbols if line.count(" ") == 2 and "_double" in line}
        plain = os.path.join(folder, "rodata")
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", member, plain], check=True)
        with open(plain, "rb") as file:
            data = file.read()
    words = {name: np.frombuffer(data, np.uint64, 256, start[name + "_double"]) for name in ("wi", "fi", "ki")}
    return words["wi"].view(np.float64), words["fi"].view(np.float64), words["ki"]


def log_run(start, step, count):
    return np.array([math.log1p(-((start + i * step) * 2.0**-53)) for i in range(count)])


def rows(texts, per_row):
    return ",\n".join("    " + ", ".join(texts[i:i + per_row]) for i in range(0, len(texts), per_row))


def print_tables():
    wi, fi, ki = ziggurat_tables()
    print(f"""\
// The ziggurat of 256 layers of equal area under exp(-x^2/2), as data of NumPy (ziggurat_constants.h, BSD-3-Clause;
// copyright NumPy Developers). Printed by tests/data/numpy_random/make.py tables.
// Stored, not computed: they differ in their last bits from the construction (Marsaglia & Tsang 2000, Doornik 2005) carried
// out exactly, and a stream that equals NumPy's needs NumPy's.
#pragma once

#include <cstdint>

namespace linearmem {{

inline constexpr double ziggurat_edge = {EDGE.hex()};          // x where the tail begins, 3.6541528853610088
inline constexpr double ziggurat_inverse_edge = {0.27366123732975828.hex()};  // 1 / ziggurat_edge

// Width of layer i in units of 2^52 places: x = place * ziggurat_width[i].
inline constexpr double ziggurat_width[256] = {{
{rows([float(x).hex() for x in wi], 5)}}};

// exp(-x^2/2) at the outer end of layer i.
inline constexpr double ziggurat_density[256] = {{
{rows([float(x).hex() for x in fi], 5)}}};

// Places of layer i that lie under the curve whatever the height.
inline constexpr std::uint64_t ziggurat_inside[256] = {{
{rows([f"{int(x):#015x}" for x in ki], 8)}}};

}}  // namespace linearmem""")


def walk_ziggurat(seed, count):
    """How many of `count` draws go to a wedge and to the tail with their first word, and the words all draws consume."""
    wi, fi, ki = ziggurat_tables()
    values = np.random.default_rng(seed).standard_normal(count)
    bit_generator = np.random.PCG64(seed)
    raw = bit_generator.random_raw(count + count // 32)
    layer = (raw & np.uint64(0xFF)).astype(np.int64)
    place = raw >> np.uint64(9) & np.uint64(2**52 - 1)
    slow = np.flatnonzero(place >= ki[layer]).tolist()
    at = done = wedge = tail = all_tails = 0
    retry = False
    while True:
        next_slow = slow[bisect.bisect_left(slow, at)]
        if next_slow > at:  # fast draws up to there
            fast = min(next_slow - at, count - done)
            at, done, retry = at + fast, done + fast, False
        if done == count:
            break
        i = int(layer[at])
        if i == 0:
            tail, all_tails, retry, at = tail + (not retry), all_tails + 1, False, at + 1
            while True:
                x, y = (-math.log1p(-int(word >> np.uint64(11)) * 2.0**-53) for word in raw[at:at + 2])
                at += 2
                if y + y > (x / EDGE)**2:
                    break
            done += 1
        else:
            wedge += not retry
            x = float(place[at]) * wi[i]
            height = (fi[i - 1] - fi[i]) * (int(raw[at + 1] >> np.uint64(11)) * 2.0**-53) + fi[i]
            retry = not height < math.exp(-0.5 * x * x)
            done += not retry
            at += 2
    position = np.random.default_rng(seed)
    position.standard_normal(count)
    assert position.bit_generator.random_raw() == raw[at], "the walk went astray"
    assert all_tails == (np.abs(values) > EDGE).sum(), "the walk counted another tail"
    return {"wedge": wedge, "tail": tail, "beyond_edge": all_tails, "words": at}


def c_int(value):
    return "INT64_MIN" if value == -(2**63) else str(value)


def listed(kind, values):
    spell = {"bits": lambda v: f"{int(v):#x}u", "u": lambda v: f"{int(v):#x}u", "i": lambda v: c_int(int(v))}[kind]
    texts = [spell(v) for v in (bits(values) if kind == "bits" else values)]
    return "{" + ",\n       ".join(", ".join(texts[i:i + 5]) for i in range(0, len(texts), 5)) + "}"


def words_of(seed):
    if isinstance(seed, list):
        return seed
    return [seed >> shift & 0xFFFFFFFF for shift in range(0, max(seed.bit_length(), 1), 32)]


def interleaved(rng):
    """Calls of every kind in turn: the half word that a 32-bit draw leaves must outlive the 64-bit draws between."""
    out = []
    for turn in range(100):
        out += [float(rng.integers(0, 10)), rng.standard_normal(), float(rng.integers(0, 3 * 2**40)), rng.random()]
        out += [float(v) for v in rng.permutation(1 + turn % 4)]
    return np.array(out)


def print_case(seed):
    sequence = np.random.SeedSequence(seed)
    fresh = lambda: np.random.default_rng(seed)
    values = np.array([-7, 2**62, 0, 5, 11, 3, 3, -1], dtype=np.int64)
    shuffled = fresh()
    shuffled.shuffle(values)
    uniform, normal = fresh().uniform(-3.0, 5.5, 3), fresh().normal(2.0, 0.3, 3)
    print(f"""\
    {{.words = {listed("u", words_of(seed))},
     .state32 = {listed("u", sequence.generate_state(10))},
     .state64 = {listed("u", sequence.generate_state(4, np.uint64))},
     .next64 = {listed("u", fresh().bit_generator.random_raw(4))},
     .next32 = {listed("u", fresh().integers(0, 2**32, 5))},
     .random = {listed("bits", fresh().random(4))},
     .uniform = {listed("bits", uniform)},
     .normal = {listed("bits", normal)},
     .standard_normal = {listed("bits", fresh().standard_normal(6))},
     .permutation = {listed("i", fresh().permutation(12))},
     .permutation_checksum = {checksum(fresh().permutation(100000)):#x}u,
     .shuffled = {listed("i", values)},
     .normal_checksum = {checksum(fresh().standard_normal(500000)):#x}u,
     .random_checksum = {checksum(fresh().random(100000)):#x}u,
     .interleaved_checksum = {checksum(interleaved(fresh())):#x}u,
     .range_checksums = {listed("u", [checksum(fresh().integers(a, b, 1001, endpoint=True)) for a, b in RANGES])}}},""")


def print_expected():
    wi, fi, ki = ziggurat_tables()
    draws = np.random.default_rng(7).standard_normal(LONG_DRAWS)
    walk = walk_ziggurat(7, LONG_DRAWS)
    after = np.random.default_rng(7)
    after.standard_normal(LONG_DRAWS)
    print(f"""\
// Printed by make.py with NumPy {np.__version__}; see README.md.
#pragma once

#include <cstdint>
#include <vector>

namespace numpy_random {{

struct Case {{
  std::vector<std::uint32_t> words, state32;
  std::vector<std::uint64_t> state64, next64;
  std::vector<std::uint32_t> next32;
  std::vector<std::uint64_t> random, uniform, normal, standard_normal;
  std::vector<std::int64_t> permutation;
  std::uint64_t permutation_checksum;
  std::vector<std::int64_t> shuffled;
  std::uint64_t normal_checksum, random_checksum, interleaved_checksum;
  std::vector<std::uint64_t> range_checksums;
}};

struct Range {{
  std::int64_t first, last;
}};

inline const std::vector<Range> ranges = {{
{rows([f"{{{c_int(a)}, {c_int(b)}}}" for a, b in RANGES], 4)}}};

inline const std::vector<Case> cases = {{""")
    for seed in SEEDS:
        print_case(seed)
    print(f"""\
}};

// The {LONG_DRAWS} standard_normal draws of seed 7.
inline constexpr std::int64_t long_draws = {LONG_DRAWS};
inline constexpr std::uint64_t long_checksum = {checksum(draws):#x}u;
inline constexpr std::uint64_t long_next64 = {after.bit_generator.random_raw():#x}u;
inline constexpr std::int64_t long_first_word_in_wedge = {walk["wedge"]};
inline constexpr std::int64_t long_first_word_in_tail = {walk["tail"]};
inline constexpr std::int64_t long_beyond_edge = {walk["beyond_edge"]};
inline constexpr std::int64_t long_words_consumed = {walk["words"]};

inline constexpr std::uint64_t width_checksum = {checksum(wi):#x}u;
inline constexpr std::uint64_t density_checksum = {checksum(fi):#x}u;
inline constexpr std::uint64_t inside_checksum = {checksum(ki):#x}u;

// log1p(-u) of the C library NumPy calls, at u = (start + i step) 2^-53, i < count.
struct LogRun {{
  std::uint64_t start, step, count, checksum;
}};
inline constexpr LogRun log_runs[] = {{
{rows([f"{{{a:#x}u, {b:#x}u, {n}, {checksum(log_run(a, b, n)):#x}u}}" for a, b, n in LOG_RUNS], 2)}}};

}}  // namespace numpy_random""")


if __name__ == "__main__":
    print_tables() if sys.argv[1:] == ["tables"] else print_expected()
