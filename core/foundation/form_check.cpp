#include "foundation/form_check.hpp"

#include <algorithm>

namespace linearmem {
namespace {

std::string names(std::initializer_list<Form> forms) {
  std::string text;
  for (Form form : forms) text += (text.empty() ? "" : ", ") + std::string(form_name(form));
  return text;
}

}  // namespace

Status check_form(const std::string& door, Form form, std::int64_t chunk, std::initializer_list<Form> has) {
  const std::string name(form_name(form));
  if (form != Form::automatic && std::find(has.begin(), has.end(), form) == has.end())
    return Status::invalid(door + ": form " + name + " is not one of " + names(has));
  const std::string start = door + ": chunk is " + std::to_string(chunk);
  if (form == Form::chunked) return chunk < 0 ? Status::invalid(start + ", must be at least 1 token") : Status();
  return chunk != 0 ? Status::invalid(start + ", but form is " + name + ", not chunked") : Status();
}

}  // namespace linearmem
