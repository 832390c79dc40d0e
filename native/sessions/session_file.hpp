// Sessions in files: written whole or not at all (beside the target, synced, renamed), read straight into the states they become. The
// format is that of core/sessions/README.md.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "linearmem/session.hpp"
#include "staged_file.hpp"

namespace linearmem {

// Errors: those of Sessions::save; a file that cannot be written, and then whatever stood there before still does.
template <typename T>
Status save_session(const Sessions<T>& sessions, std::span<const SavedRequest> requests, const std::filesystem::path& file);

// The same, written and synced but not yet in its place: for more files than one that belong together.
template <typename T>
Result<StagedFile> stage_session(const Sessions<T>& sessions, std::span<const SavedRequest> requests, const std::filesystem::path& file);

// The ids in the file. Errors: those of Sessions::saved_ids; a file that cannot be read.
template <typename T>
Result<std::vector<std::int64_t>> session_ids(const Sessions<T>& sessions, const std::filesystem::path& file);

// Errors: those of Sessions::load; a file that cannot be read, or that becomes shorter meanwhile.
template <typename T>
Result<std::vector<SavedRequest>> load_session(Sessions<T>& sessions, const std::filesystem::path& file, std::optional<std::int64_t> only = {});

}  // namespace linearmem
