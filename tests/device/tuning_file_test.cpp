// SPDX-License-Identifier: Apache-2.0
// Tuning tables on disk: round trip, damage, other devices, tables that Headrace brings.
#include "device/opencl/tuning_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.hpp"
#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFast = "conv_wide.cl|TILE_M=7,TILE_N=4,VEC=16|conv_wide_f32";
const std::string kDefault = "conv_wide.cl|TILE_M=14,TILE_N=2,VEC=16|conv_wide_f32";

TuningTarget some_target() {
  return {.platform = "Some platform",
          .device = "Some device",
          .driver = "1.2",
          .type = "OpenCL CPU",
          .vector_width = 16,
          .compute_units = 2,
          .has_vnni = true};
}

const KernelSources& sources() {
  static const KernelSources instance;
  return instance;
}

TuningFile some_file() {
  TuningFile file;
  file.target = some_target();
  file.set("conv a", {kFast, kDefault, 10.5, 12.0}, sources());
  file.set("conv b", {kDefault, kDefault, 3.0, 3.0}, sources());
  return file;
}

class TuningFileTest : public testing::Test {
 protected:
  std::shared_ptr<const TuningTable> load(const TuningTarget& target = some_target()) const {
    return load_tuning(path_, target, sources());
  }

  TempFolder folder_;
  std::string path_ = folder_.path("tuning.json");
  LogCollector log_;
};

TEST_F(TuningFileTest, ComesBackAsItWas) {
  write_tuning(some_file(), path_);
  const auto found = find_tuning(path_, some_target(), sources());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(serialize_tuning(*found), serialize_tuning(some_file()));
  EXPECT_EQ(found->shapes.at("conv a").form, kFast);
  EXPECT_EQ(found->shapes.at("conv a").default_form, kDefault);
  EXPECT_EQ(found->shapes.at("conv a").default_us, 12.0);
  EXPECT_EQ(found->shapes.at("conv b").default_form, kDefault);
  const auto table = load();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(*table->find("conv a"), kFast);
  EXPECT_EQ(table->find("conv c"), nullptr);
  EXPECT_THAT(log_.warnings(), IsEmpty());
}

TEST_F(TuningFileTest, AFormOfSeveralKernelsNamesAllTheirFiles) {
  const std::string form = "winograd_tile.cl|OUT=4|winograd_tile_source_f32+conv_tile.cl|ITEM=8,SIDE=8|conv_tile_f32";
  TuningFile file;
  file.target = some_target();
  file.set("conv a", {form, form, 1.0, 1.0}, sources());
  EXPECT_EQ(file.kernels.size(), 2U);
  EXPECT_EQ(file.kernels.at("winograd_tile.cl"), sources().at("winograd_tile.cl").sha256);
  EXPECT_EQ(file.kernels.at("conv_tile.cl"), sources().at("conv_tile.cl").sha256);
  write_tuning(file, path_);
  EXPECT_EQ(*load()->find("conv a"), form);
}

TEST_F(TuningFileTest, IsReplacedInOneStep) {
  write_tuning(some_file(), path_);
  TuningFile more = some_file();
  more.set("conv c", {kFast, kFast, 1.0, 1.0}, sources());
  write_tuning(more, path_);
  EXPECT_EQ(*load()->find("conv c"), kFast);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1U) << "a temporary file is left";
}

TEST_F(TuningFileTest, ADamagedTableIsOneWarning) {
  const std::string good = serialize_tuning(some_file());
  const auto replaced = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::string damaged[] = {"",
                                 "{}",
                                 "[1]",
                                 good.substr(0, good.size() / 2),
                                 std::string(100000, '['),
                                 replaced("\"format\": 1", "\"format\": 2"),
                                 replaced("10.5", "\"fast\""),
                                 replaced("10.5", "-1"),
                                 replaced("\"form\"", "\"from\""),
                                 std::string("\xff\xfe\0", 3)};
  for (const std::string& text : damaged) {
    write_bytes(path_, text);
    const LogCollector log;
    EXPECT_EQ(load(), nullptr);
    ASSERT_EQ(log.warnings().size(), 1U) << text.substr(0, 100);
    EXPECT_THAT(log.warnings()[0], HasSubstr(path_));
    EXPECT_THAT(log.warnings()[0], HasSubstr("headrace tune"));
  }
}

TEST_F(TuningFileTest, ATableOfAnotherDeviceIsOneWarning) {
  write_tuning(some_file(), path_);
  TuningTarget others[] = {some_target(), some_target(), some_target(), some_target()};
  others[0].device = "Another device";
  others[1].driver = "1.3";
  others[2].platform = "Another platform";
  others[3].compute_units = 4;
  for (const TuningTarget& other : others) {
    const LogCollector log;
    EXPECT_EQ(load(other), nullptr);
    EXPECT_EQ(log.warnings().size(), 1U);
  }
}

TEST_F(TuningFileTest, ATableOfOtherKernelsIsOneWarning) {
  TuningFile file = some_file();
  file.kernels["conv_wide.cl"] = std::string(64, '0');
  write_tuning(file, path_);
  EXPECT_EQ(load(), nullptr);
  ASSERT_EQ(log_.warnings().size(), 1U);
  EXPECT_THAT(log_.warnings()[0], HasSubstr("conv_wide.cl"));
}

TEST_F(TuningFileTest, NoTableIsNoFault) {
  EXPECT_EQ(load(), nullptr);
  EXPECT_EQ(load_tuning("", some_target(), sources()), nullptr);
  EXPECT_THAT(log_.warnings(), IsEmpty());
}

TEST_F(TuningFileTest, AnUnwritableFolderIsAnError) {
  write_bytes(folder_.path("file"), "");
  const std::string message =
      error_message([&] { write_tuning(some_file(), folder_.path("file") + "/tuning.json"); }, ErrorCode::kIo);
  EXPECT_THAT(message, HasSubstr(folder_.path("file")));
}

TEST_F(TuningFileTest, PartsOfADeviceHaveTablesOfTheirOwn) {
  OpenClDeviceEntry entry;
  entry.info.platform = "p";
  entry.info.description = "d";
  const std::string whole = tuning_path(entry, 1, "/state");
  EXPECT_NE(tuning_path(entry, 2, "/state"), whole);
  entry.ordinal = 1;
  EXPECT_NE(tuning_path(entry, 1, "/state"), whole);
  EXPECT_EQ(tuning_path(entry, 1, ""), "");
}

// The user's entries stand before those of a table that Headrace brings for devices of the kind.
TEST_F(TuningFileTest, TheUsersTableStandsBeforeTheShippedOne) {
  for (const detail::EmbeddedText& embedded : detail::embedded_tuning()) {
    std::string text;
    for (const std::string& piece : embedded.pieces) text += piece;
    const TuningFile shipped = parse_tuning(text, embedded.name);
    ASSERT_FALSE(shipped.shapes.empty()) << embedded.name;
    TuningTarget target = shipped.target;
    target.device = "Another of its kind";
    target.compute_units = 64;
    const auto table = load(target);
    ASSERT_NE(table, nullptr);
    for (const auto& [shape_class, shape] : shipped.shapes) EXPECT_EQ(*table->find(shape_class), shape.form);

    const std::string& first = shipped.shapes.begin()->first;
    TuningFile own;
    own.target = target;
    own.set(first, {kFast, kFast, 1.0, 1.0}, sources());
    write_tuning(own, path_);
    EXPECT_EQ(*load(target)->find(first), kFast);
    EXPECT_EQ(load(target)->size(), table->size());
    std::filesystem::remove(path_);
    target.vector_width = 1024;
    EXPECT_EQ(load(target), nullptr);
  }
}

}  // namespace
}  // namespace headrace::test
