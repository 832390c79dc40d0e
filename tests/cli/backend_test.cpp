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

TEST(CliBackend, BFloatIsAskedForTogetherWithWhatItChanges) {
  const test::Folder folder;
  const auto refused = [&](const std::string& backend, const std::string& form, const std::string& precision) {
    std::vector<std::string> words = run_words(folder, backend);
    words.insert(words.end(), {"--form", form, "--precision", precision});
    return test::refused(words);
  };
  const std::string start = "--precision bf16 is of --form chunked on --backend cuda; ";
  EXPECT_EQ(refused("processor", "chunked", "bf16"), start + "--form is chunked, --backend is processor");
  EXPECT_EQ(refused("cuda", "automatic", "bf16"), start + "--form is automatic, --backend is cuda");
  EXPECT_EQ(refused("cuda", "chunked", "half"), "--precision is \"half\", must be f32 or bf16");
  EXPECT_EQ(refused("gpu", "chunked", "bf16"), "--backend is \"gpu\", must be processor, cuda or cuda:N, N from 0");
  EXPECT_EQ(refused("cuda", "chunked", "bf16"), kNotBuilt);
  EXPECT_TRUE(folder.files().empty());
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
