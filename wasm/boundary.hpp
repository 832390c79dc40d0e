// The border to JavaScript: everything that crosses it is a copy, and every refusal becomes a JavaScript Error with its text.
#pragma once

#include <emscripten.h>
#include <emscripten/val.h>

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem::wasm {

using emscripten::val;

// Throws a real Error; never returns. Defined in boundary.cpp.
extern "C" void linearmem_throw_error(const char* message);

// Runs body() -> Result<val>; no C++ exception leaves the module.
template <typename Body>
val guarded(Body body) {
  std::string message;
  try {
    Result<val> result = body();
    if (result.ok()) return std::move(result).value();
    message = result.status().message();
  } catch (const std::bad_alloc&) {
    message = "out of memory: the module may hold at most 1 GiB; use smaller sizes";
  } catch (const std::exception& failure) {
    message = failure.what();
  }
  linearmem_throw_error(message.c_str());
  return val::undefined();
}

template <typename Items, typename ToVal>
val to_array(const Items& items, ToVal to_val) {
  val array = val::array();
  int index = 0;
  for (const auto& item : items) array.set(index++, to_val(item));
  return array;
}

inline val text(std::string_view words) { return val(std::string(words)); }
inline val text_array(const std::vector<const char*>& items) {
  return to_array(items, [](const char* item) { return text(item); });
}

// A new typed array of the named class over a copy of the bytes.
val typed_array(const char* class_name, const void* bytes, std::size_t byte_count);

// The bytes of any typed array.
std::vector<std::byte> bytes_of(const val& array);

// The own keys of an object.
std::vector<std::string> keys_of(const val& object);

}  // namespace linearmem::wasm
