#include "sessions/saved_form.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "foundation/crc32c.hpp"

namespace linearmem::sessions {
namespace {

static_assert(std::endian::native == std::endian::little, "saved sessions are little-endian, and so is every target");

constexpr char kMagic[8] = {'L', 'M', 'S', 'E', 'S', 'S', '\r', '\n'};  // the line end is spoilt by copies that take it for text
constexpr std::uint32_t kVersion = 1;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 48;  // no request has so many; sums with them stay far from overflow

// The fields lie without gaps, so that a copy of the struct is the format.
struct Head {
  char magic[8];
  std::uint32_t version, element_bytes;
  std::uint64_t file_bytes, model_bytes, requests, weights;
  std::uint32_t model_checksum;
  std::uint32_t checksum;  // of all that comes before it
};
static_assert(sizeof(Head) == 56);

struct RequestHead {
  std::int64_t id, tokens;
  std::uint32_t checksum;  // of id and tokens, after the head's
};
constexpr std::size_t kRequestHead = 20;  // without the padding at the struct's end
static_assert(offsetof(RequestHead, checksum) + sizeof(RequestHead::checksum) == kRequestHead);
constexpr std::size_t kPartEnd = 4;       // the part's checksum

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

std::uint32_t head_checksum(const Head& head) { return crc32c(std::as_bytes(std::span(&head, 1)).first(offsetof(Head, checksum))); }

std::uint32_t request_checksum(const RequestHead& request, std::uint32_t head) { return crc32c_of(request.tokens, crc32c_of(request.id, head)); }

// Each checksum takes in those before it, and the part's place: parts that are whole but moved are found out.
std::uint32_t part_checksum(std::span<const std::byte> bytes, std::size_t part, std::uint32_t request) {
  return crc32c(bytes, crc32c_of(static_cast<std::uint64_t>(part), request));
}

std::string hexadecimal(std::uint64_t value, int digits) {
  std::string text = "0x";
  for (int digit = digits; digit-- > 0;) text += "0123456789abcdef"[value >> (4 * digit) & 15];
  return text;
}

Status damaged(const std::string& file, std::size_t offset, const std::string& reason) {
  return Status::invalid(file + ": offset " + std::to_string(offset) + ": " + reason);
}

Status checksum_differs(const std::string& file, std::size_t offset, const std::string& what, std::uint32_t says, std::uint32_t is) {
  return damaged(file, offset, "damaged: the checksum of " + what + " is " + hexadecimal(is, 8) + ", it says " + hexadecimal(says, 8));
}

const char* type_name(std::uint64_t element_bytes) { return element_bytes == 4 ? "f32" : element_bytes == 8 ? "f64" : "an unknown type"; }

class Writer {
 public:
  explicit Writer(std::size_t size) { bytes_.reserve(size); }
  void put(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void put(const void* from, std::size_t count) { put({static_cast<const std::byte*>(from), count}); }
  void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  std::span<const std::byte> last(std::size_t count) const { return std::span(bytes_).last(count); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

void put_request(Writer& writer, const StateRows& rows, const Slot& slot, std::int64_t id, std::uint32_t head) {
  RequestHead request{.id = id, .tokens = slot.tokens, .checksum = 0};
  request.checksum = request_checksum(request, head);
  writer.put(&request, kRequestHead);
  for (std::size_t part = 0; part < rows.parts().size(); ++part) {
    const auto count = static_cast<std::size_t>(rows.parts()[part].bytes);
    if (slot.row == kNoRow)
      writer.zeros(count);
    else
      writer.put(rows.bytes(part, slot.row));
    const std::uint32_t sum = part_checksum(writer.last(count), part, request.checksum);
    writer.put(&sum, kPartEnd);
  }
}

// The first line that is not the same, of both.
Status model_differs(const std::string& file, std::string_view has, std::string_view wanted) {
  std::size_t line = 0;
  for (std::size_t at = 0; at < std::min(has.size(), wanted.size()) && has[at] == wanted[at]; ++at)
    if (has[at] == '\n') line = at + 1;
  const auto line_of = [&](std::string_view text) {
    std::string shown(text.substr(line, std::min<std::size_t>(text.find('\n', line) - line, 100)));
    std::replace_if(shown.begin(), shown.end(), [](unsigned char letter) { return letter < 32 || letter > 126; }, '?');
    return line < text.size() ? "\"" + shown + "\"" : std::string("no more");
  };
  return damaged(file, sizeof(Head) + line, "of another model: it has " + line_of(has) + ", this one has " + line_of(wanted));
}

Result<Head> read_head(std::span<const std::byte> bytes, const std::string& file) {
  Head head{};
  if (!bytes.empty()) std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  if (std::memcmp(head.magic, kMagic, std::min(bytes.size(), sizeof kMagic)) != 0)
    return damaged(file, 0, "is not a saved session: it does not begin with LMSESS and a line end");
  if (bytes.size() < sizeof head)
    return damaged(file, bytes.size(), "ends within the head of " + std::to_string(sizeof head) + " bytes");
  if (head.version != kVersion)
    return damaged(file, offsetof(Head, version), "has version " + std::to_string(head.version) + "; this program reads " + std::to_string(kVersion));
  if (const std::uint32_t sum = head_checksum(head); sum != head.checksum)
    return checksum_differs(file, offsetof(Head, checksum), "the head", head.checksum, sum);
  if (head.file_bytes != bytes.size())
    return damaged(file, std::min<std::uint64_t>(bytes.size(), head.file_bytes),
                   "has " + std::to_string(bytes.size()) + " bytes; its head says " + std::to_string(head.file_bytes));
  return head;
}

Status check_model(const SavedModel& model, const Head& head, std::span<const std::byte> bytes, const std::string& file) {
  if (head.element_bytes != static_cast<std::uint64_t>(model.element_bytes))
    return damaged(file, offsetof(Head, element_bytes), std::string("its states are ") + type_name(head.element_bytes) + "; this session computes in " +
                                                            type_name(static_cast<std::uint64_t>(model.element_bytes)));
  if (head.model_bytes > bytes.size() - sizeof(Head))
    return damaged(file, offsetof(Head, model_bytes), "its model takes " + std::to_string(head.model_bytes) + " bytes; " +
                                                          std::to_string(bytes.size() - sizeof(Head)) + " follow the head");
  const auto has = bytes.subspan(sizeof(Head), static_cast<std::size_t>(head.model_bytes));
  if (const std::uint32_t sum = crc32c(has); sum != head.model_checksum)
    return checksum_differs(file, sizeof(Head), "the model", head.model_checksum, sum);
  const std::string_view text(reinterpret_cast<const char*>(has.data()), has.size());
  if (text != model.text) return model_differs(file, text, model.text);
  if (head.weights != model.weights)
    return damaged(file, offsetof(Head, weights), "of other weights: it has " + hexadecimal(head.weights, 16) + ", this session has " + hexadecimal(model.weights, 16));
  return {};
}

// Moves `at` past the request.
Result<FoundRequest> read_request(const StateRows& rows, std::span<const std::byte> bytes, std::size_t& at, std::uint32_t head, const std::string& file) {
  RequestHead request{};
  std::memcpy(&request, bytes.data() + at, kRequestHead);
  if (const std::uint32_t sum = request_checksum(request, head); sum != request.checksum)
    return checksum_differs(file, at, "a request's id and length", request.checksum, sum);
  if (request.tokens < 0 || request.tokens > kMostTokens)
    return damaged(file, at + offsetof(RequestHead, tokens), "request " + std::to_string(request.id) + " says it has seen " + std::to_string(request.tokens) + " tokens");
  at += kRequestHead;
  const FoundRequest found{.id = request.id, .tokens = request.tokens, .at = at};
  for (std::size_t part = 0; part < rows.parts().size(); ++part) {
    const auto count = static_cast<std::size_t>(rows.parts()[part].bytes);
    std::uint32_t says = 0;
    std::memcpy(&says, bytes.data() + at + count, kPartEnd);
    if (const std::uint32_t sum = part_checksum(bytes.subspan(at, count), part, request.checksum); sum != says)
      return checksum_differs(file, at, "part " + std::to_string(part) + " of request " + std::to_string(request.id), says, sum);
    at += count + kPartEnd;
  }
  return found;
}

Status check_ids(const std::vector<FoundRequest>& found, const std::string& file) {
  std::vector<std::int64_t> ids;
  for (const FoundRequest& request : found) ids.push_back(request.id);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  return twice == ids.end() ? Status() : damaged(file, offsetof(Head, requests), "request " + std::to_string(*twice) + " is in it twice");
}

}  // namespace

SavedModel saved_model(std::span<const LayerStateLayout> layouts, std::uint64_t weights, std::int64_t element_bytes) {
  SavedModel model{.text = {}, .weights = weights, .element_bytes = element_bytes};
  for (std::size_t layer = 0; layer < layouts.size(); ++layer) {
    model.text += "layer " + std::to_string(layer) + " " + layouts[layer].layer + "\n";
    for (const StatePart& part : layouts[layer].parts) {
      model.text += "layer " + std::to_string(layer) + " " + part.name + " [";
      for (std::size_t axis = 0; axis < part.shape.size(); ++axis) model.text += (axis ? "," : "") + std::to_string(part.shape[axis]);
      model.text += "]\n";
    }
  }
  return model;
}

Result<std::int64_t> saved_size(const SavedModel& model, const StateRows& rows, std::int64_t requests) {
  std::int64_t each = kRequestHead;
  for (const RowPart& part : rows.parts()) each += part.bytes + static_cast<std::int64_t>(kPartEnd);  // rows of this size are in memory
  std::int64_t all = 0;
  if (__builtin_mul_overflow(each, requests, &all) || __builtin_add_overflow(all, sizeof(Head) + model.text.size(), &all) ||
      all > std::numeric_limits<std::ptrdiff_t>::max())
    return Status(StatusCode::out_of_memory, "sessions: " + std::to_string(requests) + " saved requests of " + std::to_string(each) + " bytes cannot be addressed");
  return all;
}

Result<std::vector<std::byte>> encode(const SavedModel& model, const RequestTable& table, std::span<const SavedRequest> requests) {
  const auto size = saved_size(model, table.rows(), static_cast<std::int64_t>(requests.size()));
  if (!size.ok()) return size.status();
  Head head{.magic = {},
            .version = kVersion,
            .element_bytes = static_cast<std::uint32_t>(model.element_bytes),
            .file_bytes = static_cast<std::uint64_t>(size.value()),
            .model_bytes = model.text.size(),
            .requests = requests.size(),
            .weights = model.weights,
            .model_checksum = crc32c(bytes_of_text(model.text)),
            .checksum = 0};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.checksum = head_checksum(head);
  Writer writer(static_cast<std::size_t>(size.value()));
  writer.put(&head, sizeof head);
  writer.put(bytes_of_text(model.text));
  for (const SavedRequest& saved : requests) put_request(writer, table.rows(), table.slot(saved.request), saved.id, head.checksum);
  return writer.take();
}

Result<std::vector<FoundRequest>> decode(const SavedModel& model, const StateRows& rows, std::span<const std::byte> bytes, const std::string& file) {
  const auto head = read_head(bytes, file);
  if (!head.ok()) return head.status();
  if (Status status = check_model(model, head.value(), bytes, file); !status.ok()) return status;
  const std::uint64_t requests = head.value().requests;
  const auto size = requests > bytes.size() ? Result<std::int64_t>(std::int64_t{-1}) : saved_size(model, rows, static_cast<std::int64_t>(requests));
  if (!size.ok() || static_cast<std::uint64_t>(size.value()) != bytes.size())
    return damaged(file, offsetof(Head, requests), "says " + std::to_string(requests) + " requests; they do not fill its " + std::to_string(bytes.size()) + " bytes");
  std::vector<FoundRequest> found;
  for (std::size_t at = sizeof(Head) + model.text.size(); at < bytes.size();) {
    auto request = read_request(rows, bytes, at, head.value().checksum, file);
    if (!request.ok()) return request.status();
    found.push_back(request.value());
  }
  if (Status status = check_ids(found, file); !status.ok()) return status;
  return found;
}

void fill_row(const StateRows& rows, std::int64_t row, std::span<const std::byte> bytes, const FoundRequest& request) {
  std::size_t at = request.at;
  for (std::size_t part = 0; part < rows.parts().size(); ++part) {
    const std::span<std::byte> to = rows.bytes(part, row);
    if (!to.empty()) std::memcpy(to.data(), bytes.data() + at, to.size());
    at += to.size() + kPartEnd;
  }
}

}  // namespace linearmem::sessions
