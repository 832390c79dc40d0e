#include "sessions/saved_form.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "foundation/crc32c.hpp"

namespace linearmem::sessions {
namespace {

static_assert(std::endian::native == std::endian::little, "saved sessions are little-endian, and so is every target");

constexpr char kMagic[8] = {'L', 'M', 'S', 'E', 'S', 'S', '\r', '\n'};  // the line end is spoilt by copies that take it for text
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kMoreModelBytes = 1 << 16;  // that another model's text may have, and be looked at to say where it differs

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

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

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

Status damaged(const std::string& file, std::uint64_t offset, const std::string& reason) {
  return Status::invalid(file + ": offset " + std::to_string(offset) + ": " + reason);
}

Status checksum_differs(const std::string& file, std::uint64_t offset, const std::string& what, std::uint32_t says, std::uint32_t is) {
  return damaged(file, offset, "damaged: the checksum of " + what + " is " + hexadecimal(is, 8) + ", it says " + hexadecimal(says, 8));
}

const char* type_name(std::uint64_t element_bytes) { return element_bytes == 4 ? "f32" : element_bytes == 8 ? "f64" : "an unknown type"; }

template <typename Value>
std::span<const std::byte> first_bytes(const Value& value, std::size_t count) {
  return std::as_bytes(std::span(&value, 1)).first(count);
}

// Zeros in pieces, where a request has no row yet.
Status write_zeros(std::size_t count, SessionSink& sink, std::uint32_t& checksum) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  while (count > 0) {
    const auto piece = std::span(kZeros).first(std::min(count, kZeros.size()));
    checksum = crc32c(piece, checksum);
    if (Status status = sink.write(piece); !status.ok()) return status;
    count -= piece.size();
  }
  return {};
}

Status write_request(const StateRows& rows, const Slot& slot, std::int64_t id, std::uint32_t head, SessionSink& sink) {
  RequestHead request{.id = id, .tokens = slot.tokens, .checksum = 0};
  request.checksum = request_checksum(request, head);
  if (Status status = sink.write(first_bytes(request, kRequestHead)); !status.ok()) return status;
  for (std::size_t part = 0; part < rows.parts().size(); ++part) {
    std::uint32_t sum = part_checksum({}, part, request.checksum);
    if (slot.row == kNoRow) {
      if (Status status = write_zeros(static_cast<std::size_t>(rows.parts()[part].bytes), sink, sum); !status.ok()) return status;
    } else {
      sum = part_checksum(rows.bytes(part, slot.row), part, request.checksum);
      if (Status status = sink.write(rows.bytes(part, slot.row)); !status.ok()) return status;
    }
    if (Status status = sink.write(first_bytes(sum, kPartEnd)); !status.ok()) return status;
  }
  return {};
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

Result<Head> read_head(const SessionSource& source) {
  const std::string& file = source.name();
  const auto size = static_cast<std::uint64_t>(source.size());
  const auto has = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof(Head)));
  Head head{};
  if (Status status = source.read(0, std::as_writable_bytes(std::span(&head, 1)).first(has)); !status.ok()) return status;
  if (std::memcmp(head.magic, kMagic, std::min(has, sizeof kMagic)) != 0)
    return damaged(file, 0, "is not a saved session: it does not begin with LMSESS and a line end");
  if (has < sizeof head) return damaged(file, has, "ends within the head of " + std::to_string(sizeof head) + " bytes");
  if (head.version != kVersion)
    return damaged(file, offsetof(Head, version), "has version " + std::to_string(head.version) + "; this program reads " + std::to_string(kVersion));
  if (const std::uint32_t sum = head_checksum(head); sum != head.checksum)
    return checksum_differs(file, offsetof(Head, checksum), "the head", head.checksum, sum);
  if (head.file_bytes != size)
    return damaged(file, std::min(size, head.file_bytes), "has " + std::to_string(size) + " bytes; its head says " + std::to_string(head.file_bytes));
  return head;
}

Status check_model(const SavedModel& model, const Head& head, const SessionSource& source) {
  const std::string& file = source.name();
  if (head.element_bytes != static_cast<std::uint64_t>(model.element_bytes))
    return damaged(file, offsetof(Head, element_bytes), std::string("its states are ") + type_name(head.element_bytes) + "; this session computes in " +
                                                            type_name(static_cast<std::uint64_t>(model.element_bytes)));
  const std::uint64_t rest = head.file_bytes - sizeof(Head);
  if (head.model_bytes > std::min<std::uint64_t>(rest, model.text.size() + kMoreModelBytes))
    return damaged(file, offsetof(Head, model_bytes), "its model takes " + std::to_string(head.model_bytes) + " bytes; this one takes " +
                                                          std::to_string(model.text.size()) + ", and " + std::to_string(rest) + " follow the head");
  std::string text(static_cast<std::size_t>(head.model_bytes), '\0');
  if (Status status = source.read(sizeof(Head), std::as_writable_bytes(std::span(text))); !status.ok()) return status;
  if (const std::uint32_t sum = crc32c(bytes_of_text(text)); sum != head.model_checksum)
    return checksum_differs(file, sizeof(Head), "the model", head.model_checksum, sum);
  if (text != model.text) return model_differs(file, text, model.text);
  if (head.weights != model.weights)
    return damaged(file, offsetof(Head, weights), "of other weights or settings: it has " + hexadecimal(head.weights, 16) + ", this session has " +
                                                      hexadecimal(model.weights, 16));
  return {};
}

Result<FoundRequest> read_request_head(const SessionSource& source, std::int64_t at, std::uint32_t head) {
  RequestHead request{};
  if (Status status = source.read(at, std::as_writable_bytes(std::span(&request, 1)).first(kRequestHead)); !status.ok()) return status;
  const auto offset = static_cast<std::uint64_t>(at);
  if (const std::uint32_t sum = request_checksum(request, head); sum != request.checksum)
    return checksum_differs(source.name(), offset, "a request's id and length", request.checksum, sum);
  if (request.tokens < 0 || request.tokens > kMostTokens)
    return damaged(source.name(), offset + offsetof(RequestHead, tokens),
                   "request " + std::to_string(request.id) + " says it has seen " + std::to_string(request.tokens) + " tokens");
  return FoundRequest{.id = request.id, .tokens = request.tokens, .at = at + static_cast<std::int64_t>(kRequestHead), .checksum = request.checksum};
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
    return Status(StatusCode::out_of_memory,
                  "sessions: " + std::to_string(requests) + " saved requests of " + std::to_string(each) + " bytes cannot be addressed");
  return all;
}

Status encode(const SavedModel& model, const RequestTable& table, std::span<const SavedRequest> requests, SessionSink& sink) {
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
  if (Status status = sink.write(first_bytes(head, sizeof head)); !status.ok()) return status;
  if (Status status = sink.write(bytes_of_text(model.text)); !status.ok()) return status;
  for (const SavedRequest& saved : requests)
    if (Status status = write_request(table.rows(), table.slot(saved.request), saved.id, head.checksum, sink); !status.ok()) return status;
  return {};
}

Result<std::vector<FoundRequest>> find_requests(const SavedModel& model, const StateRows& rows, const SessionSource& source) {
  const auto head = read_head(source);
  if (!head.ok()) return head.status();
  if (Status status = check_model(model, head.value(), source); !status.ok()) return status;
  const std::int64_t size = source.size(), first = static_cast<std::int64_t>(sizeof(Head) + model.text.size());
  const std::uint64_t requests = head.value().requests;
  const auto wanted = requests > static_cast<std::uint64_t>(size) ? Result<std::int64_t>(std::int64_t{-1})
                                                                  : saved_size(model, rows, static_cast<std::int64_t>(requests));
  if (!wanted.ok() || wanted.value() != size)
    return damaged(source.name(), offsetof(Head, requests),
                   "says " + std::to_string(requests) + " requests; they do not fill its " + std::to_string(size) + " bytes");
  const std::int64_t each = requests == 0 ? 0 : (size - first) / static_cast<std::int64_t>(requests);
  std::vector<FoundRequest> found;
  for (std::int64_t at = first; at < size; at += each) {
    const auto request = read_request_head(source, at, head.value().checksum);
    if (!request.ok()) return request.status();
    found.push_back(request.value());
  }
  if (Status status = check_ids(found, source.name()); !status.ok()) return status;
  return found;
}

Status read_parts(const StateRows& rows, std::int64_t row, const SessionSource& source, const FoundRequest& request) {
  std::int64_t at = request.at;
  for (std::size_t part = 0; part < rows.parts().size(); ++part) {
    const std::span<std::byte> to = rows.bytes(part, row);
    std::uint32_t says = 0;
    if (Status status = source.read(at, to); !status.ok()) return status;
    if (Status status = source.read(at + rows.parts()[part].bytes, std::as_writable_bytes(std::span(&says, 1))); !status.ok()) return status;
    if (const std::uint32_t sum = part_checksum(to, part, request.checksum); sum != says)
      return checksum_differs(source.name(), static_cast<std::uint64_t>(at), "part " + std::to_string(part) + " of request " + std::to_string(request.id),
                              says, sum);
    at += rows.parts()[part].bytes + static_cast<std::int64_t>(kPartEnd);
  }
  return {};
}

}  // namespace linearmem::sessions
