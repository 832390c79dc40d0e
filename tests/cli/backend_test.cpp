// --backend, in a program without CUDA: what is not there is refused with the reason, and no file is written.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command.hpp"

namespace linearmem {
namespace {

constexpr const char* kNotBuilt = "backend cuda: not built; configure with the preset cuda, or with LINEARMEM_CUDA=ON, where nvcc is installed";

std::vector<std::string> run_words(const test::Folder& folder, const std::string& backend) {
  const std::string input = std::filesystem::path(LINEARMEM_CONFORMANCE) / "delta-rule-00.in.safetensors";
  return {"run", "delta-rule", "--input", input, "--output", folder / "out", "--dtype", "f32", "--backend", backend};
}

TEST(CliBackend, CudaIsRefusedWhereItIsNotBuilt) {
  const test::Folder folder;
  EXPECT_EQ(test::refused(run_words(folder, "cuda")), kNotBuilt);
  EXPECT_EQ(test::refused(run_words(folder, "cuda:1")), kNotBuilt);
  EXPECT_EQ(test::refused({"bench", "--backend", "cuda", "--rounds", "3"}), kNotBuilt);
  EXPECT_EQ(test::refused({"sweep", "responses", "--csv", "--backend", "cuda"}), kNotBuilt);
  EXPECT_TRUE(folder.files().empty());
}

TEST(CliBackend, AnUnknownBackendIsRefused) {
  const test::Folder folder;
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", ""}) {
    const std::string sentence = "--backend is \"" + std::string(name) + "\", must be processor, cuda or cuda:N, N from 0";
    EXPECT_EQ(test::refused(run_words(folder, name)), sentence);
    EXPECT_EQ(test::refused({"bench", "--backend", name}), sentence);
  }
}

TEST(CliBackend, TheProcessorIsWhereItRunsAnyway) {
  const test::Folder folder;
  EXPECT_EQ(test::linearmem(run_words(folder, "processor")).code, 0);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"out"});
}

TEST(CliBackend, TheBenchmarkOfADeviceHasFixedCases) {
  EXPECT_EQ(test::refused({"bench", "--backend", "cuda", "--heads", "4"}),
            "--heads does not go with --backend cuda, whose cases are fixed; --rounds does");
  EXPECT_EQ(test::refused({"bench", "knn", "--backend", "cuda"}), "MECHANISM does not go with --backend cuda, whose cases are fixed; --rounds does");
  EXPECT_EQ(test::refused({"bench", "--backend", "cuda", "--rounds", "0"}), "--rounds is 0, must be from 1 to 10000");
}

}  // namespace
}  // namespace linearmem
