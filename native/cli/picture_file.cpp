#include "picture_file.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "figure_plot.hpp"
#include "gnuplot.hpp"

namespace linearmem::cli {
namespace {

struct Ends {
  std::string first, last;
};
const Ends kSvg = {"<?xml", "</svg>"}, kPng = {"\x89PNG", "IEND\xae\x42\x60\x82"};

// gnuplot ends with code 0 even where it could not draw, or not all of it.
Status check_picture(const std::filesystem::path& file, const std::string& target, const Ends& ends) {
  std::ifstream stream(file, std::ios::binary);
  std::string found((std::istreambuf_iterator<char>(stream)), {});
  if (!found.starts_with(ends.first))
    return Status::unavailable(target + ": gnuplot left no picture; does it have the terminals svg and pngcairo, and the disk room?");
  while (found.ends_with('\n')) found.pop_back();
  if (found.ends_with(ends.last)) return {};
  return Status::unavailable(target + ": gnuplot left a picture without its end, " + std::to_string(found.size()) + " bytes; has the disk room?");
}

}  // namespace

Result<StagedFile> stage_picture(const Figure& figure, const std::filesystem::path& target) {
  const bool svg = target.extension() == ".svg";
  if (!svg && target.extension() != ".png") return Status::invalid(target.string() + ": a picture's name ends with .svg or .png");
  auto file = StagedFile::create(target);
  if (!file.ok()) return file;
  const std::filesystem::path picture = std::filesystem::absolute(file.value().temporary());
  if (Status status = run_gnuplot(gnuplot_script(figure, svg ? Picture::svg : Picture::png, picture)); !status.ok()) return status;
  if (Status status = check_picture(picture, target.string(), svg ? kSvg : kPng); !status.ok()) return status;
  return file;
}

}  // namespace linearmem::cli
