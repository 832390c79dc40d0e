// PATH.mark: who holds it locked is the writer. It names the last acknowledged change, so that a store which was cut back, by a damaged
// log or an older copy in its place, is found out. Written after each change and not synced: it accuses, it never excuses.
#pragma once

#include <optional>
#include <string>

#include "truth.hpp"

namespace linearmem::store {

class Mark {
 public:
  // Errors: another process is writing (its number), a file that cannot be opened.
  static Result<Mark> lock(const std::string& path);
  Mark(Mark&& other) noexcept;
  Mark& operator=(Mark&&) = delete;
  ~Mark();

  void note(const State& state) const;  // a mark that cannot be written accuses nobody

  // The last acknowledged change that a sound mark tells of; to be read before the state it is held against.
  struct Acknowledged {
    std::int64_t generation;
    std::uint64_t digest;
  };
  static std::optional<Acknowledged> read(const std::string& path);

  // "PATH: holds generation 5, but 7 was acknowledged ...", where it is so.
  static Status check(const std::string& path, const std::optional<Acknowledged>& acknowledged, const State& state);

 private:
  explicit Mark(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace linearmem::store
