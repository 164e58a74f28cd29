// SPDX-License-Identifier: Apache-2.0
// Single operators with the answers of an outside tool.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/tensor.hpp"
#include "graph/attributes.hpp"

namespace headrace::test {

struct StoredCase {
  std::string label;
  std::string type;
  std::int32_t opset = 1;
  RawAttributes attributes;
  std::vector<Tensor> inputs;  // all but the first are constants
  std::vector<Tensor> outputs;
};

// Parses "[2,3] 1.5 2 ..." into a tensor.
inline Tensor parse_stored_tensor(ElementType type, std::istream& text) {
  char bracket = 0;
  Shape shape;
  text >> bracket;
  while (text.peek() != ']') {
    std::int64_t size = 0;
    text >> size;
    if (text.peek() == ',') text.get();
    shape.push_back(size);
  }
  text >> bracket;
  Tensor result(type, shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.count()); ++i) {
    if (type == ElementType::f32) {
      text >> result.mutable_values<float>()[i];
    } else if (type == ElementType::i32) {
      text >> result.mutable_values<std::int32_t>()[i];
    } else {
      text >> result.mutable_values<std::int64_t>()[i];
    }
  }
  if (!text) fail(ErrorCode::kBadModel, "a stored tensor has too few values");
  return result;
}

// One case as tests/tools/make_move_cases.py writes it: lines "case LABEL TYPE OPSET", "attribute NAME VALUE",
// "input TYPE SHAPE VALUES", "output TYPE SHAPE VALUES".
inline StoredCase parse_stored_case(const char* text) {
  StoredCase result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string role;
    std::string name;
    words >> role >> name;
    if (role == "case") {
      result.label = name;
      words >> result.type >> result.opset;
    } else if (role == "attribute") {
      words >> result.attributes[name];
    } else {
      (role == "input" ? result.inputs : result.outputs)
          .push_back(parse_stored_tensor(*find_element_type(name), words));
    }
  }
  return result;
}

inline std::vector<StoredCase> stored_move_cases() {
  constexpr const char* kTexts[] = {
#include "support/move_cases.inc"
  };
  std::vector<StoredCase> cases;
  for (const char* text : kTexts) cases.push_back(parse_stored_case(text));
  return cases;
}

}  // namespace headrace::test
