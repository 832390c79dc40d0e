#include <algorithm>
#include <filesystem>
#include <utility>

#include "run_layer_states.hpp"
#include "session_file.hpp"

namespace linearmem::cli {
namespace {

template <typename T>
class SessionStates final : public LayerStates<T> {
 public:
  SessionStates(Sessions<T> sessions, std::string file) : sessions_(std::move(sessions)), file_(std::move(file)) {}

  // existing: the file is there and all of it is read.
  Status open(const std::vector<std::int64_t>& ids, bool existing) {
    if (existing) {
      auto loaded = load_session(sessions_, file_);
      if (!loaded.ok()) return loaded.status();
      saved_ = std::move(loaded).value();
    }
    for (std::int64_t id : ids) {
      auto known = std::find_if(saved_.begin(), saved_.end(), [id](const SavedRequest& saved) { return saved.id == id; });
      if (known == saved_.end()) {
        const auto opened = sessions_.open();
        if (!opened.ok()) return opened.status();
        known = saved_.insert(saved_.end(), {id, opened.value()});
      }
      named_.push_back(known->request);
    }
    return {};
  }

  Status forward(LayerCall<T>& call, std::optional<std::int64_t> request) override {
    const std::span<const RequestHandle> requests = request ? std::span(named_).subspan(static_cast<std::size_t>(*request), 1) : std::span(named_);
    return sessions_.forward({.requests = requests, .hidden = call.hidden, .cu_seqlens = call.cu_seqlens, .mask = call.mask,
                              .executor = call.executor, .out = call.out});
  }
  std::map<std::string, TensorShape> shapes() const override { return {}; }
  Status write(SafetensorsOutput&) override {
    auto staged = stage_session(sessions_, std::span<const SavedRequest>(saved_), file_);
    if (!staged.ok()) return staged.status();
    staged_.emplace(std::move(staged).value());
    return {};
  }
  // Killed between the two files, the run can be done again: the session is still the one it began from.
  Status commit() override { return staged_->commit(); }

 private:
  Sessions<T> sessions_;
  std::string file_;
  std::vector<SavedRequest> saved_;   // all there are
  std::vector<RequestHandle> named_;  // by the run
  std::optional<StagedFile> staged_;
};

Status check_ids(std::vector<std::int64_t> ids, std::int64_t requests) {
  if (static_cast<std::int64_t>(ids.size()) != requests)
    return Status::invalid("--session needs a --request for each of the " + std::to_string(requests) + " requests of the input; there are " +
                           std::to_string(ids.size()));
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  return twice == ids.end() ? Status() : Status::invalid("--request " + std::to_string(*twice) + " is given twice");
}

}  // namespace

template <typename T>
Result<std::unique_ptr<LayerStates<T>>> session_states(const Layer<T>& layer, const std::string& file, const std::vector<std::int64_t>& ids,
                                                       std::int64_t requests, std::uint64_t weights) {
  if (Status status = check_ids(ids, requests); !status.ok()) return status;
  std::vector<std::int64_t> all = ids;
  std::error_code error;
  const bool existing = std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::not_found;
  if (existing) {
    const auto reader = Sessions<T>::create({&layer}, {.requests = 1, .weights = weights});
    if (!reader.ok()) return reader.status();
    const auto known = session_ids(reader.value(), file);
    if (!known.ok()) return known.status();
    all.insert(all.end(), known.value().begin(), known.value().end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  auto sessions = Sessions<T>::create({&layer}, {.requests = std::max<std::int64_t>(1, static_cast<std::int64_t>(all.size())), .weights = weights});
  if (!sessions.ok()) return sessions.status();
  auto states = std::make_unique<SessionStates<T>>(std::move(sessions).value(), file);
  if (Status status = states->open(ids, existing); !status.ok()) return status;
  return std::unique_ptr<LayerStates<T>>(std::move(states));
}

using Ids = std::vector<std::int64_t>;
template Result<std::unique_ptr<LayerStates<float>>> session_states(const Layer<float>&, const std::string&, const Ids&, std::int64_t, std::uint64_t);
template Result<std::unique_ptr<LayerStates<double>>> session_states(const Layer<double>&, const std::string&, const Ids&, std::int64_t, std::uint64_t);

}  // namespace linearmem::cli
