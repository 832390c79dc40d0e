// claims(), mistakes(), verify(): the registry of core/claims.
#include "linearmem/claims.hpp"

#include <emscripten/bind.h>

#include "boundary.hpp"
#include "linearmem/target.hpp"

namespace linearmem::wasm {
namespace {

const char* kind_name(CheckKind kind) {
  switch (kind) {
    case CheckKind::value: return "value";
    case CheckKind::residual: return "residual";
    case CheckKind::exact: return "exact";
    case CheckKind::stated: return "stated";
  }
  return "";
}

val mistake_name(Mistake mistake) {
  for (const MistakeInfo& info : mistakes())
    if (info.mistake == mistake) return text(info.name);
  return val::undefined();
}

val claim_to_val(const Claim& claim) {
  val object = val::object();
  object.set("id", text(claim.id));
  object.set("room", text(claim.room));
  object.set("statement", text(claim.statement));
  object.set("source", text(claim.source));
  object.set("inputs", text(claim.inputs));
  object.set("mistakes", to_array(claim.mistakes, mistake_name));
  return object;
}

val check_to_val(const Check& check) {
  val object = val::object();
  object.set("quantity", text(check.quantity));
  object.set("kind", text(kind_name(check.kind)));
  object.set("expected", check.expected);
  object.set("got", check.got);
  object.set("error", check.error);
  object.set("tolerance", check.tolerance);
  object.set("relative", check.relative);
  object.set("pass", check.pass);
  object.set("unit", text(check.unit));
  object.set("condition", text(check.condition));
  object.set("digits", text(check.digits));
  return object;
}

Result<Mistakes> chosen_mistakes(const val& names) {
  Mistakes chosen;
  const int count = names["length"].as<int>();
  for (int index = 0; index < count; ++index) {
    const auto mistake = find_mistake(names[index].as<std::string>());
    if (!mistake.ok()) return mistake.status();
    chosen.insert(mistake.value());
  }
  return chosen;
}

val all_claims() { return to_array(claims(), claim_to_val); }

val all_mistakes() {
  return to_array(mistakes(), [](const MistakeInfo& info) {
    val object = val::object();
    object.set("name", text(info.name));
    object.set("meaning", text(info.meaning));
    return object;
  });
}

val verify(const std::string& id, const val& names) {
  return guarded([&]() -> Result<val> {
    const auto claim = find_claim(id);
    if (!claim.ok()) return claim.status();
    const auto chosen = chosen_mistakes(names);
    if (!chosen.ok()) return chosen.status();
    const ClaimResult result = run_claim(*claim.value(), chosen.value());
    val object = val::object();
    object.set("id", text(result.id));
    object.set("pass", result.pass);
    object.set("checks", to_array(result.checks, check_to_val));
    return object;
  });
}

EMSCRIPTEN_BINDINGS(linearmem_claims) {
  emscripten::function("buildId", +[]() { return std::string(build_id()); });
  emscripten::function("target", +[]() { return std::string(simd_target()); });
  emscripten::function("claims", &all_claims);
  emscripten::function("mistakes", &all_mistakes);
  emscripten::function("verify", &verify);
}

}  // namespace
}  // namespace linearmem::wasm
