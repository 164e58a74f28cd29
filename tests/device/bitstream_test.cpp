// SPDX-License-Identifier: Apache-2.0
// The container: what is written reads back, and every kind of damage is refused before any OpenCL call.
#include "device/opencl/bitstream.hpp"

#include <nlohmann/json.hpp>

#include "device/device_fixture.hpp"
#include "device/opencl/recipe.hpp"

namespace headrace::test {
namespace {

Bitstream make_bitstream() {
  Bitstream bitstream{.name = "test-f32",
                      .uuid = "00000000-0000-4000-8000-000000000001",
                      .family = "test",
                      .precision = "f32",
                      .tool = "headrace test",
                      .built_at = "2026-12-02T06:00:00Z",
                      .vector_width = 16,
                      .operators = {"Add", "ReLU"},
                      .target = {"Platform", "Device *", "1.2"},
                      .programs = {}};
  const std::string binary(5000, '\x01');
  bitstream.programs.push_back({"a.cl",
                                "VEC=16",
                                std::string(64, 'a'),
                                {{"a_f32", 3}, {"b_f32", 4}},
                                {{ImageKind::kOpenClBinary, "", binary}, {ImageKind::kSource, "-DVEC=16", "text"}}});
  bitstream.programs.push_back({"b.cl", "", std::string(64, 'b'), {{"c_f32", 1}}, {{ImageKind::kSource, "", "x"}}});
  return bitstream;
}

void expect_refused(const std::string& bytes, const std::string& part = "file.hrb: ") {
  const std::string message = error_message([&] { parse_bitstream(bytes, "file.hrb"); }, ErrorCode::kBadModel);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(BitstreamTest, ReadsBackWhatWasWritten) {
  const TempFolder folder;
  const Bitstream written = make_bitstream();
  write_bitstream(written, folder.path("new/test.hrb"));
  const Bitstream read = read_bitstream(folder.path("new/test.hrb"));
  EXPECT_EQ(serialize_bitstream(read), serialize_bitstream(written));
  EXPECT_EQ(read.instance_keys(), (std::vector<std::string>{"a.cl|VEC=16|a_f32", "a.cl|VEC=16|b_f32", "b.cl||c_f32"}));
  EXPECT_TRUE(read.has({"a.cl", "VEC=16", "b_f32"}));
  EXPECT_FALSE(read.has({"a.cl", "VEC=8", "b_f32"}));
  EXPECT_FALSE(read.has({"a.cl", "VEC=16", "c_f32"}));
  EXPECT_EQ(read.programs[0].images[0].bytes, std::string(5000, '\x01'));
  EXPECT_EQ(nlohmann::json::parse(show_bitstream(read)).at("programs").size(), 2U);
}

TEST(BitstreamTest, PlacesSectionsAtMultiplesOf4096) {
  const std::string bytes = serialize_bitstream(make_bitstream());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x89HRB\r\n\x1a\n", 8));
  EXPECT_EQ(bytes.find("{\"format\":1,"), 4096U);
  EXPECT_EQ(bytes.find(std::string(100, '\x01')), 8192U);
}

TEST(BitstreamTest, RefusesEveryFlippedByte) {
  const std::string good = serialize_bitstream(make_bitstream());
  for (std::size_t i = 0; i < good.size(); i += i < 1024 ? 1 : 37) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    EXPECT_THROW(parse_bitstream(bad, "file.hrb"), Error) << "byte " << i;
  }
}

TEST(BitstreamTest, RefusesEveryTruncation) {
  const std::string good = serialize_bitstream(make_bitstream());
  for (std::size_t size = 0; size < good.size(); size += size < 1024 ? 1 : 61) {
    EXPECT_THROW(parse_bitstream(good.substr(0, size), "file.hrb"), Error) << size << " bytes";
  }
  expect_refused(good + "x", "cut or damaged");
  expect_refused("", "is not a Headrace bitstream (0 bytes");
  expect_refused(std::string(5000, 'x'), "is not a Headrace bitstream");
}

TEST(BitstreamTest, SaysWhichSectionIsDamaged) {
  std::string bad = serialize_bitstream(make_bitstream());
  bad[8192 + 10] = 'x';
  expect_refused(bad, "file.hrb: section 1 'a.cl|VEC=16' is damaged: its SHA-256 does not match");
}

TEST(BitstreamTest, SaysWhichFormatItReads) {
  std::string bad = serialize_bitstream(make_bitstream());
  bad[8] = 2;
  expect_refused(bad, "has bitstream format 2, this program reads format 1");
}

TEST(BitstreamTest, RefusesManifestsThatDoNotFit) {
  // Each is a file with right hashes: the writer does not check, the reader must.
  Bitstream bad = make_bitstream();
  bad.programs[0].kernels[0].name = std::string(400, 'k');  // aborts PoCL 3.1
  expect_refused(serialize_bitstream(bad), "a kernel's name is not a plain name");
  bad = make_bitstream();
  bad.programs[0].file = "../a.cl";
  expect_refused(serialize_bitstream(bad), "file is not a plain name");
  bad = make_bitstream();
  bad.programs[1].images.clear();
  expect_refused(serialize_bitstream(bad), "has no image");
}

TEST(BitstreamTest, RefusesNegativeCounts) {
  Bitstream bad = make_bitstream();
  bad.programs[0].kernels[0].arg_count = -1;
  expect_refused(serialize_bitstream(bad), "field 'args' is no whole number that fits");
  bad = make_bitstream();
  bad.vector_width = -16;
  expect_refused(serialize_bitstream(bad), "field 'vector_width' is no whole number that fits");
}

TEST(BitstreamTest, NamesFilesThatCannotBeRead) {
  const TempFolder folder;
  EXPECT_EQ(error_message([&] { read_bitstream(folder.path("none.hrb")); }, ErrorCode::kIo),
            folder.path("none.hrb") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(error_message([&] { read_bitstream(folder.path()); }, ErrorCode::kIo),
            folder.path() + ": is not a regular file");
}

TEST(BitstreamTest, MatchesPatterns) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*c", "abcbc"));
  EXPECT_TRUE(matches_pattern("pthread-*-avx512*", "pthread-skylake-avx512-Xeon"));
  EXPECT_FALSE(matches_pattern("a*c", "abcb"));
  EXPECT_FALSE(matches_pattern("abc", "abcd"));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(RecipeTest, SelectsByOperatorFamilyAndVectorWidth) {
  const std::vector<OperatorKernels> candidates = {
      {"Convolution",
       {{"conv_wide.cl", "TILE_M=14,VEC=16", "c"},
        {"conv_wide.cl", "TILE_M=6,VEC=8", "c"},
        {"conv_tile.cl", "", "c"},
        {"pad_wide.cl", "", "p"}}},
      {"ReLU", {{"unary_wide.cl", "SET=0,VEC=16", "u"}, {"unary_wide.cl", "SET=1,VEC=16", "u"}}},
      {"Pad", {{"pad_wide.cl", "", "p"}}},
      {"ShapeOf", {}}};
  KernelCaps wide;
  wide.type = DeviceType::kCpu;
  wide.vector_width = 16;
  const auto parse = [](const std::string& rest) {
    return parse_recipe(R"({"format":1,"name":"n","family":"f","precision":"f32",)" + rest + "}", "recipe.json");
  };
  const auto keys = [](const RecipeSelection& selection) {
    std::string text;
    for (const KernelInstance& instance : selection.instances) text += instance.program_key() + " ";
    return text;
  };
  EXPECT_EQ(keys(select_instances(parse(R"("operators":["*"])"), candidates, wide)),
            "conv_wide.cl|TILE_M=14,VEC=16 pad_wide.cl| unary_wide.cl|SET=0,VEC=16 unary_wide.cl|SET=1,VEC=16 ");
  const RecipeSelection some =
      select_instances(parse(R"("operators":["ReLU","ShapeOf"],"drop":["*SET=1*"])"), candidates, wide);
  EXPECT_EQ(keys(some), "unary_wide.cl|SET=0,VEC=16 ");
  EXPECT_EQ(some.operators, std::vector<std::string>{"ReLU"});
  KernelCaps gpu = wide;
  gpu.type = DeviceType::kGpu;
  // conv_tile.cl takes the place of conv_wide.cl; the other wide files are the only form there is.
  EXPECT_EQ(keys(select_instances(parse(R"("operators":["*"])"), candidates, gpu)),
            "conv_tile.cl| pad_wide.cl| unary_wide.cl|SET=0,VEC=16 unary_wide.cl|SET=1,VEC=16 ");
  EXPECT_EQ(error_message([&] { select_instances(parse(R"("operators":["Relu"])"), candidates, wide); },
                          ErrorCode::kInvalidArgument),
            "recipe 'n': operator 'Relu' does not exist");
  EXPECT_EQ(error_message([&] { parse(R"("operators":["*"],"drops":[])"); }, ErrorCode::kBadModel),
            "recipe.json: unknown field 'drops'");
  EXPECT_EQ(error_message([&] { parse_recipe("{}", "recipe.json"); }, ErrorCode::kBadModel)
                .rfind("recipe.json: is not a recipe", 0),
            0U);
}

}  // namespace
}  // namespace headrace::test
