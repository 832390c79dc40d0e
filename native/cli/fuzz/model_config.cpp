// A libFuzzer entry: whatever text a configuration is, it is refused with a reason, or its ledger adds up or is refused with one. The first
// byte picks a named model's configuration, or none; the next two say where in it the rest is put, and how much of it that replaces.
//   CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DLINEARMEM_FUZZ=ON && cmake --build build/fuzz --target linearmem_model_config_fuzz
//   mkdir -p build/configs && build/fuzz/native/cli/fuzz/linearmem_model_config_fuzz -max_total_time=60 -max_len=400 \
//     -dict=native/cli/fuzz/model_config.dict build/configs
#include <cstdint>
#include <cstdlib>
#include <string>

#include "linearmem/ledger.hpp"

namespace linearmem {
namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

bool starts_with(const std::string& text, const char* head) { return text.rfind(head, 0) == 0; }

std::string text_of(const std::uint8_t* data, std::size_t size) {
  const std::string words(reinterpret_cast<const char*>(data) + 3, size - 3);
  const auto& models = named_models();
  if (data[0] >= models.size()) return words;
  std::string text = models[data[0]].config;
  const std::size_t at = data[1] * text.size() / 256;
  return text.replace(at, data[2] % 32, words);
}

void read_and_count(const std::string& text) {
  const auto model = read_model_config(text);
  if (!model.ok()) return must(starts_with(model.status().message(), "config: "));
  must(!model.value().groups.empty() || model.value().model_type == "nemotron_h");  // a pattern of feed-forward layers alone
  for (const LedgerSettings& settings :
       {LedgerSettings{}, LedgerSettings{.context = std::int64_t{1} << 40, .batch = 1 << 20, .block = 48, .device_bytes = 1}}) {
    const auto ledger = memory_ledger(model.value(), settings);
    if (!ledger.ok()) {
      must(starts_with(ledger.status().message(), "ledger: "));
      continue;
    }
    std::int64_t sum = 0;
    for (const LedgerRow& row : ledger.value().rows) {
      must(row.request_bytes == (row.growing_bytes + row.state_bytes + row.normalizer_bytes + row.conv_bytes) * row.group.layers);
      sum += row.request_bytes;
    }
    must(sum == ledger.value().request_bytes && sum == ledger.value().fixed_bytes + ledger.value().growing_bytes);
    must(sum >= 0 && ledger.value().batch_bytes == sum * settings.batch);
  }
}

}  // namespace
}  // namespace linearmem

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 3) linearmem::read_and_count(linearmem::text_of(data, size));
  return 0;
}
