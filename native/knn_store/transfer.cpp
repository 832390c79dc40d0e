#include "transfer.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "safetensors.hpp"
#include "truth.hpp"

namespace linearmem {
namespace {

using store::refuse;

NamedTensor text_tensor(const std::string& text) {
  NamedTensor tensor{.dtype = DType::i32, .shape = {static_cast<std::int64_t>(text.size())}, .bytes = {}};
  tensor.bytes.resize(text.size() * 4);
  for (std::size_t i = 0; i < text.size(); ++i) tensor.bytes[i * 4] = static_cast<std::byte>(text[i]);
  return tensor;
}

Result<const NamedTensor*> find(const NamedTensors& tensors, const std::filesystem::path& file, const char* name, std::size_t axes) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return refuse(file, std::string(name) + " is missing");
  if (found->second.shape.size() != axes)
    return refuse(file,
                  std::string(name) + " has " + std::to_string(found->second.shape.size()) + " axes, must have " + std::to_string(axes));
  return &found->second;
}

Result<std::vector<std::int64_t>> integers(const NamedTensors& tensors, const std::filesystem::path& file, const char* name) {
  const auto tensor = find(tensors, file, name, 1);
  if (!tensor.ok()) return tensor.status();
  auto values = integer_values(name, *tensor.value());
  if (!values.ok()) return refuse(file, values.status().message());
  return values;
}

Result<std::string> text_of(const NamedTensors& tensors, const std::filesystem::path& file, const char* name) {
  const auto values = integers(tensors, file, name);
  if (!values.ok()) return values.status();
  std::string text;
  for (std::int64_t value : values.value()) {
    if (value < 0 || value > 255)
      return refuse(file, std::string(name) + " holds " + std::to_string(value) + ", which is no byte of a text");
    text += static_cast<char>(value);
  }
  return text;
}

Result<KnnRecords> records_of(const NamedTensors& tensors, const std::filesystem::path& file, std::int64_t dimension) {
  const auto keys = find(tensors, file, "keys", 2);
  if (!keys.ok()) return keys.status();
  auto tokens = integers(tensors, file, "token_ids");
  if (!tokens.ok()) return tokens.status();
  auto values = floating_values<float>("keys", *keys.value());
  if (!values.ok()) return refuse(file, values.status().message());
  const std::vector<std::int64_t>& shape = keys.value()->shape;
  if (shape[1] != dimension)
    return refuse(file, "dimension differs: the store has " + std::to_string(dimension) + ", keys have " + std::to_string(shape[1]));
  if (shape[0] != static_cast<std::int64_t>(tokens.value().size()))
    return refuse(file, "N differs: keys has " + std::to_string(shape[0]) + ", token_ids has " + std::to_string(tokens.value().size()));
  KnnRecords records{.tokens = std::move(tokens).value(), .keys = std::move(values).value()};
  if (!tensors.count("ids")) return records;
  auto ids = integers(tensors, file, "ids");
  if (!ids.ok()) return ids.status();
  records.ids = std::move(ids).value();
  return records;
}

Status add_sources(const NamedTensors& tensors, const std::filesystem::path& file, KnnRecords& records) {
  const auto text = text_of(tensors, file, "sources");
  if (!text.ok()) return text.status();
  const auto ends = integers(tensors, file, "source_ends");
  if (!ends.ok()) return ends.status();
  std::int64_t begin = 0;
  for (std::int64_t end : ends.value()) {
    if (end < begin || end > static_cast<std::int64_t>(text.value().size()))
      return refuse(file, "source_ends does not rise within sources");
    records.sources.push_back(text.value().substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    begin = end;
  }
  return {};
}

Result<KnnIdentity> identity_of(const NamedTensors& tensors, const std::filesystem::path& file) {
  const auto text = text_of(tensors, file, "identity");
  if (!text.ok()) return text.status();
  const auto json = nlohmann::json::parse(text.value(), nullptr, false);
  KnnIdentity identity;
  for (const auto& [field, to] : {std::pair("model", &identity.model), std::pair("model_version", &identity.model_version),
                                  std::pair("tokenizer", &identity.tokenizer), std::pair("domain", &identity.domain)}) {
    if (!json.is_object() || !json.contains(field) || !json[field].is_string())
      return refuse(file, std::string("identity has no text ") + field);
    *to = json[field].get<std::string>();
  }
  if (!json.contains("dimension") || !json["dimension"].is_number_integer()) return refuse(file, "identity has no whole number dimension");
  identity.dimension = json["dimension"].get<std::int64_t>();
  const auto metric =
      json.contains("metric") && json["metric"].is_string() ? metric_named(json["metric"].get<std::string>()) : std::nullopt;
  if (!metric) return refuse(file, "identity has no metric, squared-l2 or inner-product");
  identity.metric = *metric;
  return identity;
}

Status fill(const std::string& path, const KnnIdentity& identity, const KnnRecords& records) {
  if (Status status = KnnStore::create(path, identity); !status.ok()) return status;
  auto store = KnnStore::open(path, expect_all(identity), KnnAccess::write);
  if (!store.ok()) return store.status();
  return store.value()->upsert(records).status();
}

}  // namespace

Status export_store(KnnStore& store, const std::filesystem::path& file) {
  const auto all = store.read_all();
  if (!all.ok()) return all.status();
  const KnnRecords& records = all.value();
  const KnnIdentity& is = store.identity();
  const nlohmann::ordered_json identity = {{"model", is.model},         {"model_version", is.model_version}, {"tokenizer", is.tokenizer},
                                           {"dimension", is.dimension}, {"metric", metric_name(is.metric)},  {"domain", is.domain}};
  std::string sources;
  std::vector<std::int64_t> ends;
  for (const std::string& source : records.sources) ends.push_back(static_cast<std::int64_t>((sources += source).size()));
  const std::int64_t N = records.count();
  return write_safetensors(file, {{"ids", to_named(records.ids, {N})},
                                  {"token_ids", to_named(records.tokens, {N})},
                                  {"keys", to_named(records.keys, {N, is.dimension})},
                                  {"sources", text_tensor(sources)},
                                  {"source_ends", to_named(ends, {N})},
                                  {"identity", text_tensor(identity.dump())}});
}

Status import_store(const std::string& path, const std::filesystem::path& file, const KnnExpectation& expected) {
  const auto tensors = read_safetensors(file);
  if (!tensors.ok()) return tensors.status();
  const auto identity = identity_of(tensors.value(), file);
  if (!identity.ok()) return identity.status();
  if (Status status = check_expectation(file.string(), identity.value(), expected); !status.ok()) return status;
  auto records = records_of(tensors.value(), file, identity.value().dimension);
  if (!records.ok()) return records.status();
  if (records.value().ids.size() != records.value().tokens.size()) return refuse(file, "ids is missing or not as long as token_ids");
  if (Status status = add_sources(tensors.value(), file, records.value()); !status.ok()) return status;
  const std::string unfinished = path + "." + std::to_string(::getpid()) + ".import";
  Status status = fill(unfinished, identity.value(), records.value());
  if (status.ok()) status = store::place_new(unfinished, path);
  for (const char* end : {"", "-wal", "-shm", ".mark", ".scan"}) ::unlink((unfinished + end).c_str());
  return status;
}

Result<KnnRecords> read_records(const std::filesystem::path& file, std::int64_t dimension) {
  const auto tensors = read_safetensors(file);
  if (!tensors.ok()) return tensors.status();
  return records_of(tensors.value(), file, dimension);
}

}  // namespace linearmem
