#include "run_stream.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "stream_plan.hpp"
#include "stream_watch.hpp"

namespace linearmem::cli {
namespace {

class Stream {
 public:
  Stream(const Mechanism& mechanism, const RunSettings& settings, const SafetensorsFile& input, const StreamPlan& plan,
         SafetensorsOutput& output)
      : mechanism_(mechanism), settings_(settings), input_(input), plan_(plan), output_(output) {}

  // cancelled: a signal came.
  Status run(std::int64_t block, Progress& progress) {
    for (const StreamedSequence& sequence : plan_.sequences) {
      if (Status status = read_states(sequence); !status.ok()) return status;
      std::int64_t begin = sequence.begin;
      do {  // once even over no tokens: the states pass through
        const std::int64_t tokens = std::min(block, sequence.end - begin);
        if (Status status = run_block(sequence, begin, tokens); !status.ok()) return status;
        begin += tokens;
        progress.add(tokens);
        if (interrupted_by() != 0) return Status(StatusCode::cancelled, "interrupted");
      } while (begin < sequence.end);
      for (const auto& [name, tensor] : states_)
        if (Status status = output_.write(name, place(name, 1) * static_cast<std::uint64_t>(sequence.n), tensor.bytes); !status.ok()) return status;
    }
    return {};
  }

 private:
  std::uint64_t place(const std::string& name, std::size_t axes) const {
    return static_cast<std::uint64_t>(bytes_below(plan_.outputs.at(name), axes));
  }

  Status read_states(const StreamedSequence& sequence) {
    states_.clear();
    for (const HeaderEntry* entry : plan_.first_states) {
      const auto bytes = static_cast<std::uint64_t>(bytes_below(*entry, 1));
      NamedTensor state{.dtype = entry->dtype, .shape = entry->shape, .bytes = std::vector<std::byte>(bytes)};
      state.shape[0] = 1;
      if (Status status = input_.read(*entry, bytes * static_cast<std::uint64_t>(sequence.n), state.bytes); !status.ok()) return status;
      states_[entry->name] = std::move(state);
    }
    return {};
  }

  Status run_block(const StreamedSequence& sequence, std::int64_t begin, std::int64_t tokens) {
    const auto first = static_cast<std::uint64_t>(sequence.row * plan_.tokens + begin);  // among all rows' tokens
    NamedTensors inputs = plan_.constant;
    for (const HeaderEntry* entry : plan_.over_tokens) {
      const std::int64_t bytes = bytes_below(*entry, 2);
      NamedTensor part{.dtype = entry->dtype, .shape = entry->shape, .bytes = std::vector<std::byte>(static_cast<std::size_t>(tokens * bytes))};
      part.shape[0] = 1;
      part.shape[1] = tokens;
      if (Status status = input_.read(*entry, first * static_cast<std::uint64_t>(bytes), part.bytes); !status.ok()) return status;
      inputs.emplace(entry->name, std::move(part));
    }
    for (auto& [name, state] : states_) inputs.insert_or_assign(name, std::move(state));
    auto outputs = run_mechanism(mechanism_.name, inputs, settings_);
    if (!outputs.ok())
      return Status(outputs.status().code(), outputs.status().message() + " (batch and token counted from row " +
                                                 std::to_string(sequence.row) + ", token " + std::to_string(begin) + " of the file)");
    for (auto& [name, tensor] : outputs.value()) {
      if (is_carried(mechanism_, name)) states_[name] = std::move(tensor);
      else if (Status status = output_.write(name, first * place(name, 2), tensor.bytes); !status.ok()) return status;
    }
    return {};
  }

  const Mechanism& mechanism_;
  const RunSettings& settings_;
  const SafetensorsFile& input_;
  const StreamPlan& plan_;
  SafetensorsOutput& output_;
  NamedTensors states_;  // of the sequence under way
};

constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;

std::int64_t default_block(std::int64_t bytes_per_token) {
  return std::clamp<std::int64_t>(kBlockBytes / std::max<std::int64_t>(bytes_per_token, 1) / 64 * 64, 64, 65536);
}

}  // namespace

Result<int> run_stream(const Mechanism& mechanism, const RunSettings& settings, const StreamFiles& files, std::int64_t block) {
  const auto input = SafetensorsFile::open(files.input);
  if (!input.ok()) return input.status();
  const auto plan = plan_stream(mechanism, settings, input.value());
  if (!plan.ok()) return plan.status();
  const Interrupts interrupts;
  auto output = SafetensorsOutput::create(files.output, plan.value().outputs);
  if (!output.ok()) return output.status();
  std::int64_t tokens = 0;
  for (const StreamedSequence& sequence : plan.value().sequences) tokens += sequence.end - sequence.begin;
  Progress progress(tokens);
  Stream stream(mechanism, settings, input.value(), plan.value(), output.value());
  const Status status = stream.run(block > 0 ? block : default_block(plan.value().bytes_per_token), progress);
  if (status.code() == StatusCode::cancelled) {
    std::fprintf(stderr, "linearmem: interrupted; %s is as it was\n", files.output.c_str());
    return 128 + interrupted_by();
  }
  if (!status.ok()) return status;
  if (Status done = output.value().commit(); !done.ok()) return done;
  progress.finish();
  return 0;
}

}  // namespace linearmem::cli
