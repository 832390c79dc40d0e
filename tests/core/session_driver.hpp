// A session with its layers, and calls on it whose hidden states are known: token t of the text with a seed is the same numbers wherever
// and whenever it is fed in.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "core/layer_cases.hpp"
#include "core/session_layers.hpp"

namespace linearmem::test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// What a call feeds to a request: tokens [begin, end) of the text with this seed.
struct Feed {
  RequestHandle request;
  std::uint64_t text = 0;
  std::int64_t begin = 0, end = 0;
};

template <typename T>
std::vector<T> token_of(std::uint64_t text, std::int64_t t, std::int64_t M) {
  Numbers numbers(text * 1000003 + static_cast<std::uint64_t>(t));
  std::vector<T> values(static_cast<std::size_t>(M));
  for (T& value : values) value = static_cast<T>(numbers.uniform(-1, 1));
  return values;
}

template <typename Value>
Value must(Result<Value> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(result).value() : Value{};
}
inline void must(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

template <typename T>
class SessionDriver {
 public:
  explicit SessionDriver(const SessionSettings& settings) : SessionDriver(settings, {&first_, &second_}) {}
  SessionDriver(const SessionSettings& settings, std::vector<const Layer<T>*> layers)
      : M_(layers[0]->width()), sessions_(make(std::move(layers), settings)) {}
  SessionDriver(const SessionDriver&) = delete;
  SessionDriver& operator=(const SessionDriver&) = delete;

  Sessions<T>& operator*() { return sessions_; }
  Sessions<T>* operator->() { return &sessions_; }

  // Packed into one call; the output tokens of each feed, packed too.
  std::vector<std::vector<T>> run(const std::vector<Feed>& feeds) {
    std::vector<std::int64_t> cu = {0};
    std::vector<RequestHandle> requests;
    for (const Feed& feed : feeds) cu.push_back(cu.back() + feed.end - feed.begin), requests.push_back(feed.request);
    Guarded<T, 3> hidden({1, cu.back(), M_}), out({1, cu.back(), M_});
    T* to = hidden.data();
    for (const Feed& feed : feeds)
      for (std::int64_t t = feed.begin; t < feed.end; ++t) to = std::copy_n(token_of<T>(feed.text, t, M_).data(), M_, to);
    const View<const std::int64_t, 1> cu_seqlens(cu.data(), {static_cast<std::int64_t>(cu.size())});
    must(sessions_.forward({.requests = requests, .hidden = hidden.view(), .cu_seqlens = cu_seqlens, .out = out.view()}));
    EXPECT_TRUE(out.guards_intact());
    std::vector<std::vector<T>> pieces;
    for (std::size_t n = 0; n < feeds.size(); ++n) pieces.emplace_back(out.data() + cu[n] * M_, out.data() + cu[n + 1] * M_);
    return pieces;
  }
  std::vector<T> run(const Feed& feed) { return run(std::vector{feed}).front(); }

  // A call on these requests whose every hidden value is `value`, one token each.
  Status step(const std::vector<RequestHandle>& requests, double value = 0.5) {
    const auto N = static_cast<std::int64_t>(requests.size());
    const Tensor<T, 3> hidden({N, 1, M_}, static_cast<T>(value));
    last_out_ = Tensor<T, 3>({N, 1, M_}, static_cast<T>(kNaN));
    return sessions_.forward({.requests = requests, .hidden = hidden.view(), .out = last_out_.view()});
  }
  const std::vector<T>& last_out() const { return last_out_.values(); }

  // All parts of all layers.
  std::vector<T> state(RequestHandle request) {
    std::vector<T> all;
    for (std::size_t layer = 0; layer < sessions_.layouts().size(); ++layer)
      for (std::size_t part = 0; part < sessions_.layouts()[layer].parts.size(); ++part) {
        std::vector<T> values(static_cast<std::size_t>(sessions_.layouts()[layer].parts[part].elements()), static_cast<T>(kNaN));
        must(sessions_.read_state(request, static_cast<std::int64_t>(layer), static_cast<std::int64_t>(part), values));
        all.insert(all.end(), values.begin(), values.end());
      }
    return all;
  }

 private:
  static Sessions<T> make(std::vector<const Layer<T>*> layers, const SessionSettings& settings) {
    auto made = Sessions<T>::create(std::move(layers), settings);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(made).value();
  }

  ConvDeltaLayer<T> first_{"first", 2, 3, 5, 1}, second_{"second", 1, 7, 8, 2};  // both of width 22
  std::int64_t M_;
  Sessions<T> sessions_;
  Tensor<T, 3> last_out_;
};

}  // namespace linearmem::test
