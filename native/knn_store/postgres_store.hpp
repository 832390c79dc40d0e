// A store on a PostgreSQL server with pgvector, for records that outgrow one machine or one process; the same interface, the same
// checksums.
//
// linearmem.stores has a row for each domain: identity, state, checksums. linearmem.records is partitioned by domain; row-level security
// lets a session see the domain it was opened for alone, also where a statement forgot to say so (a superuser is above that). Searches are
// exact: pgvector's rounded distances say which rows may be near, and those are measured again in float64.
#pragma once

#include "knn_store.hpp"

namespace linearmem::store {

bool names_server(const std::string& path);  // "postgresql://..." or "postgres://..."

Status create_on_server(const std::string& address, const KnnIdentity& identity);
Result<std::unique_ptr<KnnStore>> open_on_server(const std::string& address, const KnnExpectation& expected, KnnAccess access);

}  // namespace linearmem::store
