#include "layout.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "header.hpp"
#include "linearmem/tensor.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

using Entry = std::pair<const std::string, TensorShape>;

Result<std::uint64_t> bytes_of(const Entry& entry, const std::filesystem::path& file) {
  const auto& [name, tensor] = entry;
  if (name == "__metadata__") return Status::invalid(file.string() + ": the tensor name \"__metadata__\" is reserved");
  const auto bytes =
      checked_bytes("tensor " + shown(name), tensor.shape.data(), static_cast<int>(tensor.shape.size()), dtype_bytes(tensor.dtype));
  if (!bytes.ok()) return Status(bytes.status().code(), file.string() + ": " + bytes.status().message());
  return static_cast<std::uint64_t>(bytes.value());
}

// Widest elements first: with a header that ends on a multiple of 8, every tensor is then aligned for its type.
std::vector<const Entry*> file_order(const std::map<std::string, TensorShape>& tensors) {
  std::vector<const Entry*> order;
  for (const Entry& entry : tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(),
                   [](const Entry* a, const Entry* b) { return dtype_bytes(a->second.dtype) > dtype_bytes(b->second.dtype); });
  return order;
}

std::string length_prefix(std::uint64_t length) {
  std::string prefix;
  for (int byte = 0; byte < 8; ++byte) prefix += static_cast<char>(length >> (8 * byte) & 0xff);
  return prefix;
}

}  // namespace

Result<SafetensorsLayout> safetensors_layout(const std::filesystem::path& file, const std::map<std::string, TensorShape>& tensors) {
  SafetensorsLayout layout;
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t offset = 0;
  for (const Entry* entry : file_order(tensors)) {
    const auto bytes = bytes_of(*entry, file);
    if (!bytes.ok()) return bytes.status();
    const auto& [name, tensor] = *entry;
    header[name] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes.value()}}};
    layout.places.push_back({name, offset, offset + bytes.value()});
    offset += bytes.value();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    return Status::invalid(file.string() + ": a tensor name is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kLongestSafetensorsHeader)
    return Status::invalid(file.string() + ": the header would have " + std::to_string(text.size()) + " bytes");
  layout.head = length_prefix(text.size()) + text;
  return layout;
}

}  // namespace linearmem
