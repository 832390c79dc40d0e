#include "checkpoint.hpp"

#include <fstream>
#include <optional>
#include <vector>

#include "header.hpp"
#include "safetensors_file.hpp"

namespace linearmem {
namespace {

// What is left of a name behind the prefix and a point.
std::optional<std::string> under(const std::string& prefix, const std::string& name) {
  if (prefix.empty()) return name;
  const std::string start = prefix.back() == '.' ? prefix : prefix + ".";
  if (name.size() <= start.size() || name.compare(0, start.size(), start) != 0) return std::nullopt;
  return name.substr(start.size());
}

Result<std::string> read_index(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) return Status::invalid(file.string() + ": " + error.message());
  if (size > kLongestCheckpointIndex)
    return Status::invalid(file.string() + ": has " + std::to_string(size) + " bytes, an index has at most " + std::to_string(kLongestCheckpointIndex));
  std::ifstream stream(file, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) return Status::invalid(file.string() + ": cannot be read");
  return text;
}

Status add(const SafetensorsFile& file, const HeaderEntry& entry, const std::string& name, NamedTensors& tensors) {
  auto tensor = file.read(entry);
  if (!tensor.ok()) return tensor.status();
  tensors.emplace(name, std::move(tensor).value());
  return {};
}

Status add_from_shard(const std::filesystem::path& index, const std::string& shard, const std::vector<std::pair<std::string, std::string>>& names,
                      NamedTensors& tensors) {
  const auto opened = SafetensorsFile::open(index.parent_path() / shard, ForeignTensors::kept);
  if (!opened.ok()) return opened.status();
  for (const auto& [full, name] : names) {
    const HeaderEntry* entry = opened.value().find(full);
    if (!entry) return Status::invalid(index.string() + ": says that tensor " + shown(full) + " is in " + shard + ", which lacks it");
    if (Status status = add(opened.value(), *entry, name, tensors); !status.ok()) return status;
  }
  return {};
}

Status add_sharded(const std::filesystem::path& file, const std::string& prefix, NamedTensors& tensors) {
  const auto text = read_index(file);
  if (!text.ok()) return text.status();
  const auto index = parse_checkpoint_index(text.value(), file.string());
  if (!index.ok()) return index.status();
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> shards;  // names in full and without the prefix
  for (const auto& [full, shard] : index.value())
    if (auto name = under(prefix, full)) shards[shard].emplace_back(full, std::move(*name));
  for (const auto& [shard, names] : shards)
    if (Status status = add_from_shard(file, shard, names, tensors); !status.ok()) return status;
  return {};
}

Status add_whole(const std::filesystem::path& file, const std::string& prefix, NamedTensors& tensors) {
  const auto opened = SafetensorsFile::open(file, ForeignTensors::kept);
  if (!opened.ok()) return opened.status();
  for (const HeaderEntry& entry : opened.value().entries()) {
    const auto name = under(prefix, entry.name);
    if (!name) continue;
    if (Status status = add(opened.value(), entry, *name, tensors); !status.ok()) return status;
  }
  return {};
}

}  // namespace

Result<NamedTensors> read_checkpoint(const std::filesystem::path& file, const std::string& prefix) {
  NamedTensors tensors;
  const Status status = file.extension() == ".json" ? add_sharded(file, prefix, tensors) : add_whole(file, prefix, tensors);
  if (!status.ok()) return status;
  if (tensors.empty()) return Status::invalid(file.string() + ": has no tensor" + (prefix.empty() ? "" : " under " + shown(prefix)));
  return tensors;
}

}  // namespace linearmem
