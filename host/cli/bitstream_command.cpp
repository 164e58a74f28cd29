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
  std::string kind;  // "recipe" or "bitstream"
  std::string name;
  std::string problem;               // why it cannot be read, or empty
  std::set<std::string> kernels;     // instance keys
  std::vector<std::string> missing;  // of those that the model needs
};

// Scalars as "key: value", lists as their length: enough to know a bitstream by; --json has the rest.
void print_manifest(const Json& manifest) {
  TextTable table({"KEY", "VALUE"});
  for (const auto& [key, value] : manifest.items()) {
    if (value.is_string()) {
      table.add({key, one_line(value.get<std::string>())});
    } else if (value.is_array()) {
      table.add({key, fmt::format("{} entries", value.size())});
    } else {
      table.add({key, value.dump()});
    }
  }
  fmt::print("{}", table.to_string());
}

// The instance keys of a recipe or manifest: objects with file, macros and entry.
std::set<std::string> kernel_keys(const Json& document) {
  std::set<std::string> keys;
  for (const auto& list : {"instances", "kernels"}) {
    if (!document.contains(list) || !document[list].is_array()) continue;
    for (const Json& item : document[list]) {
      if (!item.is_object() || !item.contains("file") || !item.contains("entry")) continue;
      keys.insert(item.value("file", "") + "|" + item.value("macros", "") + "|" + item.value("entry", ""));
    }
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
  const bool is_recipe = path.extension() == ".json";
  Listed row{path.string(), is_recipe ? "recipe" : "bitstream", path.stem().string(), "", {}, {}};
  try {
    const Json document = is_recipe ? parse_recipe(path) : Json::parse(core.show_bitstream(path.string()));
    row.name = document.value("name", row.name);
    row.kernels = kernel_keys(document);
  } catch (const std::exception& error) {  // one bad file must not hide the others
    row.problem = one_line(error.what());
  }
  return row;
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

std::string fit_text(const Listed& row, std::size_t needed) {
  if (!row.problem.empty()) return "unreadable: " + row.problem;
  if (row.missing.empty()) return "fits";
  return fmt::format("lacks {} of {} kernels: {}", row.missing.size(), needed, row.missing.front());
}

void print_list(const std::vector<Listed>& rows, bool has_model, std::size_t needed) {
  TextTable table({"FILE", "KIND", "NAME", "KERNELS", has_model ? "FOR THE MODEL" : "PROBLEM"});
  for (const Listed& row : rows) {
    table.add({row.file, row.kind, row.name, fmt::format("{}", row.kernels.size()),
               has_model ? fit_text(row, needed) : row.problem});
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
  std::vector<std::string> needed;
  if (has_model) needed = core.needed_kernels(open_model(core, options.model), options.model.devices);
  std::vector<Listed> rows = list_folder(core, options.folder);
  for (Listed& row : rows) {
    std::copy_if(needed.begin(), needed.end(), std::back_inserter(row.missing),
                 [&row](const std::string& key) { return row.kernels.count(key) == 0; });
  }
  if (!options.is_json) {
    print_list(rows, has_model, needed.size());
    return 0;
  }
  Json list = Json::array();
  for (const Listed& row : rows) {
    Json item{{"file", row.file},
              {"kind", row.kind},
              {"name", row.name},
              {"kernels", row.kernels.size()},
              {"problem", row.problem}};
    if (has_model) item["missing"] = row.missing;
    list.push_back(std::move(item));
  }
  fmt::print("{}\n", Json{{"bitstreams", list}}.dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

}  // namespace headrace
