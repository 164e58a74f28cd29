// SPDX-License-Identifier: Apache-2.0
// A recipe says which kernel instances a bitstream holds (bitstreams/README.md has the format).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/caps.hpp"

namespace headrace {

struct Recipe {
  std::string name;
  std::string family;
  std::string precision;
  std::vector<std::string> operators;  // IR type names; "*" for every operator that has kernels
  std::vector<std::string> keep;       // patterns over "FILE|MACROS"; empty: everything
  std::vector<std::string> drop;       // patterns over "FILE|MACROS"
};

// Reads a recipe. Throws kIo or kBadModel naming the file and the field.
Recipe read_recipe(const std::string& path);
Recipe parse_recipe(std::string_view text, const std::string& what);

// An operator type with every kernel instance that its lowering may choose.
struct OperatorKernels {
  std::string type;
  std::vector<KernelInstance> instances;
};

// What a recipe takes for one device: the family of the device's type (wide or tile), its vector width, each instance
// once, in order. Operators without a kernel for the device are left out (they run on the CPU). Throws kInvalidArgument
// naming an operator of the recipe that the candidates do not know.
struct RecipeSelection {
  std::vector<std::string> operators;
  std::vector<KernelInstance> instances;
};
RecipeSelection select_instances(const Recipe& recipe, std::span<const OperatorKernels> candidates,
                                 const KernelCaps& caps);

}  // namespace headrace
