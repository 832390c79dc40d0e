// Saving and loading: which requests, from where, all or none.
#include <algorithm>
#include <cstring>

#include "sessions/store.hpp"

namespace linearmem {

using sessions::FoundRequest;
using sessions::kNoRow;
using sessions::RequestTable;
using sessions::Slot;

namespace {

class MemorySink final : public SessionSink {
 public:
  explicit MemorySink(std::size_t size) { bytes_.reserve(size); }
  Status write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class MemorySource final : public SessionSource {
 public:
  MemorySource(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  Status read(std::int64_t offset, std::span<std::byte> to) const override {
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

}  // namespace

template <typename T>
Status Sessions<T>::save(std::span<const SavedRequest> requests, SessionSink& sink) const {
  std::vector<std::int64_t> ids;
  for (const SavedRequest& saved : requests) {
    if (Status status = store_->table.check_whole(saved.request); !status.ok()) return status;
    ids.push_back(saved.id);
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    return Status::invalid("sessions: the id " + std::to_string(*twice) + " is given twice");
  return sessions::encode(store_->model, store_->table, requests, sink);
}

template <typename T>
Result<std::vector<std::byte>> Sessions<T>::save(std::span<const SavedRequest> requests) const {
  const auto size = saved_bytes(static_cast<std::int64_t>(requests.size()));
  if (!size.ok()) return size.status();
  MemorySink sink(static_cast<std::size_t>(size.value()));
  if (Status status = save(requests, sink); !status.ok()) return status;
  return sink.take();
}

template <typename T>
Status Sessions<T>::Store::load_request(const FoundRequest& found, const SessionSource& source, std::vector<SavedRequest>& loaded) {
  const auto opened = table.open();
  if (!opened.ok()) return opened.status();
  loaded.push_back({found.id, opened.value()});
  Slot& slot = table.slot(opened.value());
  slot.row = table.rows().take();
  if (Status status = sessions::read_parts(table.rows(), slot.row, source, found); !status.ok()) return status;
  slot.tokens = found.tokens;
  if (found.tokens == 0) table.rows().release(std::exchange(slot.row, kNoRow));  // what has seen nothing is zeros, whatever was written
  return {};
}

template <typename T>
Result<std::vector<SavedRequest>> Sessions<T>::load(const SessionSource& source, std::optional<std::int64_t> only) {
  RequestTable& table = store_->table;
  auto found = sessions::find_requests(store_->model, table.rows(), source);
  if (!found.ok()) return found.status();
  if (only) std::erase_if(found.value(), [&](const FoundRequest& request) { return request.id != *only; });
  const auto count = static_cast<std::int64_t>(found.value().size());
  if (only && count == 0) return Status::invalid(source.name() + ": has no request " + std::to_string(*only));
  if (count > table.free_requests())
    return Status(StatusCode::out_of_memory,
                  source.name() + ": has " + std::to_string(count) + " requests; " + std::to_string(table.free_requests()) + " more may be open");
  std::vector<SavedRequest> loaded;
  loaded.reserve(found.value().size());
  for (const FoundRequest& request : found.value())
    if (Status status = store_->load_request(request, source, loaded); !status.ok()) {
      for (const SavedRequest& opened : loaded)
        if (Status closed = table.close(opened.request); !closed.ok()) return closed;
      return status;
    }
  return loaded;
}

template <typename T>
Result<std::vector<SavedRequest>> Sessions<T>::load(std::span<const std::byte> bytes, const std::string& name, std::optional<std::int64_t> only) {
  return load(MemorySource(bytes, name), only);
}

template <typename T>
Result<std::vector<std::int64_t>> Sessions<T>::saved_ids(const SessionSource& source) const {
  const auto found = sessions::find_requests(store_->model, store_->table.rows(), source);
  if (!found.ok()) return found.status();
  std::vector<std::int64_t> ids;
  for (const FoundRequest& request : found.value()) ids.push_back(request.id);
  return ids;
}

template <typename T>
Result<std::int64_t> Sessions<T>::saved_bytes(std::int64_t requests) const {
  if (requests < 0) return Status::invalid("sessions: requests is " + std::to_string(requests) + "; it is 0 or more");
  return sessions::saved_size(store_->model, store_->table.rows(), requests);
}

template Status Sessions<float>::save(std::span<const SavedRequest>, SessionSink&) const;
template Result<std::vector<std::byte>> Sessions<float>::save(std::span<const SavedRequest>) const;
template Result<std::vector<SavedRequest>> Sessions<float>::load(const SessionSource&, std::optional<std::int64_t>);
template Result<std::vector<SavedRequest>> Sessions<float>::load(std::span<const std::byte>, const std::string&, std::optional<std::int64_t>);
template Result<std::vector<std::int64_t>> Sessions<float>::saved_ids(const SessionSource&) const;
template Result<std::int64_t> Sessions<float>::saved_bytes(std::int64_t) const;
template Status Sessions<double>::save(std::span<const SavedRequest>, SessionSink&) const;
template Result<std::vector<std::byte>> Sessions<double>::save(std::span<const SavedRequest>) const;
template Result<std::vector<SavedRequest>> Sessions<double>::load(const SessionSource&, std::optional<std::int64_t>);
template Result<std::vector<SavedRequest>> Sessions<double>::load(std::span<const std::byte>, const std::string&, std::optional<std::int64_t>);
template Result<std::vector<std::int64_t>> Sessions<double>::saved_ids(const SessionSource&) const;
template Result<std::int64_t> Sessions<double>::saved_bytes(std::int64_t) const;

}  // namespace linearmem
