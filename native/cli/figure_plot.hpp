// A figure as a gnuplot script: data inside, one colour and line style per memory, each line's label at its end.
#pragma once

#include <filesystem>
#include <string>

#include "linearmem/experiments.hpp"

namespace linearmem::cli {

enum class Picture { svg, png };

std::string gnuplot_script(const Figure& figure, Picture picture, const std::filesystem::path& output);

}  // namespace linearmem::cli
