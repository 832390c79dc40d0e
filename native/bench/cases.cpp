#include <algorithm>

#include "case_shape.hpp"

namespace linearmem::bench {
namespace {

std::vector<MechanismCases> all_mechanisms() {
  std::vector<MechanismCases> all = attention_cases();
  for (auto more : {delta_rule_cases(), scan_cases()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

constexpr const char* kKnn = "knn";
constexpr const char* kSettings[] = {"prefill", "short", "decode", "cached", "tiny", "long", "search", "batch"};

constexpr std::int64_t kBlock = 1024;  // tokens of one call of "long"

// A long sequence as calls on blocks of it, one after the other, each from the state that the one before left. The blocks hold the same
// tokens: what a token costs does not depend on them, and memory stays that of one block.
class InBlocks final : public Workload {
 public:
  InBlocks(std::unique_ptr<Workload> block, std::int64_t blocks) : block_(std::move(block)), blocks_(blocks) {}
  void use(const Executor* executor) override { block_->use(executor); }
  Result<Proof> prove() override { return block_->prove(); }
  Status run() override {
    for (std::int64_t i = 0; i < blocks_; ++i)
      if (Status status = block_->run(); !status.ok()) return status;
    return {};
  }
  bool unchanged() const override { return block_->unchanged(); }

 private:
  std::unique_ptr<Workload> block_;
  std::int64_t blocks_;
};

std::string shape_text(const MechanismCases& m, const Shape& s) {
  const std::string tokens = "T " + std::to_string(s.tokens);
  if (m.by_channel) return tokens + ", D " + std::to_string(s.channels());
  return tokens + ", H " + std::to_string(s.heads) + ", K V " + std::to_string(s.width);
}

class Builder {
 public:
  Builder(const CaseOptions& options, std::vector<Case>& to) : options_(options), to_(to) {}

  void add(const MechanismCases& m, const std::string& setting) {
    if (setting == "prefill")
      for (std::int64_t width : options_.widths) add(m, setting, {.tokens = options_.tokens, .heads = options_.heads, .width = width});
    if (setting == "short")
      for (std::int64_t tokens : {2, 8, 32})
        add(m, setting, {.tokens = tokens, .heads = options_.heads, .width = middle_width(), .carries = m.has_state});
    if (setting == "decode" && m.has_state) add(m, setting, decode_shape(m, middle_width(), options_.state_bytes));
    if (setting == "cached" && m.has_state)
      for (std::int64_t width : options_.widths) add(m, setting, decode_shape(m, width, 0));
    if (setting == "tiny") add(m, setting, {.carries = m.has_state});
    if (setting == "long" && m.has_state)
      for (std::int64_t tokens = kBlock; tokens <= options_.longest; tokens *= 4) add_long(m, tokens);
  }

 private:
  std::int64_t value_bytes() const { return options_.wide ? 8 : 4; }
  std::int64_t middle_width() const { return options_.widths[options_.widths.size() / 2]; }

  Shape decode_shape(const MechanismCases& m, std::int64_t width, std::int64_t bytes) const {
    Shape shape{.heads = options_.heads, .width = width, .carries = true};
    shape.slots = std::max<std::int64_t>(1, bytes / (m.state_values(shape) * value_bytes()));
    return shape;
  }

  void add(const MechanismCases& m, const std::string& setting, Shape shape) {
    shape.proof_flops = options_.proof_flops;
    Case made{.mechanism = m.name, .setting = setting, .shape = shape_text(m, shape), .work = m.work(shape), .turn = shape.slots};
    made.wide = options_.wide;
    made.tolerance = options_.wide ? 1e-12 : 1e-5;
    if (setting == "decode" || setting == "cached") {  // a state is read once and written once
      made.work.bytes = 2.0 * static_cast<double>(m.state_values(shape) * value_bytes());
      made.limit_bytes = m.state_values(shape) * value_bytes() * shape.slots;
      made.limit = Limit::update;
    } else if (setting != "tiny" && m.moved_values) {
      made.limit_bytes = m.moved_values(shape) * value_bytes();
      made.work.bytes = static_cast<double>(made.limit_bytes);
      made.limit = Limit::update;
    } else if (setting != "tiny" && made.work.flops > 0) {
      made.limit = Limit::multiply_add;
    }
    made.make = [make = options_.wide ? m.make64 : m.make32, shape] { return make(shape); };
    to_.push_back(std::move(made));
  }

  void add_long(const MechanismCases& m, std::int64_t tokens) {
    add(m, "long", {.tokens = kBlock, .width = middle_width(), .carries = true});
    Case& made = to_.back();
    const std::int64_t blocks = tokens / kBlock;
    made.shape = shape_text(m, {.tokens = tokens, .width = middle_width()});
    made.work.flops *= static_cast<double>(blocks);
    made.work.bytes *= static_cast<double>(blocks);
    made.work.elements = static_cast<double>(tokens);
    made.make = [block = made.make, blocks] { return std::make_unique<InBlocks>(block(), blocks); };
  }

  const CaseOptions& options_;
  std::vector<Case>& to_;
};

// Every wish must be one of `known`.
Status check_names(const char* what, const std::vector<std::string>& wishes, const std::vector<std::string>& known) {
  for (const std::string& wish : wishes)
    if (std::find(known.begin(), known.end(), wish) == known.end()) {
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      return Status::invalid(std::string("no benchmark of ") + what + " \"" + wish + "\"; there are " + list);
    }
  return {};
}

bool wanted(const std::vector<std::string>& wishes, const std::string& name) {
  return wishes.empty() || std::find(wishes.begin(), wishes.end(), name) != wishes.end();
}

// "long" takes minutes: only by name.
bool wanted_setting(const std::vector<std::string>& wishes, const std::string& name) {
  return wishes.empty() ? name != "long" : wanted(wishes, name);
}

}  // namespace

std::vector<std::string> case_mechanisms() {
  std::vector<std::string> names;
  for (const MechanismCases& m : all_mechanisms()) names.push_back(m.name);
  names.push_back(kKnn);
  return names;
}

std::vector<std::string> case_settings() { return {std::begin(kSettings), std::end(kSettings)}; }

Result<std::vector<Case>> cases(const CaseOptions& options, const std::vector<std::string>& mechanisms,
                                const std::vector<std::string>& settings) {
  Status status = check_names("mechanism", mechanisms, case_mechanisms());
  if (status.ok()) status = check_names("setting", settings, case_settings());
  if (!status.ok()) return status;
  std::vector<Case> made;
  Builder builder(options, made);
  for (const char* setting : kSettings) {
    if (!wanted_setting(settings, setting)) continue;
    for (const MechanismCases& m : all_mechanisms())
      if (wanted(mechanisms, m.name)) builder.add(m, setting);
    if (wanted(mechanisms, kKnn)) add_knn_cases(options, setting, made);
  }
  return made;
}

}  // namespace linearmem::bench
