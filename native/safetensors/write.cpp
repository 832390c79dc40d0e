#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "header.hpp"
#include "linearmem/tensor.hpp"
#include "safetensors.hpp"
#include "staged_file.hpp"

namespace linearmem {
namespace {

using Entry = std::pair<const std::string, NamedTensor>;

Status check_tensor(const Entry& entry) {
  const auto& [name, tensor] = entry;
  if (name == "__metadata__") return Status::invalid("the tensor name \"__metadata__\" is reserved");
  const auto bytes =
      checked_bytes("tensor " + shown(name), tensor.shape.data(), static_cast<int>(tensor.shape.size()), dtype_bytes(tensor.dtype));
  if (!bytes.ok()) return bytes.status();
  if (static_cast<std::uint64_t>(bytes.value()) != tensor.bytes.size())
    return Status::invalid("tensor " + shown(name) + " needs " + std::to_string(bytes.value()) + " bytes for its shape, it has " +
                           std::to_string(tensor.bytes.size()));
  return {};
}

// Widest elements first: with a header that ends on a multiple of 8, every tensor is then aligned for its type.
std::vector<const Entry*> file_order(const NamedTensors& tensors) {
  std::vector<const Entry*> order;
  for (const Entry& entry : tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(),
                   [](const Entry* a, const Entry* b) { return dtype_bytes(a->second.dtype) > dtype_bytes(b->second.dtype); });
  return order;
}

Result<std::string> header_text(const std::vector<const Entry*>& order, const std::filesystem::path& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t offset = 0;
  for (const Entry* entry : order) {
    const NamedTensor& tensor = entry->second;
    header[entry->first] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
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
  return text;
}

std::string length_prefix(std::uint64_t length) {
  std::string prefix;
  for (int byte = 0; byte < 8; ++byte) prefix += static_cast<char>(length >> (8 * byte) & 0xff);
  return prefix;
}

}  // namespace

Status write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors) {
  for (const Entry& entry : tensors)
    if (Status status = check_tensor(entry); !status.ok()) return Status(status.code(), file.string() + ": " + status.message());
  const std::vector<const Entry*> order = file_order(tensors);
  const auto header = header_text(order, file);
  if (!header.ok()) return header.status();
  auto staged = StagedFile::create(file);
  if (!staged.ok()) return staged.status();
  if (Status status = staged.value().append(length_prefix(header.value().size()) + header.value()); !status.ok()) return status;
  for (const Entry* entry : order)
    if (Status status = staged.value().append(std::span<const std::byte>(entry->second.bytes)); !status.ok()) return status;
  return staged.value().commit();
}

}  // namespace linearmem
