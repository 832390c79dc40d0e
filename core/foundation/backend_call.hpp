// How a door hands checked arguments to the backend they name.
#pragma once

#include <string>

#include "linearmem/backend.hpp"

namespace linearmem {

template <template <typename> typename Arguments>
Status run_on_backend(const char*, const Arguments<float>& arguments) {
  return arguments.backend->run(arguments);
}

template <template <typename> typename Arguments>
Status run_on_backend(const char* door, const Arguments<double>& arguments) {
  return Status::unavailable(std::string(door) + ": backend " + std::string(arguments.backend->name()) +
                             " computes in float32, the arguments are float64");
}

}  // namespace linearmem
