// A figure as a picture file, drawn by gnuplot.
#pragma once

#include <filesystem>

#include "linearmem/experiments.hpp"
#include "staged_file.hpp"

namespace linearmem::cli {

// SVG or PNG, by the ending of the target's name. Errors: another ending; the target cannot be written; gnuplot's own words.
Result<StagedFile> stage_picture(const Figure& figure, const std::filesystem::path& target);

}  // namespace linearmem::cli
