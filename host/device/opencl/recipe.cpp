// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/recipe.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "device/opencl/bitstream.hpp"
#include "device/opencl/files.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxRecipeBytes = std::size_t{1} << 20;

// Whether the macros name another vector width than the device's. Instances without VEC fit every device.
bool has_other_width(const std::string& macros, int width) {
  const std::string padded = "," + macros + ",";
  return padded.find(",VEC=") != std::string::npos &&
         padded.find(",VEC=" + std::to_string(width) + ",") == std::string::npos;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, text); });
}

// "conv_tile.cl" for "conv_wide.cl", the form of the other family.
std::string tile_sibling(const std::string& file) {
  constexpr std::string_view kWide = "_wide.cl";
  return file.ends_with(kWide) ? file.substr(0, file.size() - kWide.size()) + "_tile.cl" : "";
}

std::set<std::string> all_files(std::span<const OperatorKernels> candidates) {
  std::set<std::string> files;
  for (const OperatorKernels& candidate : candidates) {
    for (const KernelInstance& instance : candidate.instances) files.insert(instance.file);
  }
  return files;
}

// GPUs take the tile form of what has one, and the wide form of the rest (element-wise kernels have no other).
bool is_of_family(const KernelInstance& instance, const std::set<std::string>& files, const KernelCaps& caps) {
  if (caps.is_wide()) return !instance.file.ends_with("_tile.cl");
  return files.count(tile_sibling(instance.file)) == 0;
}

// Instances with the macro VNNI are for devices that have the instruction, or for those that have not.
bool has_other_vnni(const std::string& macros, bool has_vnni) {
  return ("," + macros + ",").find(has_vnni ? ",VNNI=0," : ",VNNI=1,") != std::string::npos;
}

bool is_selected(const Recipe& recipe, const KernelInstance& instance, const KernelCaps& caps) {
  if (has_other_width(instance.macros, caps.vector_width) || has_other_vnni(instance.macros, caps.has_vnni)) {
    return false;
  }
  const std::string key = instance.program_key();
  return (recipe.keep.empty() || matches_any(recipe.keep, key)) && !matches_any(recipe.drop, key);
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::string& what) {
  Recipe recipe;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("format") != 1) {
      fail(ErrorCode::kBadModel,
           what + ": has recipe format " + json.at("format").dump() + ", this program reads format 1");
    }
    static const std::set<std::string> kKnown = {"format",      "name",      "family", "precision",
                                                 "description", "operators", "keep",   "drop"};
    for (const auto& [key, value] : json.items()) {
      if (kKnown.count(key) == 0) fail(ErrorCode::kBadModel, what + ": unknown field '" + key + "'");
    }
    recipe.name = json.at("name").get<std::string>();
    recipe.family = json.at("family").get<std::string>();
    recipe.precision = json.at("precision").get<std::string>();
    recipe.operators = json.at("operators").get<std::vector<std::string>>();
    recipe.keep = json.value("keep", std::vector<std::string>{});
    recipe.drop = json.value("drop", std::vector<std::string>{});
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kBadModel, what + ": is not a recipe: " + error.what());
  }
  return recipe;
}

Recipe read_recipe(const std::string& path) { return parse_recipe(read_file(path, kMaxRecipeBytes), path); }

RecipeSelection select_instances(const Recipe& recipe, std::span<const OperatorKernels> candidates,
                                 const KernelCaps& caps) {
  const std::set<std::string> wanted(recipe.operators.begin(), recipe.operators.end());
  const bool is_all = wanted.count("*") != 0;
  const std::set<std::string> files = all_files(candidates);
  std::set<std::string> known;
  std::set<std::string> operators;
  std::set<KernelInstance> instances;
  for (const OperatorKernels& candidate : candidates) {
    known.insert(candidate.type);
    if (!is_all && wanted.count(candidate.type) == 0) continue;
    for (const KernelInstance& instance : candidate.instances) {
      if (!is_of_family(instance, files, caps) || !is_selected(recipe, instance, caps)) continue;
      instances.insert(instance);
      operators.insert(candidate.type);
    }
  }
  for (const std::string& type : wanted) {
    if (type == "*" || known.count(type) != 0) continue;
    fail(ErrorCode::kInvalidArgument, "recipe '" + recipe.name + "': operator '" + type + "' does not exist");
  }
  return {{operators.begin(), operators.end()}, {instances.begin(), instances.end()}};
}

}  // namespace headrace
