#include "picture_file.hpp"

#include <fstream>
#include <string>

#include "figure_plot.hpp"
#include "gnuplot.hpp"

namespace linearmem::cli {
namespace {

// gnuplot ends with code 0 even where it could not draw; what it left must begin as such a picture does.
Status check_picture(const std::filesystem::path& file, const std::string& start) {
  std::string found(start.size(), '\0');
  std::ifstream(file, std::ios::binary).read(found.data(), static_cast<std::streamsize>(found.size()));
  return found == start ? Status{} : Status::unavailable("gnuplot left no picture; does it have the terminals svg and pngcairo?");
}

}  // namespace

Result<StagedFile> stage_picture(const Figure& figure, const std::filesystem::path& target) {
  const bool svg = target.extension() == ".svg";
  if (!svg && target.extension() != ".png") return Status::invalid(target.string() + ": a picture's name ends with .svg or .png");
  auto file = StagedFile::create(target);
  if (!file.ok()) return file;
  const std::filesystem::path picture = std::filesystem::absolute(file.value().temporary());
  if (Status status = run_gnuplot(gnuplot_script(figure, svg ? Picture::svg : Picture::png, picture)); !status.ok()) return status;
  if (Status status = check_picture(picture, svg ? "<?xml" : "\x89PNG"); !status.ok()) return status;
  return file;
}

}  // namespace linearmem::cli
