#include "linearmem/linear_attention.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/state_options.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_in(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  LinearAttentionArguments<T> arguments{
      .q = inputs.template floating<4>("q"),
      .k = inputs.template floating<4>("k"),
      .v = inputs.template floating<4>("v"),
      .g = inputs.template floating<3>("g"),
      .g_key = inputs.template floating<4>("g_key"),
      .state = inputs.template floating<4>("state"),
      .z = inputs.template floating<3>("z"),
      .key_mask = inputs.template booleans<2>("key_mask"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .feature = *feature_named(option_choice(settings, "feature")),
      .eps = *option_number(settings, "eps"),
      .normalize = option_boolean(settings, "normalize"),
      .causal = option_boolean(settings, "causal"),
      .allow_growth = option_allow_growth(settings),
      .form = settings.form,
      .chunk = settings.chunk,
      .state_type = option_state_type(settings),
      .checkpoint_every = *option_integer(settings, "checkpoint_every"),
      .executor = settings.executor,
      .backend = settings.backend,
      .o = {},
  };
  const Extents<4> queries = arguments.q.extents();
  const std::int64_t N = sequence_count(arguments.cu_seqlens, arguments.q), H = queries[2], K = queries[3], V = arguments.v.extent(3);
  arguments.o = outputs.template make<4>("o", {queries[0], queries[1], H, V});
  arguments.final_state = outputs.template make<4>("state", {N, H, K, V});
  arguments.final_z = outputs.template make<3>("z", {N, H, K});
  if (arguments.checkpoint_every != 0) {
    const std::int64_t M = checkpoint_count(arguments.cu_seqlens, queries[0], queries[1], arguments.checkpoint_every);
    arguments.checkpoints = outputs.template make<4>("checkpoints", {M, H, K, V});
    arguments.checkpoints_z = outputs.template make<3>("checkpoints_z", {M, H, K});
  }
  return through_door(
      inputs, outputs, [](const LinearAttentionArguments<T>& a) { return linear_attention(a); }, arguments);
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

}  // namespace

Mechanism declare_linear_attention() {
  Mechanism mechanism{
      .name = "linear-attention",
      .room = "linear_attention",
      .equation = "S_t = exp(g_t) S_{t-1} + phi(k_t)^T v_t;  z_t = exp(g_t) z_{t-1} + phi(k_t);  o_t = phi(q_t) S_t / (phi(q_t) z_t + eps)",
      .inputs = {{"q", "B T H K"},
                 {"k", "B T Hk K"},
                 {"v", "B T Hk V"},
                 {"g", "B T H", TensorKind::floating, false},
                 {"g_key", "B T H K", TensorKind::floating, false},
                 {"state", "N H K V", TensorKind::floating, false},
                 {"z", "N H K", TensorKind::floating, false},
                 {"key_mask", "B T", TensorKind::boolean, false},
                 {"cu_seqlens", "N+1", TensorKind::integer, false}},
      .options = {{"feature", OptionKind::choice, "elu1", "phi, applied to q and k", {"elu1", "relu", "identity"}},
                  {"eps", OptionKind::number, "1e-6", "added to the denominator"},
                  {"normalize", OptionKind::boolean, "true", "divide by phi(q) z + eps"},
                  {"causal", OptionKind::boolean, "true", "a query reads no later token"}},
      .outputs = {"o", "state", "z"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_},
      .stream = {.carried = {"state", "z"}, .needs = "causal"},
      .run = run,
  };
  add_state_options(
      mechanism.options, true,
      "n: two more outputs, checkpoints [M,H,K,V] and checkpoints_z [M,H,K], after tokens n, 2n, ... of each sequence; 0: none");
  return mechanism;
}

}  // namespace linearmem
