#include "foundation/form_check.hpp"

#include <algorithm>
#include <string>

namespace linearmem {
namespace {

std::string names(std::initializer_list<Form> forms) {
  std::string text;
  for (Form form : forms) text += (text.empty() ? "" : ", ") + std::string(form_name(form));
  return text;
}

}  // namespace

Status check_form(const char* door, Form form, std::int64_t chunk, std::initializer_list<Form> has) {
  const auto name = [form] { return std::string(form_name(form)); };
  if (form != Form::automatic && std::find(has.begin(), has.end(), form) == has.end())
    return Status::invalid(std::string(door) + ": form " + name() + " is not one of " + names(has));
  if (form == Form::chunked ? chunk >= 0 : chunk == 0) return {};
  const std::string start = std::string(door) + ": chunk is " + std::to_string(chunk);
  return Status::invalid(start + (form == Form::chunked ? ", must be at least 1 token" : ", but form is " + name() + ", not chunked"));
}

}  // namespace linearmem
