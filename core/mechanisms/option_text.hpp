// Options arrive as text from a command line, a URL or a page. The registry fills in every default and checks every
// value with check_option before a mechanism runs; after that the readers below cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "linearmem/mechanisms.hpp"

namespace linearmem {

// "takes a whole number, got \"4.5\"", or ok. "none" passes where the default is "none".
Status check_option(const OptionSpec& spec, const std::string& text);

// The value of a checked option; nullopt where it is "none".
std::optional<double> option_number(const RunSettings& settings, const char* name);
std::optional<std::int64_t> option_integer(const RunSettings& settings, const char* name);
bool option_boolean(const RunSettings& settings, const char* name);
std::string option_choice(const RunSettings& settings, const char* name);

}  // namespace linearmem
