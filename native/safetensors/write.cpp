#include "header.hpp"
#include "layout.hpp"
#include "linearmem/tensor.hpp"
#include "safetensors.hpp"
#include "staged_file.hpp"

namespace linearmem {

Status write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors) {
  std::map<std::string, TensorShape> shapes;
  for (const auto& [name, tensor] : tensors) shapes[name] = {tensor.dtype, tensor.shape};
  const auto layout = safetensors_layout(file, shapes);
  if (!layout.ok()) return layout.status();
  for (const TensorPlace& place : layout.value().places)
    if (const std::uint64_t has = tensors.at(place.name).bytes.size(); has != place.end - place.begin)
      return Status::invalid(file.string() + ": tensor " + shown(place.name) + " needs " + std::to_string(place.end - place.begin) +
                             " bytes for its shape, it has " + std::to_string(has));
  auto staged = StagedFile::create(file);
  if (!staged.ok()) return staged.status();
  if (Status status = staged.value().append(layout.value().head); !status.ok()) return status;
  for (const TensorPlace& place : layout.value().places)
    if (Status status = staged.value().append(std::span<const std::byte>(tensors.at(place.name).bytes)); !status.ok()) return status;
  return staged.value().commit();
}

}  // namespace linearmem
