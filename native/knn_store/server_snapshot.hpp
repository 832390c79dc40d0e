// Searches of a store on a server.
#pragma once

#include <memory>
#include <mutex>

#include "server_truth.hpp"

namespace linearmem::store {

// One session, one call at a time.
struct ServerSession {
  std::mutex mutex;
  ServerTruth truth;
};

// Its rows are those of one generation, or there is an error.
std::shared_ptr<const KnnSnapshot> server_snapshot(std::shared_ptr<ServerSession> session, const State& state);

}  // namespace linearmem::store
