// A file layer for SQLite that keeps a list of everything written through it, and can refuse the n-th step. From the list every state
// that a crash may leave on disk can be put together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace linearmem::test {

enum class StepKind { write, truncate, sync, remove };

struct Step {
  StepKind kind;
  std::string file;  // its whole path
  std::int64_t offset = 0;
  std::string bytes = {};  // of a write
};

// The files of a crash, by path; a file that is not listed does not exist.
using DiskState = std::map<std::string, std::string>;

class RecordingVfs {
 public:
  static constexpr const char* kName = "recording";

  static RecordingVfs& instance();  // registered when first asked for

  void start();  // forgets all steps and faults
  const std::vector<Step>& steps() const { return steps_; }

  // Step `at`, counted from 0, fails with the SQLite code; all from there on where `lasting`. -1: none.
  void fail(std::int64_t at, int write_code, int sync_code, bool lasting);
  bool failed() const { return failed_; }

  int take(Step step);  // SQLITE_OK: go on and do it

 private:
  RecordingVfs();
  std::vector<Step> steps_;
  std::int64_t fail_at_ = -1;
  int write_code_ = 0, sync_code_ = 0;
  bool lasting_ = false, failed_ = false;
};

// Of the first `count` steps those whose effect no later sync of their file has made certain; syncs themselves left out.
std::vector<std::size_t> uncertain(const std::vector<Step>& steps, std::size_t count);

// What is on disk after the first `count` steps when of those that no sync has made certain only the chosen ones have reached it.
// before: the files as they were. reached(i): has step i?
template <typename Reached>
DiskState disk_after(const DiskState& before, const std::vector<Step>& steps, std::size_t count, Reached reached) {
  std::map<std::string, std::size_t> synced;  // by file: steps before this one are certain
  for (std::size_t i = 0; i < count; ++i)
    if (steps[i].kind == StepKind::sync) synced[steps[i].file] = i;
  DiskState disk = before;
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = steps[i];
    const auto certain = synced.find(step.file);
    if (step.kind == StepKind::sync || !((certain != synced.end() && i < certain->second) || reached(i))) continue;
    if (step.kind == StepKind::remove) {
      disk.erase(step.file);
      continue;
    }
    std::string& file = disk[step.file];
    if (step.kind == StepKind::truncate) file.resize(static_cast<std::size_t>(step.offset));
    else {
      const auto end = static_cast<std::size_t>(step.offset) + step.bytes.size();
      if (file.size() < end) file.resize(end);
      file.replace(static_cast<std::size_t>(step.offset), step.bytes.size(), step.bytes);
    }
  }
  return disk;
}

}  // namespace linearmem::test
