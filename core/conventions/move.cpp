#include <algorithm>

#include "conventions/steps.hpp"
#include "foundation/shape_check.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

using Entries = std::vector<ConventionTensor>;
using Meant = std::vector<const ConventionTensor*>;

Status check_square(const Exchange& exchange) {
  const auto K = exchange.sizes.find("K"), V = exchange.sizes.find("V");
  if (!exchange.rules().square || !K || !V || *K == *V) return {};
  return refuse(exchange.mechanism, "K is " + std::to_string(*K) + " and V is " + std::to_string(*V) + "; its state is square");
}

bool has_alternatives(const Entries& entries, const ConventionTensor& entry) {
  return std::count_if(entries.begin(), entries.end(), [&](const ConventionTensor& e) { return std::string(e.name) == entry.name; }) > 1;
}

// The tensors that can only be meant in one way. What one of them packs into an axis another may tell apart: they are gone through until
// nothing is open.
Status learn_plain(Exchange& exchange, const Meant& meant, bool& open) {
  open = true;
  for (std::size_t round = 0; open && round <= meant.size(); ++round) {
    open = false;
    for (const ConventionTensor* entry : meant)
      if (Status status = exchange.sizes.learn(entry->name, entry->axes, exchange.given->at(entry->name).shape, open); !status.ok()) return status;
  }
  return {};
}

// Of the entries of this name, the first whose axes fit.
Result<const ConventionTensor*> fitting(const Exchange& exchange, const Entries& entries, const std::string& name) {
  const std::vector<std::int64_t>& shape = exchange.given->at(name).shape;
  std::string axes, sizes;
  for (const ConventionTensor& entry : entries) {
    if (entry.name != name) continue;
    if (exchange.sizes.fits(entry.axes, shape)) return &entry;
    axes += (axes.empty() ? "" : " or ") + bracketed_axes(entry.axes);
  }
  for (std::int64_t size : shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  return refuse(exchange.mechanism, name + " is [" + sizes + "], must be " + axes + exchange.sizes.in_words());
}

}  // namespace

Status sizes_from_options(Exchange& exchange) {
  for (const auto& [letter, option] : exchange.rules().head_counts) {
    const auto count = option_integer(exchange.settings, option);
    if (!count) return refuse(exchange.mechanism, std::string("option ") + option + " is missing; it is the number of heads " + letter);
    if (*count < 1) return refuse(exchange.mechanism, std::string("option ") + option + " is " + std::to_string(*count) + ", must be 1 or more");
    if (Status status = exchange.sizes.define(letter, option, *count); !status.ok()) return status;
  }
  if (!exchange.rules().largest) return {};
  return exchange.sizes.define(exchange.rules().largest, "the larger number of heads",
                               std::max(exchange.sizes.at("Hq"), exchange.sizes.at("Hkv")));
}

Result<Meant> entries_meant(Exchange& exchange, const Entries& entries) {
  Meant meant;
  bool open = false;
  for (const ConventionTensor& entry : entries)
    if (exchange.given->count(entry.name) && !has_alternatives(entries, entry)) meant.push_back(&entry);
  if (Status status = learn_plain(exchange, meant, open); !status.ok()) return status;
  for (const ConventionTensor& entry : entries) {
    const auto same = [&](const ConventionTensor* e) { return std::string(e->name) == entry.name; };
    if (!exchange.given->count(entry.name) || std::any_of(meant.begin(), meant.end(), same)) continue;
    const auto fits = fitting(exchange, entries, entry.name);
    if (!fits.ok()) return fits.status();
    if (Status status = exchange.sizes.learn(entry.name, fits.value()->axes, exchange.given->at(entry.name).shape, open); !status.ok()) return status;
    meant.push_back(fits.value());
  }
  if (open) return refuse(exchange.mechanism, "sizes that are packed into one axis cannot be told apart from these shapes");
  return meant;
}

Status move_to_ours(Exchange& exchange, const Entries& entries) {
  const auto meant = entries_meant(exchange, entries);
  if (!meant.ok()) return meant.status();
  if (Status status = check_square(exchange); !status.ok()) return status;
  for (const ConventionTensor* entry : meant.value()) {
    auto moved = moved_to_ours(*entry, exchange.given->at(entry->name), exchange.sizes, exchange.rules().tiled);
    if (!moved.ok()) return moved.status();
    auto formed = form_to_ours(entry->form, door_of(exchange.mechanism) + ": " + entry->name, moved.value(), exchange.settings.dtype);
    if (!formed.ok()) return formed.status();
    const std::string name = entry->ours;
    if (!name.empty() && exchange.ours.count(name))
      return refuse(exchange.mechanism, std::string(entry->name) + " says once more what another tensor says; give one of them");
    (name.empty() ? exchange.parameters[entry->name] : exchange.ours[name]) = std::move(formed).value();
  }
  return {};
}

Status move_to_theirs(Exchange& exchange, const Entries& entries) {
  Meant meant;  // of the entries for one tensor of ours, the first
  for (const ConventionTensor& entry : entries) {
    const auto same = [&](const ConventionTensor* e) { return std::string(e->ours) == entry.ours; };
    const auto ours = exchange.ours.find(entry.ours);
    if (ours == exchange.ours.end() || std::any_of(meant.begin(), meant.end(), same)) continue;
    if (Status status = exchange.sizes.learn_ours(entry.ours, entry.our_axes, ours->second.shape); !status.ok()) return status;
    meant.push_back(&entry);
  }
  if (Status status = check_square(exchange); !status.ok()) return status;
  for (const ConventionTensor* entry : meant) {
    auto formed =
        form_to_theirs(entry->form, door_of(exchange.mechanism) + ": " + entry->ours, exchange.ours.at(entry->ours), exchange.settings.dtype);
    if (!formed.ok()) return formed.status();
    auto moved = moved_to_theirs(*entry, formed.value(), exchange.sizes, exchange.rules().tiled);
    if (!moved.ok()) return moved.status();
    if (exchange.theirs.count(entry->name))
      return refuse(exchange.mechanism, std::string(entry->ours) + " and another tensor would both be " + entry->name + " there");
    exchange.theirs[entry->name] = std::move(moved).value();
  }
  return {};
}

}  // namespace linearmem
