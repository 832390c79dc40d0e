#include "linearmem/form.hpp"

namespace linearmem {
namespace {

struct FormName {
  Form form;
  std::string_view name;
};

constexpr FormName kFormNames[] = {
    {Form::automatic, "automatic"}, {Form::reference, "reference"}, {Form::explicit_, "explicit"},
    {Form::recurrent, "recurrent"}, {Form::chunked, "chunked"},     {Form::streaming, "streaming"},
    {Form::parallel_scan, "parallel-scan"},
};

}  // namespace

std::string_view form_name(Form form) {
  for (const FormName& entry : kFormNames)
    if (entry.form == form) return entry.name;
  return "unknown";
}

std::optional<Form> form_named(std::string_view name) {
  for (const FormName& entry : kFormNames)
    if (entry.name == name) return entry.form;
  return std::nullopt;
}

}  // namespace linearmem
