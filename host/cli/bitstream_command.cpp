// SPDX-License-Identifier: Apache-2.0
// `headrace bitstream build | show | list`.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// One row of `bitstream list`.
struct Listed {
  std::string file;
  bool is_recipe = false;
  std::string name;
  std::string problem;               // why it cannot be read, or empty
  std::set<std::string> holds;       // a bitstream's kernel instance keys, a recipe's operator types ("*": all)
  std::vector<std::string> missing;  // of what the model needs

  std::string kind() const { return is_recipe ? "recipe" : "bitstream"; }
};

// What a model needs: a bitstream is judged by its kernels, a recipe by its operators.
struct Needs {
  std::vector<std::string> kernels;
  std::vector<std::string> operators;
};

// Scalars as "key: value", lists as their length: enough to know a bitstream by; --json has the rest.
void print_manifest(const Json& manifest) {
  TextTable table({"KEY", "VALUE"});
  for (const auto& [key, value] : manifest.items()) {
    if (value.is_string()) {
      table.add({key, one_line(value.get<std::string>())});
    } else if (value.is_array()) {
      const bool is_text = std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); });
      table.add(
          {key, is_text ? join(value.get<std::vector<std::string>>(), ", ") : fmt::format("{} entries", value.size())});
    } else {
      table.add({key, value.dump()});
    }
  }
  fmt::print("{}", table.to_string());
}

// The instance keys of a manifest.
std::set<std::string> kernel_keys(const Json& manifest) {
  std::set<std::string> keys;
  for (const Json& program : manifest.at("programs")) {
    const std::string prefix =
        program.at("file").get<std::string>() + "|" + program.at("macros").get<std::string>() + "|";
    for (const Json& kernel : program.at("kernels")) keys.insert(prefix + kernel.at("name").get<std::string>());
  }
  return keys;
}

Json parse_recipe(const fs::path& path) {
  constexpr std::uintmax_t kMaxRecipeBytes = 4 << 20;
  check(fs::file_size(path) <= kMaxRecipeBytes, ErrorCode::kBadModel, "larger than any recipe (4 MiB)");
  std::ifstream file(path, std::ios::binary);
  const Json document = Json::parse(file, nullptr, false);
  check(document.is_object(), ErrorCode::kBadModel, "not a JSON object");
  return document;
}

Listed list_file(const Core& core, const fs::path& path) {
  Listed row{path.string(), path.extension() == ".json", path.stem().string(), "", {}, {}};
  try {
    const Json document = row.is_recipe ? parse_recipe(path) : Json::parse(core.show_bitstream(path.string()));
    row.name = document.at("name").get<std::string>();
    row.holds = row.is_recipe ? document.at("operators").get<std::set<std::string>>() : kernel_keys(document);
  } catch (const std::exception& error) {  // one bad file must not hide the others
    row.problem = one_line(error.what());
  }
  return row;
}

Needs find_needs(const Core& core, const ModelOptions& options) {
  const Model model = open_model(core, options);
  std::set<std::string> operators;
  for (const LayerPlacement& placement : core.query_model(model, "HETERO:" + options.devices + ",CPU")) {
    if (!placement.device.empty() && placement.device != "CPU") operators.insert(placement.type);
  }
  return {core.needed_kernels(model, options.devices), {operators.begin(), operators.end()}};
}

void note_missing(const Needs& needs, Listed& row) {
  if (row.is_recipe && row.holds.count("*") != 0) return;
  const std::vector<std::string>& wanted = row.is_recipe ? needs.operators : needs.kernels;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(row.missing),
               [&row](const std::string& need) { return row.holds.count(need) == 0; });
}

std::vector<Listed> list_folder(const Core& core, const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".json" || extension == ".hrb") paths.push_back(entry.path());
  }
  check(!failed, ErrorCode::kIo,
        fmt::format("cannot list '{}': {}; name the folder of your bitstreams with --dir", folder, failed.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<Listed> rows;
  for (const fs::path& path : paths) rows.push_back(list_file(core, path));
  return rows;
}

std::string fit_text(const Listed& row) {
  if (row.missing.empty()) return "fits";
  return fmt::format("lacks {} {}{}: {}", row.missing.size(), row.is_recipe ? "operator" : "kernel",
                     row.missing.size() == 1 ? "" : "s", join(row.missing, ", "));
}

void print_list(const std::vector<Listed>& rows, bool has_model) {
  TextTable table({"FILE", "KIND", "NAME", "HOLDS", has_model ? "FOR THE MODEL" : ""});
  for (const Listed& row : rows) {
    if (!row.problem.empty()) {
      table.add({row.file, row.kind(), row.name, "-", "unreadable: " + row.problem});
      continue;
    }
    const std::string holds = row.holds.count("*") != 0
                                  ? "all operators"
                                  : fmt::format("{} {}", row.holds.size(), row.is_recipe ? "operators" : "kernels");
    table.add({row.file, row.kind(), row.name, holds, has_model ? fit_text(row) : ""});
  }
  fmt::print("{}", table.to_string());
}

}  // namespace

int run_command(const BitstreamBuildOptions& options) {
  ProgressBar bar("building");
  const Core::BuildReport report = Core().build_bitstream(
      options.recipe, options.device, options.output, [&bar](int done, int total, std::string_view what) {
        bar.show(total > 0 ? static_cast<double>(done) / total : 0.0, what);
      });
  if (options.is_json) {
    const Json document{{"file", report.path},       {"name", report.name},        {"uuid", report.uuid},
                        {"kernels", report.kernels}, {"bytes", report.size_bytes}, {"build_ms", report.build_ms}};
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}: bitstream {} ({}), {} kernels, {} KiB, built in {:.1f} s\n", report.path, report.name, report.uuid,
               report.kernels, report.size_bytes / 1024, report.build_ms / 1000.0);
  }
  return 0;
}

int run_command(const BitstreamShowOptions& options) {
  const std::string manifest = Core().show_bitstream(options.file);
  if (options.is_json) {
    fmt::print("{}\n", manifest);
  } else {
    print_manifest(Json::parse(manifest));
  }
  return 0;
}

int run_command(const BitstreamListOptions& options) {
  const Core core;
  const bool has_model = !options.model.model.empty();
  const Needs needs = has_model ? find_needs(core, options.model) : Needs();
  std::vector<Listed> rows = list_folder(core, options.folder);
  for (Listed& row : rows) note_missing(needs, row);
  if (!options.is_json) {
    print_list(rows, has_model);
    return 0;
  }
  Json list = Json::array();
  for (const Listed& row : rows) {
    Json item{{"file", row.file}, {"kind", row.kind()}, {"name", row.name}, {"problem", row.problem}};
    item[row.is_recipe ? "operators" : "kernels"] = row.holds;
    if (has_model) item["missing"] = row.missing;
    list.push_back(std::move(item));
  }
  fmt::print("{}\n", Json{{"bitstreams", list}}.dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

}  // namespace headrace
