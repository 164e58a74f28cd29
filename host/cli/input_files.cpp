// SPDX-License-Identifier: Apache-2.0
#include "cli/input_files.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <random>
#include <set>

#include "cli/text.hpp"
#include "formats/npy/npy.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeed = 1;

std::string names_of(const std::vector<PortInfo>& inputs) {
  std::vector<std::string> names;
  for (const PortInfo& input : inputs) names.push_back("'" + input.name + "'");
  return join(names, ", ");
}

// Names may contain '=', so the longest input name that stands before one wins.
InputFile resolve_input(const std::string& text, const std::vector<PortInfo>& inputs) {
  InputFile found;
  std::size_t best = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const std::string& name : inputs[i].names) {
      if (name.size() >= best && text.compare(0, name.size() + 1, name + "=") == 0) {
        best = name.size();
        found = {i, text.substr(name.size() + 1)};
      }
    }
  }
  if (!found.path.empty()) return found;
  const std::size_t equals = text.find('=');
  if (inputs.size() == 1 && (equals == std::string::npos || fs::exists(text))) return {0, text};
  if (equals == std::string::npos) {
    fail(ErrorCode::kInvalidArgument,
         fmt::format("-i '{}': the model has {} inputs, so write NAME=FILE.npy with one of {}", text, inputs.size(),
                     names_of(inputs)));
  }
  fail(ErrorCode::kInvalidArgument, fmt::format("-i '{}': the model has no input '{}'; its inputs are {}", text,
                                                text.substr(0, equals), names_of(inputs)));
}

}  // namespace

std::vector<std::pair<InputFile, Tensor>> read_inputs(const std::vector<std::string>& texts,
                                                      const std::vector<PortInfo>& inputs) {
  std::vector<std::pair<InputFile, Tensor>> tensors;
  std::set<std::size_t> given;
  for (const std::string& text : texts) {
    InputFile file = resolve_input(text, inputs);
    check(given.insert(file.input).second, ErrorCode::kInvalidArgument,
          fmt::format("input '{}' is given twice", inputs[file.input].name));
    Tensor tensor = read_npy(file.path);
    tensors.emplace_back(std::move(file), std::move(tensor));
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (given.count(i) == 0) missing.push_back(inputs[i].name);
  }
  if (!missing.empty()) {
    fail(ErrorCode::kInvalidArgument, fmt::format("no data for input{} '{}': give -i {}=FILE.npy",
                                                  missing.size() > 1 ? "s" : "", join(missing, "', '"), missing[0]));
  }
  return tensors;
}

Tensor random_tensor(const PortInfo& input) {
  if (!input.shape.is_static()) {
    fail(ErrorCode::kInvalidArgument,
         fmt::format("input '{}' has no fixed shape: give --input-shape {}[...]", input.name, input.name));
  }
  const Shape shape = input.shape.to_shape();
  if (!is_floating(input.type)) return Tensor(input.type, shape);
  std::mt19937 generator(kSeed);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  Tensor values(ElementType::f32, shape);
  for (float& value : values.mutable_values<float>()) value = uniform(generator);
  return input.type == ElementType::f32 ? values : convert(values, input.type);
}

}  // namespace headrace
