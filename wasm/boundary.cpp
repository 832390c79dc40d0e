#include "boundary.hpp"

#include <emscripten/bind.h>

EM_JS(void, linearmem_throw_error, (const char* message), { throw new Error(UTF8ToString(message)); });

namespace linearmem::wasm {

val typed_array(const char* class_name, const void* bytes, std::size_t byte_count) {
  const auto view = emscripten::typed_memory_view(byte_count, static_cast<const unsigned char*>(bytes));
  return val::global(class_name).new_(val(view).call<val>("slice")["buffer"]);
}

std::vector<std::byte> bytes_of(const val& array) {
  const val source = val::global("Uint8Array").new_(array["buffer"], array["byteOffset"], array["byteLength"]);
  std::vector<std::byte> bytes(source["length"].as<std::size_t>());
  const auto target = emscripten::typed_memory_view(bytes.size(), reinterpret_cast<unsigned char*>(bytes.data()));
  val(target).call<void>("set", source);
  return bytes;
}

std::vector<std::string> keys_of(const val& object) {
  const val keys = val::global("Object").call<val>("keys", object);
  std::vector<std::string> names;
  const int count = keys["length"].as<int>();
  for (int index = 0; index < count; ++index) names.push_back(keys[index].as<std::string>());
  return names;
}

}  // namespace linearmem::wasm
