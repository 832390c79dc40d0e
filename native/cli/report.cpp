// linearmem report --out DIR: run_result.json and the memory-tradeoff figure. All files appear, or none.
#include <memory>

#include "gnuplot.hpp"
#include "picture_file.hpp"
#include "run_result.hpp"
#include "staged_file.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct ReportArguments {
  std::string folder;
  bool no_figure = false;
};

// Makes the folder when it is missing, and takes it away again unless keep() is called.
class ReportFolder {
 public:
  explicit ReportFolder(const std::filesystem::path& path) : path_(path) {
    std::error_code error;
    if (std::filesystem::is_directory(path_, error)) return;
    made_ = std::filesystem::create_directory(path_, error);
    if (!made_)
      status_ = Status::invalid(path_.string() + ": cannot make this folder: " + (error ? error.message() : "a file of that name exists"));
  }
  ~ReportFolder() {
    std::error_code ignored;
    if (made_) std::filesystem::remove(path_, ignored);  // only when empty
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;

  const Status& status() const { return status_; }
  void keep() { made_ = false; }

 private:
  std::filesystem::path path_;
  bool made_ = false;
  Status status_;
};

Status draw(const Figure& figure, const std::filesystem::path& folder, std::vector<StagedFile>& files) {
  for (const char* name : {"memory-tradeoff.svg", "memory-tradeoff.png"}) {
    auto file = stage_picture(figure, folder / name);
    if (!file.ok()) return file.status();
    files.push_back(std::move(file).value());
  }
  return {};
}

Status stage_result(const nlohmann::ordered_json& result, const std::filesystem::path& folder, std::vector<StagedFile>& files) {
  auto file = StagedFile::create(folder / "run_result.json");
  if (!file.ok()) return file.status();
  if (Status status = file.value().append(result.dump(2) + "\n"); !status.ok()) return status;
  files.push_back(std::move(file).value());
  return {};
}

Result<int> report(const ReportArguments& arguments) {
  if (!arguments.no_figure)
    if (Status status = find_gnuplot(); !status.ok()) return status;
  const auto claims = run_claims({}, {});
  if (!claims.ok()) return claims.status();
  const auto result = run_result(claims.value());
  if (!result.ok()) return result.status();
  const auto figure = run_experiment("memory-tradeoff", {});
  if (!figure.ok()) return figure.status();

  ReportFolder folder(arguments.folder);
  if (!folder.status().ok()) return folder.status();
  std::vector<StagedFile> files;
  if (Status status = stage_result(result.value(), arguments.folder, files); !status.ok()) return status;
  if (!arguments.no_figure)
    if (Status status = draw(figure.value(), arguments.folder, files); !status.ok()) return status;
  if (Status status = commit_all(files); !status.ok()) return status;
  folder.keep();
  return all_pass(claims.value()) ? kDone : kClaimFailed;
}

}  // namespace

void add_report(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* verb = app.add_subcommand("report", "Write run_result.json and the memory-tradeoff figure; exit code 1 when a claim fails");
  verb->add_option("--out", arguments->folder, "Folder to write to; made when missing")->required();
  verb->add_flag("--no-figure", arguments->no_figure, "Only run_result.json; gnuplot is not needed");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return report(*arguments); }; });
}

}  // namespace linearmem::cli
