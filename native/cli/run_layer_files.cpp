#include "run_layer_files.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/tensor.hpp"
#include "run_layer_states.hpp"
#include "safetensors.hpp"
#include "safetensors_file.hpp"
#include "stream_watch.hpp"

namespace linearmem::cli {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis ? "," : "") + std::to_string(shape[axis]);
  return text + "]";
}

Status refuse(const std::string& file, const std::string& sentence) { return Status::invalid(file + ": " + sentence); }

// What the input says beside the hidden states themselves.
struct Requests {
  const HeaderEntry* hidden = nullptr;
  std::vector<std::int64_t> cu_seqlens = {};  // empty: none
  std::vector<std::uint8_t> mask = {};        // empty: none

  std::int64_t rows() const { return hidden->shape[0]; }
  std::int64_t tokens() const { return hidden->shape[1]; }
  std::int64_t width() const { return hidden->shape[2]; }
  View<const std::int64_t, 1> cu_view() const {
    if (cu_seqlens.empty()) return {};
    return {cu_seqlens.data(), {static_cast<std::int64_t>(cu_seqlens.size())}};
  }
  std::int64_t count() const { return cu_seqlens.empty() ? rows() : static_cast<std::int64_t>(cu_seqlens.size()) - 1; }
};

Status check_shape(const std::string& file, const HeaderEntry& entry, const std::vector<std::int64_t>& wanted) {
  return entry.shape == wanted ? Status() : refuse(file, entry.name + " is " + shape_text(entry.shape) + ", must be " + shape_text(wanted));
}

Result<Requests> read_requests(const SafetensorsFile& file, const std::string& name, std::int64_t width) {
  for (const HeaderEntry& entry : file.entries())
    if (entry.name != "hidden" && entry.name != "cu_seqlens" && entry.name != "mask")
      return refuse(name, "unknown tensor " + shown(entry.name) + "; it takes hidden, cu_seqlens, mask");
  Requests requests{.hidden = file.find("hidden")};
  if (!requests.hidden) return refuse(name, "hidden is missing; it is [B,T,M]");
  if (requests.hidden->shape.size() != 3 || requests.width() != width)
    return refuse(name, "hidden is " + shape_text(requests.hidden->shape) + ", must be [B,T," + std::to_string(width) + "]");
  if (!is_floating(requests.hidden->dtype)) return refuse(name, "hidden is " + std::string(dtype_name(requests.hidden->dtype)) + ", must be floating");
  if (const HeaderEntry* entry = file.find("cu_seqlens")) {
    if (entry->shape.size() != 1) return refuse(name, "cu_seqlens is " + shape_text(entry->shape) + ", must be [N+1]");
    const auto tensor = file.read(*entry);
    if (!tensor.ok()) return tensor.status();
    auto values = integer_values("cu_seqlens", tensor.value());
    if (!values.ok()) return refuse(name, values.status().message());
    requests.cu_seqlens = std::move(values).value();
    ShapeCheck shapes("run-layer");
    const View<const std::int64_t, 1> view(requests.cu_seqlens.data(), {entry->shape[0]});
    shapes.define("B", "hidden", requests.rows()).define("T", "hidden", requests.tokens()).sequences(view);
    if (!shapes.status().ok()) return shapes.status();
  }
  if (const HeaderEntry* entry = file.find("mask")) {
    if (Status status = check_shape(name, *entry, {requests.rows(), requests.tokens()}); !status.ok()) return status;
    const auto tensor = file.read(*entry);
    if (!tensor.ok()) return tensor.status();
    auto values = boolean_values("mask", tensor.value());
    if (!values.ok()) return refuse(name, values.status().message());
    requests.mask = std::move(values).value();
  }
  return requests;
}

// The states of all requests, part by part, and how many tokens each has taken in.
template <typename T>
class States final : public LayerStates<T> {
 public:
  static Result<States> create(const Layer<T>& layer, std::int64_t N) {
    const LayerStateLayout layout = layer.state_layout();
    States states(layer, layout, N);
    for (const StatePart& part : layout.parts) {
      const std::vector<std::int64_t> shape = {N, part.elements()};
      const auto bytes = checked_bytes(part.name, shape.data(), 2, sizeof(T));
      if (!bytes.ok()) return bytes.status();
      states.parts_.emplace_back(static_cast<std::size_t>(N * part.elements()));
    }
    return states;
  }

  Status read(const std::string& name) {
    const auto opened = SafetensorsFile::open(name);
    if (!opened.ok()) return opened.status();
    std::set<std::string> known = {"out", "seen"};
    for (const StatePart& part : layout_.parts) known.insert(part.name);
    for (const HeaderEntry& entry : opened.value().entries())
      if (!known.count(entry.name)) return refuse(name, "unknown tensor " + shown(entry.name) + "; it is no part of the state of " + layout_.layer);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      auto tensor = read_part(opened.value(), name, layout_.parts[part].name, layout_.parts[part].shape);
      if (!tensor.ok()) return tensor.status();
      auto values = floating_values<T>(layout_.parts[part].name, tensor.value());
      if (!values.ok()) return refuse(name, values.status().message());
      parts_[part] = std::move(values).value();
    }
    const auto tensor = read_part(opened.value(), name, "seen", {});
    if (!tensor.ok()) return tensor.status();
    auto values = integer_values("seen", tensor.value());
    if (!values.ok()) return refuse(name, values.status().message());
    seen_ = std::move(values).value();
    return {};
  }

  Status forward(LayerCall<T>& call, std::optional<std::int64_t> request) override {
    std::vector<StateRows<T>> rows;
    for (std::size_t part = 0; part < parts_.size(); ++part) rows.push_back({parts_[part].data(), N_, layout_.parts[part].elements()});
    call.states = rows;
    if (request) call.slots = std::span(&*request, 1);
    call.seen = {seen_.data() + request.value_or(0), {request ? 1 : N_}};
    if (Status status = layer_.forward(call); !status.ok()) return status;
    for (std::int64_t n = 0; n < (request ? 1 : N_); ++n) seen_[static_cast<std::size_t>(request.value_or(n))] += taken_tokens(call, n);
    return {};
  }
  std::map<std::string, TensorShape> shapes() const override {
    std::map<std::string, TensorShape> shapes = {{"seen", {DType::i64, {N_}}}};
    for (const StatePart& part : layout_.parts) shapes[part.name] = {part.dtype, with_requests(part.shape)};
    return shapes;
  }
  Status write(SafetensorsOutput& output) override {
    for (std::size_t part = 0; part < parts_.size(); ++part)
      if (Status status = output.write(layout_.parts[part].name, 0, std::as_bytes(std::span(parts_[part]))); !status.ok()) return status;
    return output.write("seen", 0, std::as_bytes(std::span(seen_)));
  }
  Status commit() override { return {}; }

 private:
  States(const Layer<T>& layer, LayerStateLayout layout, std::int64_t N) : layer_(layer), layout_(std::move(layout)), N_(N), seen_(static_cast<std::size_t>(N)) {}

  std::vector<std::int64_t> with_requests(std::vector<std::int64_t> shape) const {
    shape.insert(shape.begin(), N_);
    return shape;
  }
  Result<NamedTensor> read_part(const SafetensorsFile& file, const std::string& name, const std::string& part, const std::vector<std::int64_t>& shape) const {
    const HeaderEntry* entry = file.find(part);
    if (!entry) return refuse(name, part + " is missing; it is " + shape_text(with_requests(shape)));
    if (Status status = check_shape(name, *entry, with_requests(shape)); !status.ok()) return status;
    return file.read(*entry);
  }

  const Layer<T>& layer_;
  LayerStateLayout layout_;
  std::int64_t N_;
  std::vector<std::vector<T>> parts_;
  std::vector<std::int64_t> seen_;
};

template <typename T>
class LayerRun {
 public:
  LayerRun(const SafetensorsFile& input, const Requests& requests, LayerStates<T>& states, SafetensorsOutput& output, const LayerRunOptions& options)
      : input_(input), requests_(requests), states_(states), output_(output), options_(options) {}

  Status whole() { return take({0, requests_.rows()}, {0, requests_.tokens()}, std::nullopt); }

  // Request by request, block by block. cancelled: a signal came.
  Status in_blocks(Progress& progress) {
    for (std::int64_t n = 0; n < requests_.count(); ++n) {
      const TokenRange range = sequence_range(requests_.cu_view(), requests_.tokens(), n);
      for (std::int64_t begin = range.begin; begin < range.end;) {
        const std::int64_t tokens = std::min(options_.block, range.end - begin);
        if (Status status = take({range.row, 1}, {begin, tokens}, n); !status.ok()) return status;
        begin += tokens;
        progress.add(tokens);
        if (interrupted_by() != 0) return Status(StatusCode::cancelled, "interrupted");
      }
    }
    return {};
  }

 private:
  // Some rows and tokens of the file, as one call; of one request, or of all.
  Status take(const Range& rows, const Range& tokens, std::optional<std::int64_t> request) {
    const std::int64_t M = requests_.width(), first = rows.first * requests_.tokens() + tokens.first, count = rows.count * tokens.count;
    const std::int64_t bytes = M * dtype_bytes(requests_.hidden->dtype);
    NamedTensor part{.dtype = requests_.hidden->dtype, .shape = {rows.count, tokens.count, M}, .bytes = std::vector<std::byte>(static_cast<std::size_t>(count * bytes))};
    if (Status status = input_.read(*requests_.hidden, static_cast<std::uint64_t>(first * bytes), part.bytes); !status.ok()) return status;
    const auto hidden = floating_values<T>("hidden", part);
    if (!hidden.ok()) return hidden.status();
    std::vector<T> out(hidden.value().size());
    LayerCall<T> call{.hidden = {hidden.value().data(), {rows.count, tokens.count, M}}, .executor = options_.executor,
                      .out = {out.data(), {rows.count, tokens.count, M}}};
    if (!requests_.mask.empty()) call.mask = {requests_.mask.data() + first, {rows.count, tokens.count}};
    if (!request) call.cu_seqlens = requests_.cu_view();
    if (Status status = states_.forward(call, request); !status.ok()) return status;
    return output_.write("out", static_cast<std::uint64_t>(first * M) * sizeof(T), std::as_bytes(std::span(out)));
  }

  const SafetensorsFile& input_;
  const Requests& requests_;
  LayerStates<T>& states_;
  SafetensorsOutput& output_;
  const LayerRunOptions& options_;
};

template <typename T>
Result<std::unique_ptr<LayerStates<T>>> states_of(const Layer<T>& layer, const LayerFiles& files, std::int64_t N) {
  if (!files.session.empty()) return session_states(layer, files.session, files.requests, N, files.weights);
  auto states = States<T>::create(layer, N);
  if (!states.ok()) return states.status();
  if (!files.state.empty())
    if (Status status = states.value().read(files.state); !status.ok()) return status;
  return std::unique_ptr<LayerStates<T>>(std::make_unique<States<T>>(std::move(states).value()));
}

}  // namespace

template <typename T>
Result<int> run_layer_files(const Layer<T>& layer, const LayerFiles& files, const LayerRunOptions& options) {
  const auto input = SafetensorsFile::open(files.input);
  if (!input.ok()) return input.status();
  const auto requests = read_requests(input.value(), files.input, layer.width());
  if (!requests.ok()) return requests.status();
  const auto states = states_of(layer, files, requests.value().count());
  if (!states.ok()) return states.status();
  const std::optional<Interrupts> interrupts = options.watched ? std::optional<Interrupts>(std::in_place) : std::nullopt;
  auto shapes = states.value()->shapes();
  shapes["out"] = {sizeof(T) == 8 ? DType::f64 : DType::f32, requests.value().hidden->shape};
  auto output = SafetensorsOutput::create(files.output, shapes);
  if (!output.ok()) return output.status();
  LayerRun<T> run(input.value(), requests.value(), *states.value(), output.value(), options);
  Progress progress(requests.value().rows() * requests.value().tokens());
  const Status status = options.block > 0 ? run.in_blocks(progress) : run.whole();
  if (status.code() == StatusCode::cancelled) {
    std::fprintf(stderr, "linearmem: interrupted; %s is as it was\n", files.output.c_str());
    return 128 + interrupted_by();
  }
  if (!status.ok()) return status;
  if (Status kept = states.value()->write(output.value()); !kept.ok()) return kept;
  if (Status done = output.value().commit(); !done.ok()) return done;
  if (Status done = states.value()->commit(); !done.ok()) return done;
  if (options.watched) progress.finish();
  return 0;
}

template Result<int> run_layer_files(const Layer<float>&, const LayerFiles&, const LayerRunOptions&);
template Result<int> run_layer_files(const Layer<double>&, const LayerFiles&, const LayerRunOptions&);

}  // namespace linearmem::cli
