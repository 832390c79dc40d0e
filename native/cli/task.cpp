// linearmem task NAME --output X.safetensors: a batch of a recall task, for training and testing elsewhere.
#include <iostream>
#include <memory>

#include "linearmem/recall_tasks.hpp"
#include "safetensors.hpp"
#include "settings.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct TaskArguments {
  std::string name, output;
  std::vector<std::string> settings;
  bool list = false;
};

Result<int> list_tasks() {
  for (const RecallTask& task : recall_tasks()) {
    std::cout << task.name << "\n    " << task.layout << "\n";
    for (const TaskSetting& setting : task.settings)
      std::cout << "    " << setting.name << "=" << number_text(setting.default_value) << "  " << setting.meaning << ", "
                << number_text(setting.minimum) << " to " << number_text(setting.maximum) << (setting.whole ? ", whole" : "") << "\n";
  }
  return kDone;
}

template <typename T>
void add(NamedTensors& tensors, const char* name, const Tensor<T, 2>& tensor) {
  if (tensor.size() > 0) tensors[name] = to_named(tensor.values(), {tensor.extents()[0], tensor.extents()[1]});
}

Result<int> task(const TaskArguments& arguments) {
  if (arguments.list) return list_tasks();
  if (arguments.name.empty()) return Status::invalid("task needs a NAME; task --list names them");
  const auto known = find_recall_task(arguments.name);
  if (!known.ok()) return known.status();
  if (arguments.output.empty()) return Status::invalid("task needs --output X.safetensors");
  const auto settings = parse_number_settings(arguments.settings);
  if (!settings.ok()) return settings.status();
  const auto batch = make_recall_task(arguments.name, settings.value());
  if (!batch.ok()) return batch.status();
  NamedTensors tensors;
  add(tensors, "tokens", batch.value().tokens);
  add(tensors, "labels", batch.value().labels);
  add(tensors, "mask", batch.value().mask);
  add(tensors, "answers", batch.value().answers);
  add(tensors, "key_vectors", batch.value().key_vectors);
  if (Status status = write_safetensors(arguments.output, tensors); !status.ok()) return status;
  std::cout << "fnv1a64 " << task_digest(batch.value()) << "\n";
  return kDone;
}

}  // namespace

void add_task(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<TaskArguments>();
  CLI::App* verb = app.add_subcommand("task", "Write a batch of a recall task to a safetensors file, and print its digest");
  verb->add_option("NAME", arguments->name, "A task, for example multi-query-recall");
  verb->add_option("--set", arguments->settings, "key=value, a setting of the task; may be repeated")->take_all()->expected(1);
  verb->add_option("--output", arguments->output, "The file to write: tokens, labels, mask, and what else the task has");
  verb->add_flag("--list", arguments->list, "Name the tasks and their settings, and stop");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return task(*arguments); }; });
}

}  // namespace linearmem::cli
