// A processor with SSE2 alone must be able to run everything outside the per-target namespaces. A function that both baseline and target
// code instantiate (std::vector's members, a lambda's wrapper) is emitted once, by whichever object the linker meets first: compiled with
// wider instructions it kills the program on older processors. So only functions inside linearmem::N_AVX2 and its like may hold them.
#include <gtest/gtest.h>
#include <stdio.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

// The target whose namespace a function is declared in, from its mangled name: "N_AVX2" of _ZN9linearmem6N_AVX2...; "" for any other
// function, those that only mention such a type among their template arguments included.
std::string target_of(std::string_view function) {
  if (function.substr(0, 2) != "_Z") return "";
  std::size_t at = 2;
  while (at < function.size() && function[at] == 'Z') ++at;  // something local to a function
  if (at >= function.size() || function[at++] != 'N') return "";
  while (at < function.size() && std::string_view("rVKRO").find(function[at]) != std::string_view::npos) ++at;
  for (const std::string_view library : {"9linearmem", "3hwy"}) {
    if (function.substr(at, library.size()) != library) continue;
    const std::string rest(function.substr(at + library.size()));
    std::size_t digits = 0;
    const std::size_t length = rest.empty() || rest[0] < '0' || rest[0] > '9' ? 0 : std::stoul(rest, &digits);
    const std::string name = rest.substr(digits, length);
    if (name.substr(0, 2) == "N_") return name;
  }
  return "";
}

// Instructions of SSE3 to SSE4.2 and the few others past the baseline that do not start with v.
const std::set<std::string> kPastBaseline = {
    "addsubpd", "addsubps", "haddpd",   "haddps",   "hsubpd",   "hsubps",   "lddqu",    "movddup",  "movshdup", "movsldup", "pshufb",
    "phaddw",   "phaddd",   "phaddsw",  "phsubw",   "phsubd",   "phsubsw",  "pmaddubsw", "pmulhrsw", "psignb",   "psignw",   "psignd",
    "pabsb",    "pabsw",    "pabsd",    "palignr",  "pmulld",   "pmuldq",   "dppd",     "dpps",     "blendpd",  "blendps",  "blendvpd",
    "blendvps", "pblendw",  "pblendvb", "pminsb",   "pmaxsb",   "pminuw",   "pmaxuw",   "pminud",   "pmaxud",   "pminsd",   "pmaxsd",
    "roundps",  "roundpd",  "roundss",  "roundsd",  "insertps", "pinsrb",   "pinsrd",   "pinsrq",   "extractps", "pextrb",   "pextrd",
    "pextrq",   "pmovsxbw", "pmovsxbd", "pmovsxbq", "pmovsxwd", "pmovsxwq", "pmovsxdq", "pmovzxbw", "pmovzxbd", "pmovzxbq", "pmovzxwd",
    "pmovzxwq", "pmovzxdq", "ptest",    "pcmpeqq",  "pcmpgtq",  "packusdw", "movntdqa", "mpsadbw",  "phminposuw", "pcmpistri", "pcmpistrm",
    "pcmpestri", "pcmpestrm", "crc32",  "popcnt",   "lzcnt",    "andn",     "bextr",    "blsi",     "blsmsk",   "blsr",     "bzhi",
    "mulx",     "pdep",     "pext",     "rorx",     "sarx",     "shlx",     "shrx"};

bool past_baseline(const std::string& instruction) {
  const std::string name = instruction.substr(0, instruction.find_first_of(" \t"));
  const bool mask = name[0] == 'k' && instruction.find("%k") != std::string::npos;
  return name[0] == 'v' || mask || kPastBaseline.count(name) > 0 || instruction.find("%ymm") != std::string::npos ||
         instruction.find("%zmm") != std::string::npos;
}

struct Findings {
  std::map<std::string, int> functions, instructions;  // by target; "" is the baseline
  std::vector<std::string> leaks;                       // "function: instruction" outside every target, the first of each function
};

// Reads objdump's listing line by line: "0000000000000040 <function>:" and "  44:<tab>instruction".
class Listing {
 public:
  void line(const std::string& text) {
    const std::size_t open = text.find(" <"), tab = text.find(":\t");
    if (tab != std::string::npos) return instruction(text.substr(tab + 2));
    if (open == std::string::npos || text.size() < 2 || text.substr(text.size() - 2) != ">:") return;
    function_ = text.substr(open + 2, text.size() - open - 4);
    target_ = target_of(function_);
    leaked_ = false;
    ++findings_.functions[target_];
  }
  const Findings& findings() const { return findings_; }

 private:
  void instruction(const std::string& text) {
    if (!past_baseline(text)) return;
    ++findings_.instructions[target_];
    if (target_.empty() && !leaked_) findings_.leaks.push_back(function_ + ": " + text);
    leaked_ = true;
  }

  std::string function_, target_;
  bool leaked_ = false;
  Findings findings_;
};

Findings findings_of(const std::string& listing) {
  Listing reader;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) reader.line(line);
  return reader.findings();
}

Findings library_findings() {
  Listing reader;
  FILE* listing = ::popen(LINEARMEM_DISASSEMBLE, "r");
  if (!listing) return {};
  std::string line;
  for (int c = std::fgetc(listing); c != EOF; c = std::fgetc(listing)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    reader.line(line);
    line.clear();
  }
  EXPECT_EQ(::pclose(listing), 0) << LINEARMEM_DISASSEMBLE;
  return reader.findings();
}

TEST(BaselineCode, TheLibraryHoldsNoWiderInstructionsOutsideItsTargets) {
  Findings found = library_findings();
  for (const std::string& leak : found.leaks) ADD_FAILURE() << leak;
  EXPECT_EQ(found.instructions[""], 0);
  // The search does see: the kernels themselves are full of what it looks for.
  EXPECT_GT(found.functions[""], 500);
  for (const char* target : {"N_AVX2", "N_AVX3", "N_SSE4"}) {
    EXPECT_GT(found.functions[target], 20) << target;
    EXPECT_GT(found.instructions[target], 0) << target;
  }
}

TEST(BaselineCode, ALeakInAnyOtherFunctionIsFound) {
  const char* elsewhere[] = {"_ZNSt6vectorIfSaIfEE17_M_realloc_insertIJRKfEEEvN9__gnu_cxx17__normal_iteratorIPfS1_EEDpOT_",
                             "_ZN9linearmem10delta_ruleERKNS_18DeltaRuleArgumentsIfEE",
                             "_ZNSt17_Function_handlerIFvvEN9linearmem6N_AVX2UlvE_EE9_M_invokeERKSt9_Any_data",
                             "_ZN9linearmem5delta12kernel_blockERKNS0_11KernelBlockIfEE.cold", "main"};
  for (const char* function : elsewhere)
    for (const char* instruction : {"vmovups (%rdi),%xmm0", "vfmadd231ps %zmm1,%zmm2,%zmm3", "vzeroupper", "kmovw  %eax,%k1", "pmulld %xmm0,%xmm1",
                                    "shlx   %rax,%rbx,%rcx", "roundsd $0x9,%xmm0,%xmm0"}) {
      const Findings found =
          findings_of("0000000000000040 <" + std::string(function) + ">:\n  40:\tmov    %rdi,%rax\n  44:\t" + instruction + "\n");
      ASSERT_EQ(found.leaks.size(), 1u) << function << " " << instruction;
      EXPECT_EQ(found.leaks[0], std::string(function) + ": " + instruction);
    }
}

TEST(BaselineCode, WhatATargetOwnsAndWhatTheBaselineMayDoIsNotALeak) {
  for (const char* function : {"_ZN9linearmem6N_AVX210tile_blockIfLi4ELb0ELb0EEEvRKNS_5delta11KernelBlockIT_EEPS4_ll",
                               "_ZZN9linearmem6N_AVX39all_tilesIfEEvRKNS_5delta11KernelBlockIT_EEENKUlillllE_clEillll",
                               "_ZN9linearmem6N_AVX2L8BlockF64ERKNS_5delta11KernelBlockIdEE", "_ZN3hwy6N_AVX23SumEv"})
    EXPECT_TRUE(findings_of("0000000000000040 <" + std::string(function) + ">:\n  40:\tvmovups (%rdi),%ymm0\n").leaks.empty()) << function;
  EXPECT_TRUE(findings_of("0000000000000040 <main>:\n  40:\tmovups (%rdi),%xmm0\n  44:\ttzcnt  %rax,%rcx\n  48:\tcall   50 <vfork@plt>\n")
                  .leaks.empty());
}

}  // namespace
