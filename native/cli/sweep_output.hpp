// A figure's numbers as text.
#pragma once

#include <string>

#include "linearmem/experiments.hpp"

namespace linearmem::cli {

std::string figure_json(const Experiment& experiment, const Settings& settings, const Figure& figure);  // settings: those that were set
std::string figure_csv(const Figure& figure);

}  // namespace linearmem::cli
