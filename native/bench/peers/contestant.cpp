// Our own doors as a contestant of peers/run, natively and as WebAssembly: contestant MECHANISM FOLDER NAME T H K [FORM].
//
// Reads FOLDER/q.f32, k, v and what the mechanism has of beta, g, state (float32, row-major, [1,T,H,K], [1,T,H], [1,H,K,K]), calls the
// door once, writes FOLDER/NAME.o.f32 and NAME.final_state.f32 and prints a line of JSON. Each line of standard input is then a number
// of calls, answered with the seconds they took. A call is the door on views: nothing is allocated or copied for it.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "foundation/aligned_buffer.hpp"
#include "limits.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/softmax_attention.hpp"
#include "linearmem/target.hpp"

namespace {

using namespace linearmem;

struct Job {
  std::string mechanism, folder, name;
  std::int64_t T = 0, H = 0, K = 0;
  Form form = Form::automatic;
};

// On whole cache lines, as other runtimes place theirs.
struct Array {
  std::unique_ptr<AlignedBuffer<float>> memory;
  std::int64_t count = 0;

  void resize(std::int64_t values) { memory = std::make_unique<AlignedBuffer<float>>(count = values); }
  float* data() const { return memory ? memory->data() : nullptr; }
  std::int64_t bytes() const { return count * static_cast<std::int64_t>(sizeof(float)); }
};

// All arrays of a call; those that its mechanism has not are empty.
struct Arrays {
  Array q, k, v, beta, g, state, o, final_state;
};

Status read_array(const Job& job, const char* name, std::int64_t count, Array& to) {
  const std::string path = job.folder + "/" + name + ".f32";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {StatusCode::unavailable, path + ": cannot be read"};
  const auto bytes = static_cast<std::int64_t>(file.tellg()), needed = count * static_cast<std::int64_t>(sizeof(float));
  if (bytes != needed) return Status::invalid(path + ": " + std::to_string(needed) + " bytes are needed, it has " + std::to_string(bytes));
  to.resize(count);
  file.seekg(0).read(reinterpret_cast<char*>(to.data()), needed);
  return {};
}

Status write_array(const Job& job, const char* name, const Array& from) {
  const std::string path = job.folder + "/" + job.name + "." + name + ".f32";
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(from.data()), static_cast<std::streamsize>(from.bytes()));
  return file ? Status() : Status{StatusCode::unavailable, path + ": cannot be written"};
}

bool has_state(const Job& job) { return job.mechanism != "softmax-attention"; }
bool is_gated(const Job& job) { return job.mechanism.substr(0, 5) == "gated"; }
bool is_delta(const Job& job) { return job.mechanism == "delta-rule" || job.mechanism == "gated-delta-rule"; }
bool is_linear(const Job& job) { return job.mechanism == "linear-attention" || job.mechanism == "gated-linear-attention"; }

Status read_arrays(const Job& job, Arrays& a) {
  const std::int64_t scalars = job.T * job.H, rows = scalars * job.K, states = job.H * job.K * job.K;
  Status status = read_array(job, "q", rows, a.q);
  if (status.ok()) status = read_array(job, "k", rows, a.k);
  if (status.ok()) status = read_array(job, "v", rows, a.v);
  if (status.ok() && is_delta(job)) status = read_array(job, "beta", scalars, a.beta);
  if (status.ok() && is_gated(job)) status = read_array(job, "g", scalars, a.g);
  if (status.ok() && has_state(job)) status = read_array(job, "state", states, a.state);
  a.o.resize(rows);
  a.final_state.resize(a.state.count);
  return status;
}

// The call that is timed. The arrays outlive it.
std::function<Status()> call_of(const Job& job, const Arrays& a) {
  const Extents<4> rows = {1, job.T, job.H, job.K}, states = {1, job.H, job.K, job.K};
  const Extents<3> scalars = {1, job.T, job.H};
  const View<const float, 4> q(a.q.data(), rows), k(a.k.data(), rows), v(a.v.data(), rows), state(a.state.data(), states);
  const View<float, 4> o(a.o.data(), rows), final_state(a.final_state.data(), states);
  const View<const float, 3> beta(a.beta.data(), scalars);
  const View<const float, 3> g = is_gated(job) ? View<const float, 3>(a.g.data(), scalars) : View<const float, 3>();
  if (is_delta(job))
    return [=, form = job.form] {
      return delta_rule(DeltaRuleArguments<float>{
          .q = q, .k = k, .v = v, .beta = beta, .g = g, .state = state, .form = form, .o = o, .final_state = final_state});
    };
  if (is_linear(job))
    return [=, form = job.form] {
      return linear_attention(LinearAttentionArguments<float>{.q = q, .k = k, .v = v, .g = g, .state = state, .feature = Feature::identity,
                                                              .normalize = false, .form = form, .o = o, .final_state = final_state});
    };
  return [=, form = job.form] { return softmax_attention(SoftmaxAttentionArguments<float>{.q = q, .k = k, .v = v, .form = form, .o = o}); };
}

bench::Clock contest_clock() {
  const char* name = std::getenv("CONTEST_CLOCK");
  return name && std::string(name) == "processor" ? bench::Clock::processor : bench::Clock::wall;
}

int refuse(const std::string& message) {
  std::fprintf(stderr, "contestant: %s\n", message.c_str());
  return 2;
}

std::int64_t whole(const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && value > 0 ? value : 0;
}

int answer_calls(const std::function<Status()>& call) {
  const bench::Clock clock = contest_clock();
  for (std::string line; std::getline(std::cin, line);) {
    const std::int64_t calls = whole(line);
    if (calls == 0) return refuse("\"" + line + "\" is no number of calls");
    const double begin = bench::seconds(clock);
    for (std::int64_t i = 0; i < calls; ++i)
      if (const Status status = call(); !status.ok()) return refuse(status.message());
    std::printf("%.9e\n", bench::seconds(clock) - begin);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 7 && count != 8) return refuse("give MECHANISM FOLDER NAME T H K [FORM]");
  Job job{.mechanism = words[1], .folder = words[2], .name = words[3], .T = whole(words[4]), .H = whole(words[5]), .K = whole(words[6])};
  const std::optional<Form> form = form_named(count == 8 ? words[7] : "automatic");
  if (job.T == 0 || job.H == 0 || job.K == 0) return refuse("T, H and K are whole numbers above 0");
  if (!form) return refuse(std::string("there is no form ") + words[7]);
  if (has_state(job) && !is_delta(job) && !is_linear(job)) return refuse("there is no contest of " + job.mechanism);
  job.form = *form;
  Arrays arrays;
  Status status = read_arrays(job, arrays);
  if (!status.ok()) return refuse(status.message());
  const std::function<Status()> call = call_of(job, arrays);
  const double begin = bench::seconds(contest_clock());
  status = call();
  const double cold = bench::seconds(contest_clock()) - begin;
  if (status.ok()) status = write_array(job, "o", arrays.o);
  if (status.ok() && has_state(job)) status = write_array(job, "final_state", arrays.final_state);
  if (!status.ok()) return refuse(status.message());
  std::printf("{\"about\": \"linearmem %s, target %s\", \"call\": \"the door on views\", \"cold_seconds\": %.9e}\n",
              std::string(build_id()).c_str(), std::string(simd_target()).c_str(), cold);
  std::fflush(stdout);
  return answer_calls(call);
}
