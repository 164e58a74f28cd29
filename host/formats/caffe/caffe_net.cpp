// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_net.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

// The types of V1LayerParameter: its word, its number, and version 2's name.
struct V1Type {
  std::string_view word;
  std::string_view number;
  std::string_view type;
};
constexpr V1Type kV1Types[] = {
    {"ABSVAL", "35", "AbsVal"},
    {"ACCURACY", "1", "Accuracy"},
    {"ARGMAX", "30", "ArgMax"},
    {"BNLL", "2", "BNLL"},
    {"CONCAT", "3", "Concat"},
    {"CONTRASTIVE_LOSS", "37", "ContrastiveLoss"},
    {"CONVOLUTION", "4", "Convolution"},
    {"DATA", "5", "Data"},
    {"DECONVOLUTION", "39", "Deconvolution"},
    {"DROPOUT", "6", "Dropout"},
    {"DUMMY_DATA", "32", "DummyData"},
    {"ELTWISE", "25", "Eltwise"},
    {"EUCLIDEAN_LOSS", "7", "EuclideanLoss"},
    {"EXP", "38", "Exp"},
    {"FLATTEN", "8", "Flatten"},
    {"HDF5_DATA", "9", "HDF5Data"},
    {"HDF5_OUTPUT", "10", "HDF5Output"},
    {"HINGE_LOSS", "28", "HingeLoss"},
    {"IM2COL", "11", "Im2col"},
    {"IMAGE_DATA", "12", "ImageData"},
    {"INFOGAIN_LOSS", "13", "InfogainLoss"},
    {"INNER_PRODUCT", "14", "InnerProduct"},
    {"LRN", "15", "LRN"},
    {"MEMORY_DATA", "29", "MemoryData"},
    {"MULTINOMIAL_LOGISTIC_LOSS", "16", "MultinomialLogisticLoss"},
    {"MVN", "34", "MVN"},
    {"POOLING", "17", "Pooling"},
    {"POWER", "26", "Power"},
    {"RELU", "18", "ReLU"},
    {"SIGMOID", "19", "Sigmoid"},
    {"SIGMOID_CROSS_ENTROPY_LOSS", "27", "SigmoidCrossEntropyLoss"},
    {"SILENCE", "36", "Silence"},
    {"SLICE", "33", "Slice"},
    {"SOFTMAX", "20", "Softmax"},
    {"SOFTMAX_LOSS", "21", "SoftmaxWithLoss"},
    {"SPLIT", "22", "Split"},
    {"TANH", "23", "TanH"},
    {"THRESHOLD", "31", "Threshold"},
    {"WINDOW_DATA", "24", "WindowData"},
};

const ProtoText* find_field(const ProtoText& message, std::string_view name) {
  for (const ProtoText& field : message.fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::string v1_type(const ProtoText& layer) {
  const ProtoText* type = find_field(layer, "type");
  if (type == nullptr || type->is_message || type->is_string) {
    fail(ErrorCode::kBadModel, "line " + std::to_string(layer.line) +
                                   ": \"layers\" needs a type in capitals, as in "
                                   "\"type: CONVOLUTION\"; version 2 writes \"layer\"");
  }
  for (const V1Type& known : kV1Types) {
    if (type->value == known.word || type->value == known.number) return std::string(known.type);
  }
  return type->value;
}

// Whether the state of the test phase meets a NetStateRule.
bool meets(const CaffeParams& rule, const CaffeParams& state) {
  const CaffeParams::Enumerators kPhases = {{"TRAIN", "0"}, {"TEST", "1"}};
  if (rule.get_enum("phase", "TEST", kPhases) != "TEST") return false;
  const std::int64_t level = state.get_int("level", 0);
  if (rule.has("min_level") && level < rule.get_int("min_level", 0)) return false;
  if (rule.has("max_level") && level > rule.get_int("max_level", 0)) return false;
  const std::vector<std::string> stages = state.strings("stage");
  const auto has = [&](const std::string& stage) {
    return std::find(stages.begin(), stages.end(), stage) != stages.end();
  };
  const std::vector<std::string> wanted = rule.strings("stage");
  const std::vector<std::string> unwanted = rule.strings("not_stage");
  return std::all_of(wanted.begin(), wanted.end(), has) && std::none_of(unwanted.begin(), unwanted.end(), has);
}

bool is_in_test_phase(const CaffeParams& layer, const CaffeParams& state) {
  const auto meets_state = [&](const CaffeParams& rule) { return meets(rule, state); };
  const std::vector<CaffeParams> includes = layer.messages("include");
  const std::vector<CaffeParams> excludes = layer.messages("exclude");
  if (!includes.empty() && !excludes.empty()) {
    fail(ErrorCode::kBadModel, "has both include and exclude rules, expected rules of one kind");
  }
  if (!includes.empty()) return std::any_of(includes.begin(), includes.end(), meets_state);
  return std::none_of(excludes.begin(), excludes.end(), meets_state);
}

void add_layer(const ProtoText& text, bool is_v1, const CaffeParams& state, CaffeNet& net) {
  if (!text.is_message) fail(ErrorCode::kBadModel, "line " + std::to_string(text.line) + ": a layer is no message");
  if (is_v1 && find_field(text, "layer") != nullptr) {
    fail(ErrorCode::kUnsupported, "line " + std::to_string(text.line) +
                                      ": Caffe's format V0 (2013) is not supported: upgrade the file with Caffe's "
                                      "upgrade_net_proto_text");
  }
  CaffeParams params("line " + std::to_string(text.line), &text);
  CaffeLayer layer;
  layer.name = params.get_string("name", "");
  layer.type = is_v1 ? v1_type(text) : params.get_string("type", "");
  try {
    if (!is_in_test_phase(params, state)) return;
    layer.bottoms = params.strings("bottom");
    layer.tops = params.strings("top");
  } catch (const Error& error) {
    rethrow_with_prefix(error, "layer " + quote(layer.name));
  }
  layer.text = &text;
  net.layers.push_back(std::move(layer));
}

void add_inputs(const CaffeParams& params, CaffeNet& net) {
  const std::vector<std::string> names = params.strings("input");
  const std::vector<std::int64_t> dims = params.ints("input_dim");
  const std::vector<CaffeParams> shapes = params.messages("input_shape");
  if (!dims.empty() && (!shapes.empty() || dims.size() != 4 * names.size())) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(names.size()) + " inputs and " + std::to_string(dims.size()) +
                                   " input_dim, expected 4 for each input and no input_shape");
  }
  if (!shapes.empty() && shapes.size() != names.size()) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(names.size()) + " inputs and " + std::to_string(shapes.size()) +
                                   " input_shape, expected one for each");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    CaffeInput input{names[i], std::nullopt};
    const std::string what = "input " + quote(names[i]);
    if (!shapes.empty()) input.shape = checked_caffe_shape(shapes[i].ints("dim"), what);
    if (!dims.empty()) {
      const auto first = dims.begin() + static_cast<std::ptrdiff_t>(4 * i);
      input.shape = checked_caffe_shape({first, first + 4}, what);
    }
    net.inputs.push_back(std::move(input));
  }
}

}  // namespace

Shape checked_caffe_shape(const std::vector<std::int64_t>& dims, std::string_view what) {
  if (dims.size() > kMaxFileRank) {
    fail(ErrorCode::kBadModel, std::string(what) + " has " + std::to_string(dims.size()) +
                                   " dimensions, the limit is " + std::to_string(kMaxFileRank));
  }
  if (!is_countable(dims))
    fail(ErrorCode::kBadModel, std::string(what) + " has the impossible shape " + to_string(dims));
  return dims;
}

CaffeNet parse_caffe_net(const ProtoText& text) {
  const CaffeParams params("the network", &text);
  CaffeNet net;
  net.name = params.get_string("name", "");
  add_inputs(params, net);
  const CaffeParams state = params.message("state");
  const bool has_v2 = find_field(text, "layer") != nullptr;
  if (has_v2 && find_field(text, "layers") != nullptr) {
    fail(ErrorCode::kBadModel, "has both \"layer\" (version 2) and \"layers\" (version 1), expected one of them");
  }
  for (const ProtoText& field : text.fields) {
    if (field.name == "layer" || field.name == "layers") add_layer(field, !has_v2, state, net);
  }
  if (net.layers.empty()) fail(ErrorCode::kBadModel, "the network has no layers in phase TEST");
  return net;
}

}  // namespace headrace::detail
