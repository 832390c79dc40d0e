// Saved sessions: what comes back goes on as if it had never left, and whatever else the bytes are is refused by name.
#include <gtest/gtest.h>

#include "core/session_driver.hpp"
#include "foundation/crc32c.hpp"

namespace linearmem {
namespace {

using test::ConvDeltaLayer;
using test::Feed;
using test::must;
using test::equal_bits;
using test::SessionDriver;
using Bytes = std::vector<std::byte>;

template <typename T>
class SavedSession : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SavedSession, Precisions);

TYPED_TEST(SavedSession, WhatIsLoadedGoesOnAsIfItHadNeverLeft) {
  SessionDriver<TypeParam> here({.requests = 3, .weights = 77}), there({.requests = 4, .checkpoints = 2, .weights = 77});
  std::vector<SavedRequest> saved;
  for (std::int64_t r = 0; r < 3; ++r) {
    saved.push_back({100 - r, must(here->open())});
    here.run(Feed{saved.back().request, static_cast<std::uint64_t>(r), 0, 3 * r});  // the first has seen nothing
  }
  const Bytes bytes = must(here->save(saved));
  EXPECT_EQ(static_cast<std::int64_t>(bytes.size()), must(here->saved_bytes(3)));
  must(there.step({must(there->open())}));  // other slots than before
  const std::vector<SavedRequest> loaded = must(there->load(bytes, "kept"));
  ASSERT_EQ(loaded.size(), 3u);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(loaded[r].id, saved[r].id);
    EXPECT_NE(loaded[r].request.slot, saved[r].request.slot);
    const std::int64_t at = 3 * static_cast<std::int64_t>(r);
    EXPECT_EQ(must(there->tokens(loaded[r].request)), at);
    EXPECT_TRUE(equal_bits(there.run(Feed{loaded[r].request, r, at, at + 4}), here.run(Feed{saved[r].request, r, at, at + 4})));
    EXPECT_TRUE(equal_bits(there.state(loaded[r].request), here.state(saved[r].request)));
  }
}

TYPED_TEST(SavedSession, OneOfThemByItsId) {
  SessionDriver<TypeParam> here({.requests = 2}), there({.requests = 1});
  const RequestHandle a = must(here->open()), b = must(here->open());
  here.run({{a, 1, 0, 2}, {b, 2, 0, 5}});
  const Bytes bytes = must(here->save(std::vector<SavedRequest>{{-4, a}, {9, b}}));
  EXPECT_EQ(there->load(bytes, "kept", 5).status().message(), "kept: has no request 5");
  EXPECT_EQ(there->load(bytes, "kept").status().message(), "kept: has 2 requests; 1 more may be open");
  EXPECT_EQ(there->open_requests(), 0);
  const auto loaded = must(there->load(bytes, "kept", 9));
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_TRUE(equal_bits(there.state(loaded[0].request), here.state(b)));
  EXPECT_EQ(here->save(std::vector<SavedRequest>{{3, a}, {3, b}}).status().message(), "sessions: the id 3 is given twice");
  EXPECT_EQ(must(here->load(must(here->save({})), "none")).size(), 0u);
}

// A small session of two requests in two layers.
class Damage : public testing::Test {
 protected:
  Damage() {
    saved_ = {{1, must(driver_->open())}, {2, must(driver_->open())}};
    driver_.run({{saved_[0].request, 1, 0, 3}, {saved_[1].request, 2, 0, 1}});
    bytes_ = must(driver_->save(saved_));
  }
  // Empty where the bytes are accepted.
  std::string refusal(const Bytes& bytes) {
    const auto loaded = reader_->load(bytes, "f");
    EXPECT_EQ(reader_->open_requests(), loaded.ok() ? 2 : 0);
    for (std::size_t r = 0; loaded.ok() && r < 2; ++r) must(reader_->close(loaded.value()[r].request));
    return loaded.status().message();
  }
  template <typename Value>
  static void put(Bytes& bytes, std::size_t at, Value value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  // The head again whole, around what a test has put into it.
  static void seal(Bytes& bytes) { put(bytes, 52, crc32c(std::span(bytes).first(52))); }

  ConvDeltaLayer<float> a_{"a", 1, 1, 2, 1}, b_{"b", 1, 1, 2, 2};
  SessionDriver<float> driver_{{.requests = 2, .weights = 5}, {&a_, &b_}}, reader_{{.requests = 2, .weights = 5}, {&a_, &b_}};
  std::vector<SavedRequest> saved_;
  Bytes bytes_;
};

TEST_F(Damage, EveryByteFlippedIsRefusedWithItsOffset) {
  for (std::size_t at = 0; at < bytes_.size(); ++at)
    for (int change : {0x01, 0x80, 0xff}) {
      Bytes flipped = bytes_;
      flipped[at] ^= static_cast<std::byte>(change);
      ASSERT_EQ(refusal(flipped).rfind("f: offset ", 0), 0u) << at << " " << change;
    }
  EXPECT_EQ(refusal(bytes_), "");
}

TEST_F(Damage, EveryShorterLengthAndALongerOneAreRefused) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    const std::string text = refusal(Bytes(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_EQ(text.rfind("f: offset " + std::to_string(size) + ": ", 0), 0u) << text;
  }
  Bytes longer = bytes_;
  longer.resize(longer.size() + 1);
  const auto size = std::to_string(bytes_.size());
  EXPECT_EQ(refusal(longer), "f: offset " + size + ": has " + std::to_string(longer.size()) + " bytes; its head says " + size);
}

TEST_F(Damage, WholePartsThatWereMovedAreFoundOut) {
  const std::size_t each = (bytes_.size() - static_cast<std::size_t>(must(reader_->saved_bytes(0)))) / 2, first = bytes_.size() - 2 * each;
  const std::size_t conv = 4 * 4 * 3 + 4, memory = 2 * 4 + 4;  // parts of a layer with their checksums
  ASSERT_EQ(each, 20 + 2 * (conv + memory));
  const auto exchanged = [&](std::size_t a, std::size_t b, std::size_t count) {
    Bytes moved = bytes_;
    const auto at = [&](std::size_t offset) { return moved.begin() + static_cast<std::ptrdiff_t>(offset); };
    std::swap_ranges(at(a), at(a + count), at(b));
    return refusal(moved);
  };
  EXPECT_NE(exchanged(first + 20, first + 20 + conv + memory, conv).find("damaged: the checksum of part 0 of request 1 is"), std::string::npos);
  EXPECT_NE(exchanged(first + 20, first + each + 20, conv).find("damaged: the checksum of part 0 of request 1 is"), std::string::npos);
  EXPECT_NE(exchanged(first, first + each, 20).find("damaged: the checksum of part 0 of request 2 is"), std::string::npos);
  EXPECT_EQ(exchanged(first, first + each, each), "");  // whole requests may stand in any order
}

TEST_F(Damage, AnotherVersionModelTypeOrWeightsIsNamed) {
  Bytes other = bytes_;
  put(other, 8, 2);
  EXPECT_EQ(refusal(other), "f: offset 8: has version 2; this program reads 1");
  other = bytes_;
  put(other, 0, 'X');
  EXPECT_EQ(refusal(other), "f: offset 0: is not a saved session: it does not begin with LMSESS and a line end");

  const ConvDeltaLayer<float> c("c", 1, 1, 2, 3), wider("b", 2, 1, 2, 3), taller("a", 2, 1, 2, 3);
  const auto by = [&](std::vector<const Layer<float>*> layers, std::uint64_t weights = 5) {
    SessionDriver<float> writer({.requests = 1, .weights = weights}, std::move(layers));
    return refusal(must(writer->save(std::vector<SavedRequest>{{1, must(writer->open())}})));
  };
  EXPECT_EQ(by({&a_, &c}), "f: offset 123: of another model: it has \"layer 1 c\", this one has \"layer 1 b\"");
  EXPECT_EQ(by({&taller, &wider}), "f: offset 66: of another model: it has \"layer 0 conv_state [8,3]\", this one has \"layer 0 conv_state [4,3]\"");
  EXPECT_EQ(by({&a_}), "f: offset 123: of another model: it has no more, this one has \"layer 1 b\"");
  EXPECT_EQ(by({&a_, &b_, &b_}), "f: offset 190: of another model: it has \"layer 2 b\", this one has no more");
  EXPECT_EQ(by({&a_, &b_}, 6), "f: offset 40: of other weights or settings: it has 0x0000000000000006, this session has 0x0000000000000005");

  const ConvDeltaLayer<double> da("a", 1, 1, 2, 1), db("b", 1, 1, 2, 2);
  SessionDriver<double> doubles({.requests = 2, .weights = 5}, {&da, &db});
  EXPECT_EQ(doubles->load(bytes_, "f").status().message(), "f: offset 12: its states are f32; this session computes in f64");
}

// Heads that are whole and lie: nothing is allocated by what they say.
TEST_F(Damage, AWholeHeadWithWrongLengthsIsRefused) {
  const auto with = [&](std::size_t at, std::uint64_t value) {
    Bytes lying = bytes_;
    put(lying, at, value);
    seal(lying);
    return refusal(lying);
  };
  const auto size = std::to_string(bytes_.size());
  for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    const auto text = std::to_string(value);
    EXPECT_NE(with(16, value).find("has " + size + " bytes; its head says " + text), std::string::npos);
    EXPECT_EQ(with(24, value).rfind("f: offset ", 0), 0u);
    EXPECT_EQ(with(32, value), "f: offset 32: says " + text + " requests; they do not fill its " + size + " bytes");
  }
}

TEST_F(Damage, WholeRequestsThatSayTheImpossibleAreRefused) {
  std::uint32_t head = 0;
  std::memcpy(&head, bytes_.data() + 52, 4);
  const std::size_t at = static_cast<std::size_t>(must(reader_->saved_bytes(0)));
  for (std::int64_t tokens : {std::int64_t{-1}, (std::int64_t{1} << 48) + 1, std::numeric_limits<std::int64_t>::max()}) {
    Bytes lying = bytes_;
    put(lying, at + 8, tokens);
    put(lying, at + 16, crc32c_of(tokens, crc32c_of(std::int64_t{1}, head)));
    EXPECT_EQ(refusal(lying), "f: offset " + std::to_string(at + 8) + ": request 1 says it has seen " + std::to_string(tokens) + " tokens");
  }
  Bytes twice = bytes_;
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::ptrdiff_t>(bytes_.size() - at) / 2,
              twice.begin() + static_cast<std::ptrdiff_t>(at + (bytes_.size() - at) / 2));
  EXPECT_EQ(refusal(twice), "f: offset 32: request 1 is in it twice");
}

// Written by somebody else: whole, but of a request that has seen nothing and has a state all the same.
TEST_F(Damage, ARequestThatHasSeenNothingIsZerosWhateverIsInItsParts) {
  std::uint32_t head = 0;
  std::memcpy(&head, bytes_.data() + 52, 4);
  std::size_t at = static_cast<std::size_t>(must(reader_->saved_bytes(0)));
  const std::uint32_t request = crc32c_of(std::int64_t{0}, crc32c_of(std::int64_t{1}, head));
  put(bytes_, at + 8, std::int64_t{0});
  put(bytes_, at + 16, request);
  at += 20;
  for (std::uint64_t part = 0; part < 4; ++part) {
    const std::size_t count = part % 2 ? 8 : 48;
    put(bytes_, at + count, crc32c(std::span(bytes_).subspan(at, count), crc32c_of(part, request)));
    at += count + 4;
  }
  const auto loaded = must(reader_->load(bytes_, "f"));
  EXPECT_EQ(must(reader_->tokens(loaded[0].request)), 0);
  for (float value : reader_.state(loaded[0].request)) EXPECT_EQ(value, 0.0f);
  EXPECT_TRUE(equal_bits(reader_.state(loaded[1].request), driver_.state(saved_[1].request)));
}

TEST(Checksum, OfWeightsSeesNamesTypesShapesValuesAndSettings) {
  const NamedTensors weights = {{"a", to_named(std::vector<float>{1, 2}, {2})}, {"b", to_named(std::vector<float>{3}, {1})}};
  NamedTensors named = weights, shaped = weights, typed = weights, valued = weights;
  named["c"] = named["b"];
  named.erase("b");
  shaped["a"].shape = {1, 2};
  typed["a"].dtype = DType::i32;
  valued["b"] = to_named(std::vector<float>{-3}, {1});
  const std::uint64_t own = weights_checksum(weights, "eps=1");
  EXPECT_EQ(weights_checksum(NamedTensors(weights), "eps=1"), own);
  for (const NamedTensors& other : {named, shaped, typed, valued, NamedTensors()}) EXPECT_NE(weights_checksum(other, "eps=1"), own);
  EXPECT_NE(weights_checksum(weights, "eps=2"), own);
}

TEST(Checksum, IsTheOneOfTheStandards) {
  const std::string digits = "123456789";
  const auto bytes = std::as_bytes(std::span(digits.data(), digits.size()));
  EXPECT_EQ(crc32c(bytes), 0xe3069283u);  // the check value of CRC-32C in RFC 3720's polynomial
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

}  // namespace
}  // namespace linearmem
