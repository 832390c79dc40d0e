// Sessions at their limits: sizes known beforehand and equal to the ledger's, memory that does not grow, refusals by name.
#include <gtest/gtest.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "core/session_driver.hpp"

namespace linearmem {
namespace {

using test::ConvDeltaLayer;
using test::drawn_weights;
using test::Feed;
using test::layer_of;
using test::must;
using test::SessionDriver;
using test::ShapeOnlyLayer;

// Bytes that the program has from the allocator, where it can be asked; nothing is allocated between two of these but what is looked for.
std::size_t heap_in_use() {
#if defined(__GLIBC__)
  // A large block may lie in a mapping of its own once and among the others the next time.
  static const bool one_place = ::mallopt(M_MMAP_MAX, 0) == 1;
  return one_place ? ::mallinfo2().uordblks : 0;
#else
  return 0;
#endif
}

LayerGroup group_of(const char* model, LayerKind kind) {
  for (const LayerGroup& group : must(find_model(model)).groups)
    if (group.shape.kind == kind) return group;
  ADD_FAILURE() << model;
  return {};
}

// A layer whose state has the published sizes (no state depends on the model width), beside the model whose ledger must come to the same.
struct PublishedLayer {
  const char* model;
  LayerKind kind;
  LayerSizes sizes;
  std::int64_t bytes;  // by hand, float32
};

const PublishedLayer kPublished[] = {
    {"Qwen3-Next-80B-A3B", LayerKind::gated_delta_rule,
     GatedDeltaNetSizes{.model_width = 16, .key_heads = 16, .value_heads = 32, .key_width = 128, .value_width = 128, .conv_width = 4},
     4 * (32 * 128 * 128 + (2 * 16 * 128 + 32 * 128) * 3)},
    {"Mamba-2-780M", LayerKind::ssd, Mamba2Sizes{.model_width = 16, .heads = 48, .head_width = 64, .groups = 1, .state_width = 128, .conv_width = 4},
     4 * (48 * 64 * 128 + (3072 + 2 * 128) * 3)},
    {"GPT-OSS-20B", LayerKind::window_attention, WindowAttentionSizes{.model_width = 16, .heads = 64, .key_heads = 8, .head_width = 64, .window = 128},
     4 * 2 * 128 * 8 * 64},
    {"Gemma-3-27B", LayerKind::window_attention, WindowAttentionSizes{.model_width = 16, .heads = 32, .key_heads = 16, .head_width = 128, .window = 1024},
     4 * 2 * 1024 * 16 * 128},
};

TEST(SessionLimits, SizesAreTheLedgersToTheByte) {
  for (const PublishedLayer& published : kPublished) {
    LayerGroup group = group_of(published.model, published.kind);
    group.layers = 3;
    ModelLayers model;
    model.groups = {group};
    model.mixers = 3;
    const auto layer = layer_of<float>(published.sizes, drawn_weights(published.sizes, 1));
    const std::int64_t tokens = std::max<std::int64_t>(layer->state_layout().most_tokens, 1);
    const Ledger ledger = must(memory_ledger(model, {.context = tokens, .batch = 2, .precision = {.kv_bits = 32, .state_bits = 32, .conv_bits = 32}}));
    auto sessions = Sessions<float>::create({layer.get(), layer.get(), layer.get()}, {.requests = 2});
    ASSERT_TRUE(sessions.ok()) << sessions.status().message();
    EXPECT_EQ(must(layer->state_layout().ledger_bytes()), published.bytes) << published.model;
    EXPECT_EQ(sessions.value().bytes_per_request(), 3 * published.bytes) << published.model;
    EXPECT_EQ(sessions.value().bytes_per_request(), ledger.request_bytes) << published.model;
    EXPECT_EQ(sessions.value().state_bytes(), ledger.batch_bytes) << published.model;
    EXPECT_EQ(must(bytes_per_request(sessions.value().layouts())), ledger.request_bytes) << published.model;
  }
}

TEST(SessionLimits, CheckpointsAreCountedAndWhatIsHeldBesideStatesIsSmall) {
  const ConvDeltaLayer<double> layer("one", 2, 16, 16, 1);
  auto sessions = Sessions<double>::create({&layer}, {.requests = 5, .checkpoints = 7});
  ASSERT_TRUE(sessions.ok());
  EXPECT_EQ(sessions.value().bytes_per_request(), 8 * (96 * 3 + 2 * 16 * 16));
  EXPECT_EQ(sessions.value().state_bytes(), 12 * sessions.value().bytes_per_request());
  EXPECT_GE(sessions.value().held_bytes(), sessions.value().state_bytes());
  EXPECT_LE(sessions.value().held_bytes(), sessions.value().state_bytes() + 2000);
}

TEST(SessionLimits, ASlotThatIsUsedAMillionTimesGrowsNoMemory) {
  const ConvDeltaLayer<float> layer("tiny", 1, 1, 1, 1);
  SessionDriver<float> driver({.requests = 2, .checkpoints = 2}, {&layer});
  const RequestHandle stays = must(driver->open());
  must(driver.step({stays}));
  const auto state = driver.state(stays);
  const std::int64_t held = driver->held_bytes();
  const std::size_t heap = heap_in_use();
  RequestHandle request, first;
  for (int use = 0; use < 1000000; ++use) {
    const auto opened = driver->open();
    ASSERT_TRUE(opened.ok());
    request = opened.value();
    if (use == 0) first = request;
    const auto kept = driver->checkpoint(request);
    ASSERT_TRUE(kept.ok() && driver->checkpoint(request).ok() && driver->rollback(kept.value()).ok() && driver->close(request).ok());
  }
  EXPECT_EQ(heap_in_use(), heap);
  EXPECT_EQ(driver->held_bytes(), held);
  EXPECT_EQ(request.slot, first.slot);
  EXPECT_EQ(driver->tokens(first).status().message(), "sessions: the request in slot 1 with generation 1 is closed");
  const RequestHandle last = must(driver->open());
  EXPECT_EQ(driver->tokens(first).status().message(), "sessions: the request in slot 1 with generation 1 is closed; generation 1000001 is open in it");
  must(driver.step({last, stays}));
  EXPECT_FALSE(test::equal_bits(driver.state(stays), state));
}

TEST(SessionLimits, EveryRowComesBackFromForksCheckpointsAndClosedRequests) {
  const ConvDeltaLayer<float> layer("tiny", 1, 1, 1, 1);
  SessionDriver<float> driver({.requests = 3, .checkpoints = 2}, {&layer});
  const RequestHandle stays = must(driver->open());
  must(driver.step({stays}));
  for (int use = 0; use < 2000; ++use) {
    const RequestHandle drafted = must(driver->open());
    must(driver.step({drafted}));
    const CheckpointHandle first = must(driver->checkpoint(drafted));
    must(driver.step({drafted}));
    const CheckpointHandle second = must(driver->checkpoint(drafted));
    const RequestHandle forked = must(driver->fork(drafted));
    must(driver.step({forked, drafted, stays}));  // all five rows are in use
    if (use % 2) must(driver->rollback(first));
    if (use % 3) must(driver->discard(use % 2 ? first : second));
    if (use % 5) must(driver->reset(forked));
    must(driver.step({drafted}));
    must(driver->close(forked));
    must(driver->close(drafted));
  }
  EXPECT_EQ(driver->open_requests(), 1);
  EXPECT_EQ(driver->kept_checkpoints(), 0);
}

TEST(SessionLimits, SeventyThousandRequestsOfOneTokenGrowNoMemory) {
  constexpr std::int64_t N = 70000;
  heap_in_use();  // from now on all blocks lie in one place
  const ConvDeltaLayer<float> layer("tiny", 1, 1, 2, 1);
  SessionDriver<float> one({.requests = 1}, {&layer}), all({.requests = N}, {&layer});
  must(one.step({must(one->open())}));
  const std::vector<float> expected = one.last_out();
  std::vector<RequestHandle> requests;
  for (std::int64_t n = 0; n < N; ++n) requests.push_back(must(all->open()));
  must(all.step(requests));
  std::int64_t held = 0;
  std::size_t heap = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t at = 0; at < N * 4; at += 4) ASSERT_EQ(std::memcmp(all.last_out().data() + at, expected.data(), 4 * sizeof(float)), 0) << at;
    if (round == 1) break;
    held = all->held_bytes();
    heap = heap_in_use();
    for (RequestHandle& request : requests) {  // one after the other in the slots of those before
      ASSERT_TRUE(all->close(request).ok());
      request = all->open().value();
    }
    must(all.step(requests));
  }
  EXPECT_EQ(all->held_bytes(), held);
  EXPECT_EQ(heap_in_use(), heap);
  EXPECT_EQ(all->open().status().code(), StatusCode::out_of_memory);
}

TEST(SessionLimits, AHistoryThatKeepsAllIsRefusedBeforeAnyLayerGoesOn) {
  const ConvDeltaLayer<float> first("first", 1, 2, 3, 1);
  const ShapeOnlyLayer<float> history(
      {.layer = "history", .parts = {{"keys", {5, 7}, DType::f32}}, .ledger = {.shape = {.kind = LayerKind::full_attention}}, .most_tokens = 5}, 7);
  SessionDriver<float> driver({.requests = 1}, {&first, &history});
  const RequestHandle request = must(driver->open());
  Tensor<float, 3> hidden({1, 6, 7}), out({1, 6, 7});
  EXPECT_EQ(driver->forward({.requests = {&request, 1}, .hidden = hidden.view(), .out = out.view()}).message(),
            "sessions: request 0 of the call would have 6 tokens; layer 1 (history) has room for 5");
  EXPECT_FALSE(driver->save(std::vector<SavedRequest>{{3, request}}).value().empty());  // not stopped midway
}

TEST(SessionLimits, RefusalsOfCreateNameWhatIsWrong) {
  const ConvDeltaLayer<float> narrow("narrow", 1, 2, 3, 1), wide("wide", 2, 2, 3, 1);
  const ShapeOnlyLayer<float> doubles({.layer = "doubles", .parts = {{"state", {2}, DType::f64}}}, 7);
  const ShapeOnlyLayer<float> negative({.layer = "negative", .parts = {{"state", {2, -3}, DType::f32}}}, 7);
  const ShapeOnlyLayer<float> huge({.layer = "huge", .parts = {{"state", {std::int64_t{1} << 40, 1 << 10}, DType::f32}}}, 7);
  const auto message = [](std::vector<const Layer<float>*> layers, const SessionSettings& settings = {}) {
    return Sessions<float>::create(std::move(layers), settings).status().message();
  };
  EXPECT_EQ(message({}), "sessions: layers is empty; a stack has at least one");
  EXPECT_EQ(message({&narrow, nullptr}), "sessions: layers[1] is null");
  EXPECT_EQ(message({&narrow, &wide}), "sessions: M differs: layer 0 (narrow) has 7, layer 1 (wide) has 14");
  EXPECT_EQ(message({&doubles}), "sessions: layer 0 (doubles): state is F64; this session computes in F32");
  EXPECT_EQ(message({&negative}), "sessions: negative state: axis 1 has a negative size, -3");
  EXPECT_EQ(message({&narrow}, {.requests = 0}), "sessions: requests is 0; it is from 1 to 1099511627776");
  EXPECT_EQ(message({&narrow}, {.checkpoints = -1}), "sessions: checkpoints is -1; it is from 0 to 1099511627776");
  EXPECT_NE(message({&huge}, {.requests = 1 << 20}).find("sessions: "), std::string::npos);
  EXPECT_EQ(Sessions<float>::create({&huge}, {.requests = 1 << 20}).status().code(), StatusCode::out_of_memory);
}

TEST(SessionLimits, RefusalsOfACallNameWhatIsWrongAndChangeNothing) {
  SessionDriver<float> driver({.requests = 2});
  const RequestHandle a = must(driver->open()), b = must(driver->open());
  must(driver.step({a}));
  const auto state = driver.state(a);
  Tensor<float, 3> hidden({1, 3, 22}), out({1, 3, 22}, std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::int64_t> cu = {0, 2, 3}, falling = {0, 4, 3};
  const View<const std::int64_t, 1> offsets(cu.data(), {3});
  const auto message = [&](const std::vector<RequestHandle>& requests, SessionCall<float> call) {
    call.requests = requests;
    if (!call.out.given()) call.out = out.view();
    const std::string text = driver->forward(call).message();
    EXPECT_TRUE(std::isnan(out(0, 0, 0)) && test::equal_bits(driver.state(a), state)) << text;
    return text;
  };
  EXPECT_EQ(message({a}, {.requests = {}, .hidden = hidden.view(), .cu_seqlens = offsets, .out = {}}), "sessions: N differs: requests has 1, cu_seqlens has 2");
  EXPECT_EQ(message({a, b}, {.requests = {}, .hidden = hidden.view(), .out = {}}), "sessions: N differs: requests has 2, hidden has 1");
  EXPECT_EQ(message({a, a}, {.requests = {}, .hidden = hidden.view(), .cu_seqlens = offsets, .out = {}}), "sessions: the request in slot 0 is named twice");
  EXPECT_EQ(message({a, {7, 1}}, {.requests = {}, .hidden = hidden.view(), .cu_seqlens = offsets, .out = {}}), "sessions: slot 7 is none of the 2 there are");
  EXPECT_EQ(message({a, {-1, 0}}, {.requests = {}, .hidden = hidden.view(), .cu_seqlens = offsets, .out = {}}), "sessions: slot -1 is none of the 2 there are");
  EXPECT_EQ(message({a}, {.requests = {}, .hidden = Tensor<float, 3>({1, 3, 21}).view(), .out = {}}), "sessions: M differs: layers has 22, hidden has 21");
  EXPECT_EQ(message({a}, {.requests = {}, .hidden = hidden.view(), .out = hidden.view()}), "sessions: out is the same memory as hidden");
  EXPECT_NE(message({a, b}, {.requests = {}, .hidden = hidden.view(), .cu_seqlens = {falling.data(), {3}}, .out = {}}).find("cu_seqlens"), std::string::npos);
  EXPECT_EQ(driver->read_state(a, 2, 0, {}).message(), "sessions: layer 2 is none of the 2 there are");
  EXPECT_EQ(driver->read_state(a, 1, 2, {}).message(), "sessions: part 2 is none of the 2 of layer 1 (second)");
  EXPECT_EQ(driver->read_state(a, 1, 0, {}).message(), "sessions: part 0 has 66 elements, to has 0");
  must(driver->forward({.requests = {}, .hidden = Tensor<float, 3>({0, 1, 22}).view(), .out = Tensor<float, 3>({0, 1, 22}).view()}));
}

}  // namespace
}  // namespace linearmem
