// Which forms a door has, and whether a chunk length goes with the one asked for.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "linearmem/form.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

// Form::automatic is always allowed. A chunk other than 0 needs Form::chunked and at least one token.
Status check_form(const char* door, Form form, std::int64_t chunk, std::initializer_list<Form> has);

}  // namespace linearmem
