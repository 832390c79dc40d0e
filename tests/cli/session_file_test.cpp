// Session files: there and back, whole or not at all, and every kind of file that is not one refused by name.
#include "session_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "cli/command.hpp"
#include "core/session_driver.hpp"

namespace linearmem {
namespace {

using test::Feed;
using test::Folder;
using test::must;
using test::read_file;
using test::equal_bits;
using test::SessionDriver;
using test::write_file;

TEST(SessionFile, GoesOnAfterAStopAsIfThereHadBeenNone) {
  Folder folder;
  SessionDriver<double> here({.requests = 2});
  std::vector<SavedRequest> saved = {{7, must(here->open())}, {8, must(here->open())}};
  here.run({{saved[0].request, 1, 0, 6}, {saved[1].request, 2, 0, 1}});
  must(save_session(*here, saved, folder / "kept"));
  EXPECT_EQ(folder.files(), std::vector<std::string>{"kept"});
  EXPECT_EQ(static_cast<std::int64_t>(read_file(folder / "kept").size()), must(here->saved_bytes(2)));
  SessionDriver<double> all({.requests = 2}), one({.requests = 1});
  const auto loaded = must(load_session(*all, folder / "kept")), single = must(load_session(*one, folder / "kept", 7));
  ASSERT_TRUE(loaded.size() == 2 && single.size() == 1);
  const auto expected = here.run(Feed{saved[0].request, 1, 6, 9});
  EXPECT_TRUE(equal_bits(all.run(Feed{loaded[0].request, 1, 6, 9}), expected));
  EXPECT_TRUE(equal_bits(one.run(Feed{single[0].request, 1, 6, 9}), expected));
  EXPECT_TRUE(equal_bits(all.state(loaded[1].request), here.state(saved[1].request)));
}

TEST(SessionFile, AFileThatCannotBeFinishedLeavesTheOldOne) {
  Folder folder;
  SessionDriver<float> driver({.requests = 2});
  const std::vector<SavedRequest> saved = {{1, must(driver->open())}};
  must(save_session(*driver, saved, folder / "kept"));
  const std::string before = read_file(folder / "kept");
  must(driver.step({saved[0].request}));
  rlimit limit{}, small{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  small = limit;
  small.rlim_cur = before.size() / 2;
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = save_session(*driver, saved, folder / "kept");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, ignored);
  EXPECT_NE(status.message().find("kept: cannot write it: File too large"), std::string::npos) << status.message();
  EXPECT_EQ(read_file(folder / "kept"), before);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"kept"});
  EXPECT_FALSE(save_session(*driver, std::vector<SavedRequest>{{1, {9, 9}}}, folder / "none").ok());
  EXPECT_EQ(folder.files(), std::vector<std::string>{"kept"});
}

TEST(SessionFile, WhatIsNoWholeSessionIsRefusedByName) {
  Folder folder;
  SessionDriver<float> driver({.requests = 2});
  const std::vector<SavedRequest> saved = {{1, must(driver->open())}};
  must(save_session(*driver, saved, folder / "kept"));
  const std::string whole = read_file(folder / "kept");
  const auto refusal = [&](const std::string& name) {
    const std::string text = load_session(*driver, folder / name).status().message();
    EXPECT_EQ(text.rfind((folder / name).string() + ": ", 0), 0u) << text;
    EXPECT_EQ(driver->open_requests(), 1);
    return text.substr(std::min(text.size(), (folder / name).string().size() + 2));
  };
  EXPECT_EQ(refusal("missing"), "cannot open it: No such file or directory");
  EXPECT_EQ(refusal(""), "is not a regular file");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal("pipe"), "is not a regular file");
  write_file(folder / "empty", "");
  EXPECT_EQ(refusal("empty"), "offset 0: ends within the head of 56 bytes");
  for (std::size_t size : {std::size_t{1}, std::size_t{55}, std::size_t{56}, whole.size() / 2, whole.size() - 1}) {
    write_file(folder / "short", whole.substr(0, size));
    EXPECT_EQ(refusal("short").rfind("offset " + std::to_string(size) + ": ", 0), 0u) << size;
  }
  for (std::size_t at = 3; at < whole.size(); at += 41) {  // every byte of one: in core/session_saved_test.cpp
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    write_file(folder / "flipped", flipped);
    ASSERT_EQ(refusal("flipped").rfind("offset ", 0), 0u) << at;
  }
  std::filesystem::resize_file(folder / "kept", std::uintmax_t{1} << 40);  // a hole: nothing is allocated by its size
  EXPECT_NE(refusal("kept").find("has 1099511627776 bytes; its head says " + std::to_string(whole.size())), std::string::npos);
}

}  // namespace
}  // namespace linearmem
