#include "layers/weights.hpp"

#include <algorithm>

namespace linearmem::layers {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis ? "," : "") + std::to_string(shape[axis]);
  return text + "]";
}

// One list of faults: "missing: a [2,3], b [4]".
struct Faults {
  const char* heading;
  std::string text = {};

  void add(const std::string& fault) { text += (text.empty() ? std::string(heading) + ": " : ", ") + fault; }
};

bool whole(const NamedTensor& tensor) {
  return static_cast<std::uint64_t>(tensor.size()) * static_cast<std::uint64_t>(dtype_bytes(tensor.dtype)) == tensor.bytes.size();
}

}  // namespace

Status check_weights(const std::string& kind, const std::vector<LayerWeight>& wanted, const NamedTensors& given) {
  Faults missing{"missing"}, unknown{"not known"}, misshapen{"of another shape"}, strange{"not floating"}, cut{"whose bytes do not fit the shape"};
  for (const LayerWeight& weight : wanted) {
    const auto found = given.find(weight.name);
    if (found == given.end()) missing.add(weight.name + " " + shape_text(weight.shape));
    else if (found->second.shape != weight.shape)
      misshapen.add(weight.name + " is " + shape_text(found->second.shape) + ", must be " + shape_text(weight.shape));
    else if (!is_floating(found->second.dtype)) strange.add(weight.name + " is " + std::string(dtype_name(found->second.dtype)));
    else if (!whole(found->second)) cut.add(weight.name);
  }
  for (const auto& [name, tensor] : given)
    if (std::none_of(wanted.begin(), wanted.end(), [&name = name](const LayerWeight& weight) { return weight.name == name; })) unknown.add(name);
  std::string message;
  for (const Faults& faults : {missing, unknown, misshapen, strange, cut})
    if (!faults.text.empty()) message += (message.empty() ? "" : "; ") + faults.text;
  return message.empty() ? Status() : Status::invalid(kind + ": weights " + message);
}

}  // namespace linearmem::layers
