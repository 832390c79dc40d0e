// Between named tensors and a door: TypedInputs converts what was handed over to the compute type and lends views of
// it; TypedOutputs owns what the door writes and hands it back by name. Both remember their first failure.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "linearmem/mechanisms.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

template <int N>
Extents<N> extents_of(const NamedTensor& tensor) {
  Extents<N> extents{};
  for (int axis = 0; axis < N; ++axis) extents[axis] = tensor.shape[axis];
  return extents;
}

// The views live as long as this object.
template <typename T>
class TypedInputs {
 public:
  explicit TypedInputs(const NamedTensors& tensors) : tensors_(tensors) {}
  TypedInputs(const TypedInputs&) = delete;
  TypedInputs& operator=(const TypedInputs&) = delete;

  // A tensor that was not given is a view that is not given.
  template <int N>
  View<const T, N> floating(const char* name) {
    return lend<T, N>(name, floating_, floating_values<T>);
  }
  template <int N>
  View<const std::int64_t, N> integers(const char* name) {
    return lend<std::int64_t, N>(name, integers_, integer_values);
  }
  template <int N>
  View<const std::uint8_t, N> booleans(const char* name) {
    return lend<std::uint8_t, N>(name, booleans_, boolean_values);
  }

  const Status& status() const { return status_; }

 private:
  template <typename Element, int N, typename Convert>
  View<const Element, N> lend(const char* name, std::list<std::vector<Element>>& owners, Convert convert) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return {};
    Result<std::vector<Element>> values = convert(found->first, found->second);
    if (!values.ok()) {
      if (status_.ok()) status_ = values.status();
      return {};
    }
    owners.push_back(std::move(values).value());
    return View<const Element, N>(owners.back().data(), extents_of<N>(found->second));
  }

  const NamedTensors& tensors_;
  std::list<std::vector<T>> floating_;  // lists, so that growing moves no element
  std::list<std::vector<std::int64_t>> integers_;
  std::list<std::vector<std::uint8_t>> booleans_;
  Status status_;
};

template <typename T>
class TypedOutputs {
 public:
  template <int N>
  View<T, N> make(const char* name, const Extents<N>& extents) {
    return lend<T, N>(name, extents, floating_);
  }
  template <int N>
  View<std::int64_t, N> make_integers(const char* name, const Extents<N>& extents) {
    return lend<std::int64_t, N>(name, extents, integers_);
  }

  const Status& status() const { return status_; }

  NamedTensors named() const {
    NamedTensors tensors;
    for (const auto& owner : floating_) tensors.emplace(owner.name, to_named(owner.values, owner.shape));
    for (const auto& owner : integers_) tensors.emplace(owner.name, to_named(owner.values, owner.shape));
    return tensors;
  }

 private:
  template <typename Element>
  struct Owner {
    const char* name;
    std::vector<std::int64_t> shape;
    std::vector<Element> values;
  };

  template <typename Element, int N>
  View<Element, N> lend(const char* name, const Extents<N>& extents, std::list<Owner<Element>>& owners) {
    auto tensor = Tensor<Element, N>::create(name, extents);
    if (!tensor.ok()) {
      if (status_.ok()) status_ = tensor.status();
      return {};
    }
    owners.push_back({name, {extents.begin(), extents.end()}, std::move(tensor.value().values())});
    return View<Element, N>(owners.back().values.data(), extents);
  }

  std::list<Owner<T>> floating_;  // lists, so that growing moves no element
  std::list<Owner<std::int64_t>> integers_;
  Status status_;
};

// Sequences the states belong to: the packed ones, or one per batch row.
template <typename T, int N>
std::int64_t sequence_count(const View<const std::int64_t, 1>& cu_seqlens, const View<const T, N>& tokens) {
  if (!cu_seqlens.given()) return tokens.extent(0);
  return cu_seqlens.extent(0) > 0 ? cu_seqlens.extent(0) - 1 : 0;  // none at all is the door's to refuse
}

// Calls the door when inputs and outputs stand, and hands the outputs over when the door is content.
template <typename T, typename Door, typename Arguments>
Result<NamedTensors> through_door(const TypedInputs<T>& inputs, const TypedOutputs<T>& outputs, Door door, const Arguments& arguments) {
  if (!inputs.status().ok()) return inputs.status();
  if (!outputs.status().ok()) return outputs.status();
  if (Status status = door(arguments); !status.ok()) return status;
  return outputs.named();
}

}  // namespace linearmem
