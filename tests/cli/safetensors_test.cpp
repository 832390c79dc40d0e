// The safetensors reader and writer: bit-exact round trips, and every kind of broken or hostile file refused with its offset.
#include "safetensors.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>

#include "cli/command.hpp"

namespace linearmem {
namespace {

std::string file_of(const std::string& header, const std::string& data, std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}
std::string file_of(const std::string& header, const std::string& data = "") { return file_of(header, data, header.size()); }

Result<NamedTensors> parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), "x.safetensors");
}

// One F32 tensor "a" of two elements, with any of its three fields replaced.
std::string header_with(const std::string& dtype, const std::string& shape, const std::string& offsets, const std::string& more = "") {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}" + more + "}";
}
const std::string kData8(8, '\1');

struct Broken {
  const char* kind;
  std::string bytes;
  std::uint64_t offset;
  std::string reason;  // a part of it

  friend void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.kind; }
};

std::uint64_t data_at(const std::string& header) { return 8 + header.size(); }

std::vector<Broken> broken_files() {
  const std::string good = header_with(R"("F32")", "[2]", "[0,8]");
  const std::string two = header_with(R"("F32")", "[2]", "[0,8]", R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":)");
  const auto second = [&two](const std::string& offsets) { return two.substr(0, two.size() - 1) + offsets + "}}"; };
  const std::string pair = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string latin = "{\"\xe9\":{}}";
  return {
      {"empty", "", 0, "truncated"},
      {"seven_bytes", std::string(7, '\0'), 7, "truncated"},
      {"length_beyond_file", file_of("{}", "", 3), 0, "truncated: header length 3, but only 2 bytes follow"},
      {"length_above_limit", file_of("{}", "", 100'000'001), 0, "header length 100000001 is above the limit"},
      {"length_all_ones", file_of("{}", "", ~std::uint64_t{0}), 0, "header length 18446744073709551615 is above the limit"},
      {"empty_header", file_of(""), 8, "does not start with {"},
      {"leading_space", file_of(" {}"), 8, "does not start with {"},
      {"byte_order_mark", file_of("\xef\xbb\xbf{}"), 8, "does not start with {"},
      {"nul_after_json", file_of(std::string("{}\0", 3)), 10, "NUL"},
      {"not_json", file_of("{\"a\" 5}"), 15, "not JSON"},
      {"cut_json", file_of("{\"a\":{"), 14, "not JSON"},
      {"text_after_json", file_of("{} x"), 12, "not JSON"},
      {"invalid_utf8", file_of(latin), 12, "not JSON"},
      {"array_as_header", file_of("{\"a\":[]}"), 14, "array is not expected"},
      {"deep_nesting", file_of("{" + std::string(100000, '[')), 10, "not JSON"},
      {"deep_objects", file_of(R"({"a":{"dtype":{"b":)"), 8 + 15, "object is not expected"},
      {"duplicate_tensor", file_of(pair, kData8), 8 + pair.rfind("\"a\"") + 3, "duplicate key \"a\""},
      {"duplicate_escaped", file_of(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"\u0061":{}})"), 8 + 61, "duplicate key \"a\""},
      {"duplicate_field", file_of(R"({"a":{"dtype":"F32","dtype":"F64"}})"), 8 + 27, "duplicate key \"dtype\""},
      {"duplicate_metadata", file_of(R"({"__metadata__":{"k":"1","k":"2"}})"), 8 + 28, "duplicate key \"k\""},
      {"metadata_number", file_of(R"({"__metadata__":{"k":1}})"), 8 + 23, "a number is not expected"},
      {"unknown_field", file_of(R"({"a":{"stride":[1]}})"), 8 + 14, "unknown key \"stride\""},
      {"missing_dtype", file_of(R"({"a":{"shape":[2],"data_offsets":[0,8]}})", kData8), 8 + 39, "tensor \"a\" has no dtype"},
      {"missing_shape", file_of(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", kData8), 8 + 41, "has no shape"},
      {"missing_offsets", file_of(R"({"a":{"dtype":"F32","shape":[2]}})", kData8), 8 + 32, "has no data_offsets"},
      {"unknown_dtype", file_of(header_with(R"("F9_E4M4")", "[2]", "[0,8]"), kData8), 8 + 23, "unknown dtype \"F9_E4M4\""},
      {"foreign_dtype", file_of(header_with(R"("F8_E4M3")", "[8]", "[0,8]"), kData8), 8 + 6, "tensor \"a\" is F8_E4M3; what can be read is F64"},
      {"dtype_number", file_of(header_with("5", "[2]", "[0,8]"), kData8), 8 + 16, "a number is not expected"},
      {"shape_string", file_of(header_with(R"("F32")", "\"2\"", "[0,8]"), kData8), 8 + 31, "a string is not expected"},
      {"shape_null", file_of(header_with(R"("F32")", "null", "[0,8]"), kData8), 8 + 32, "null is not expected"},
      {"shape_negative", file_of(header_with(R"("F32")", "[-2]", "[0,8]"), kData8), 8 + 32, "negative number -2"},
      {"shape_fraction", file_of(header_with(R"("F32")", "[2.0]", "[0,8]"), kData8), 8 + 33, "\"2.0\" is not a whole number"},
      {"shape_over_63_bits", file_of(header_with(R"("F32")", "[9223372036854775808]", "[0,8]"), kData8), 8 + 49,
       "not a whole number below 2^63"},
      {"shape_over_64_bits", file_of(header_with(R"("F32")", "[99999999999999999999]", "[0,8]"), kData8), 8 + 50,
       "not a whole number below 2^63"},
      {"shape_overflows", file_of(header_with(R"("F32")", "[4611686018427387904,4]", "[0,8]"), kData8), 8 + 6,
       "needs 18446744073709551615 bytes"},
      {"shape_wraps_to_right_size", file_of(header_with(R"("F32")", "[4294967296,4294967296,2]", "[0,8]"), kData8), 8 + 6, "needs"},
      {"more_bytes_than_shape", file_of(header_with(R"("F32")", "[1]", "[0,8]"), kData8), data_at(header_with(R"("F32")", "[1]", "[0,8]")),
       "need 4 bytes"},
      {"fewer_bytes_than_shape", file_of(header_with(R"("F32")", "[3]", "[0,8]"), kData8), data_at(header_with(R"("F32")", "[3]", "[0,8]")),
       "need 12 bytes"},
      {"one_offset", file_of(header_with(R"("F32")", "[2]", "[0]"), kData8), 8 + 50, "data_offsets must have 2 numbers, has 1"},
      {"three_offsets", file_of(header_with(R"("F32")", "[2]", "[0,8,9]"), kData8), 8 + 54, "data_offsets must have 2 numbers, has more"},
      {"offsets_fall", file_of(header_with(R"("F32")", "[2]", "[8,0]"), kData8), 8 + 6, "data_offsets [8,0] fall"},
      {"offsets_beyond_file", file_of(header_with(R"("F32")", "[2]", "[0,16]"), kData8),
       data_at(header_with(R"("F32")", "[2]", "[0,16]")) + 8, "reach beyond the file"},
      {"truncated_data", file_of(good, kData8.substr(1)), data_at(good) + 7, "reach beyond the file, which has 7 bytes"},
      {"offsets_huge", file_of(header_with(R"("F32")", "[2]", "[9223372036854775800,9223372036854775807]"), kData8),
       data_at(header_with(R"("F32")", "[2]", "[9223372036854775800,9223372036854775807]")) + 8, "reach beyond the file"},
      {"overlap", file_of(second("[4,12]"), kData8 + kData8), data_at(second("[4,12]")) + 4,
       "tensor \"b\" begins at data byte 4, overlapping the tensor that ends at 8"},
      {"same_bytes_twice", file_of(second("[0,8]"), kData8), data_at(second("[0,8]")), "overlapping"},
      {"hole", file_of(second("[12,20]"), kData8 + kData8 + "1234"), data_at(second("[12,20]")) + 8, "leaving a hole after 8"},
      {"hole_at_start", file_of(header_with(R"("F32")", "[2]", "[1,9]"), kData8 + "1"), data_at(header_with(R"("F32")", "[2]", "[1,9]")),
       "leaving a hole after 0"},
      {"trailing_bytes", file_of(good, kData8 + "12"), data_at(good) + 8, "2 trailing bytes belong to no tensor"},
      {"data_without_tensors", file_of("{}", "1"), 10, "1 trailing bytes"},
  };
}

class BrokenFile : public testing::TestWithParam<Broken> {};

TEST_P(BrokenFile, IsRefusedWithFileOffsetAndReason) {
  const Broken& broken = GetParam();
  const auto tensors = parse(broken.bytes);
  ASSERT_FALSE(tensors.ok());
  const std::string expected = "x.safetensors: offset " + std::to_string(broken.offset) + ": ";
  EXPECT_EQ(tensors.status().message().substr(0, expected.size()), expected) << tensors.status().message();
  EXPECT_NE(tensors.status().message().find(broken.reason), std::string::npos) << tensors.status().message();
}

TEST_P(BrokenFile, IsRefusedByTheCommandAndLeavesTheOutputAlone) {
  const test::Folder folder;
  test::write_file(folder / "in", GetParam().bytes);
  test::write_file(folder / "out", "before");
  const std::string message = test::refused({"run", "delta-rule", "--input", folder / "in", "--output", folder / "out"});
  const std::string expected = (folder / "in").string() + ": offset " + std::to_string(GetParam().offset) + ": ";
  EXPECT_EQ(message.substr(0, expected.size()), expected);
  EXPECT_EQ(test::read_file(folder / "out"), "before");
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"in", "out"}));
}

std::string kind_name(const testing::TestParamInfo<Broken>& info) { return info.param.kind; }

INSTANTIATE_TEST_SUITE_P(Kinds, BrokenFile, testing::ValuesIn(broken_files()), kind_name);

TEST(Safetensors, NamesInRefusalsCannotReachTheTerminal) {
  const auto tensors = parse(file_of("{\"\\u001b[31m" + std::string(300, 'x') + "\":{}}"));
  ASSERT_FALSE(tensors.ok());
  EXPECT_EQ(tensors.status().message().find('\x1b'), std::string::npos);
  EXPECT_NE(tensors.status().message().find("\\u001b[31mxxx"), std::string::npos) << tensors.status().message();
  EXPECT_LE(tensors.status().message().size(), 200u);
}

TEST(Safetensors, AcceptsMetadataPaddingEmptyTensorsAndScalars) {
  const std::string header = R"({"__metadata__":{"by":"hand","é":""},"none":{"dtype":"F64","shape":[3,0],"data_offsets":[4,4]},)"
                             R"("one":{"shape":[],"data_offsets":[0,4],"dtype":"I32"}}      )";
  const auto tensors = parse(file_of(header, std::string("\x07\0\0\0", 4)));
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors.value().size(), 2u);
  EXPECT_EQ(tensors.value().at("none").shape, (std::vector<std::int64_t>{3, 0}));
  EXPECT_EQ(tensors.value().at("none").size(), 0);
  EXPECT_TRUE(tensors.value().at("one").shape.empty());
  EXPECT_EQ(integer_values("one", tensors.value().at("one")).value(), (std::vector<std::int64_t>{7}));
  EXPECT_TRUE(parse(file_of("{}")).ok());
}

NamedTensors assorted() {
  NamedTensors tensors;
  tensors["doubles"] = to_named<double>({std::bit_cast<double>(0x7ff0000000000001ull), -0.0, 5e-324, 1.0 / 3}, {2, 2});
  tensors["floats"] = to_named<float>({std::bit_cast<float>(0xffc12345u)}, {1});
  tensors["flags"] = to_named(std::vector<std::uint8_t>{1, 0, 1}, {3});
  tensors["scalar"] = to_named<double>({2.5}, {});
  tensors["nothing"] = to_named(std::vector<double>{}, {4, 0, 2});
  tensors["名\"\n"] = to_named(std::vector<std::int64_t>{-1}, {1});
  tensors["halves"] = {.dtype = DType::f16, .shape = {3}, .bytes = std::vector<std::byte>(6, std::byte{0x5a})};
  return tensors;
}

TEST(Safetensors, RoundTripKeepsEveryBit) {
  const test::Folder folder;
  const NamedTensors tensors = assorted();
  const Status status = write_safetensors(folder / "a.safetensors", tensors);
  ASSERT_TRUE(status.ok()) << status.message();
  const auto back = read_safetensors(folder / "a.safetensors");
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back.value().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(back.value().count(name)) << name;
    EXPECT_EQ(back.value().at(name).dtype, tensor.dtype) << name;
    EXPECT_EQ(back.value().at(name).shape, tensor.shape) << name;
    EXPECT_EQ(back.value().at(name).bytes, tensor.bytes) << name;
  }
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"a.safetensors"}));
}

TEST(Safetensors, WrittenFileHasTheFormatsLayout) {
  const test::Folder folder;
  ASSERT_TRUE(write_safetensors(folder / "a", assorted()).ok());
  const std::string bytes = test::read_file(folder / "a");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  const std::string text = bytes.substr(8, length);
  EXPECT_EQ(text[0], '{');
  EXPECT_EQ(text.find_last_not_of(' '), text.rfind('}'));
  const auto header = nlohmann::ordered_json::parse(text);
  std::vector<std::string> order;
  for (const auto& [name, entry] : header.items()) {
    order.push_back(name);
    const std::uint64_t width = static_cast<std::uint64_t>(dtype_bytes(*dtype_named(entry["dtype"].get<std::string>())));
    EXPECT_EQ(entry["data_offsets"][0].get<std::uint64_t>() % width, 0u) << name;
  }
  EXPECT_EQ(order, (std::vector<std::string>{"doubles", "nothing", "scalar", "名\"\n", "floats", "halves", "flags"}));
}

TEST(Safetensors, WriterRefusesWhatNoReaderCouldRead) {
  const test::Folder folder;
  const auto refusal = [&folder](const std::string& name, const NamedTensor& tensor) {
    return write_safetensors(folder / "a", {{name, tensor}}).message();
  };
  const NamedTensor one = to_named<float>({1}, {1}), short_one{.dtype = DType::f32, .shape = {2}, .bytes = one.bytes};
  EXPECT_NE(refusal("__metadata__", one).find("reserved"), std::string::npos);
  EXPECT_NE(refusal("\xff", one).find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal("a", short_one).find("needs 8 bytes for its shape, it has 4"), std::string::npos);
  EXPECT_TRUE(folder.files().empty());
}

TEST(Safetensors, OnlyRegularFilesAreReadAndReplaced) {
  const test::Folder folder;
  EXPECT_NE(read_safetensors(folder / "absent").status().message().find("no such file"), std::string::npos);
  EXPECT_NE(read_safetensors(folder.path()).status().message().find("not a regular file"), std::string::npos);
  EXPECT_NE(read_safetensors("/dev/null").status().message().find("not a regular file"), std::string::npos);
  EXPECT_NE(write_safetensors("/dev/null", {}).message().find("not a regular file"), std::string::npos);
  EXPECT_NE(write_safetensors(folder.path(), {}).message().find("not a regular file"), std::string::npos);
  EXPECT_NE(write_safetensors(folder / "absent/a", {}).message().find("No such file or directory"), std::string::npos);
}

TEST(Safetensors, WritingThroughALinkKeepsTheLink) {
  const test::Folder folder;
  test::write_file(folder / "real", "before");
  std::filesystem::create_symlink("real", folder / "link");
  const Status status = write_safetensors(folder / "link", assorted());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(read_safetensors(folder / "real").ok());
}

}  // namespace
}  // namespace linearmem
