// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/caffe/caffe_context.hpp"
#include "formats/import/refusals.hpp"

namespace headrace {
namespace detail {
namespace {

// A blob of the network while its layers are walked; nothing where the layer that makes it was refused.
struct CaffeValue {
  std::optional<PortRef> ref;
  bool is_read = false;   // so that it is no output
  bool is_input = false;  // of the network; a label that nothing reads is no output either
  std::size_t place = 0;  // counts the tops: the order of outputs
};

std::string layer_text(const CaffeLayer& layer) {
  return "layer " + quote(layer.name) + " (" + readable(layer.type) + ")";
}

// Reads one network. Not thread-safe.
class CaffeReader {
 public:
  CaffeReader(const CaffeNet& net, const CaffeWeights& weights, Graph& graph)
      : net_(net), weights_(weights), graph_(graph), builder_(graph) {}

  void read() {
    graph_.name = net_.name.empty() ? "network" : net_.name;
    for (const CaffeLayer& layer : net_.layers) {
      if (is_dropped(layer)) continue;
      for (const std::string& bottom : read_bottoms(layer)) read_.insert(bottom);
    }
    for (const CaffeInput& input : net_.inputs) {
      const PartialShape shape = input.shape ? PartialShape(*input.shape) : any_shape();
      define(input.name, add_caffe_input(builder_, input.name, shape), true);
    }
    for (const CaffeLayer& layer : net_.layers) read_layer(layer);
    refusals_.throw_if_any();
    add_results();
    graph_.remove_dead();
    builder_.store_types();
  }

 private:
  void define(const std::string& top, std::optional<PortRef> ref, bool is_input) {
    const auto [entry, is_new] = values_.emplace(top, CaffeValue{});
    if (!is_new) fail(ErrorCode::kBadModel, "makes the blob " + quote(top) + ", which is there already");
    entry->second = {ref, false, is_input, count_++};
  }

  void read_layer(const CaffeLayer& layer) {
    try {
      if (is_dropped(layer)) {
        drop(layer);
      } else {
        convert(layer);
      }
    } catch (const Error& error) {
      rethrow_with_prefix(error, layer_text(layer));
    }
  }

  static PartialShape any_shape() {
    PartialShape shape;
    shape.is_rank_known = false;
    return shape;
  }

  static bool is_dropped(const CaffeLayer& layer) {
    return std::find(std::begin(kDropped), std::end(kDropped), layer.type) != std::end(kDropped);
  }

  // Layers that only training or its reports need. Silence reads what shall be no output.
  void drop(const CaffeLayer& layer) {
    if (layer.type != "Silence") return;
    for (const std::string& bottom : layer.bottoms) {
      if (const auto found = values_.find(bottom); found != values_.end()) found->second.is_read = true;
    }
  }

  // What the layer reads; a loss reads its first bottom alone, the label is nothing in a run.
  static std::vector<std::string> read_bottoms(const CaffeLayer& layer) {
    const bool is_loss = layer.type.ends_with("Loss") && !layer.bottoms.empty();
    return is_loss ? std::vector{layer.bottoms[0]} : layer.bottoms;
  }

  void convert(const CaffeLayer& layer) {
    std::vector<PortRef> inputs;
    bool is_refused = false;
    for (const std::string& bottom : read_bottoms(layer)) {
      const auto found = values_.find(bottom);
      if (found == values_.end()) {
        fail(ErrorCode::kBadModel, "nothing before it makes its bottom " + quote(bottom));
      }
      found->second.is_read = true;
      is_refused = is_refused || !found->second.ref;
      if (found->second.ref) inputs.push_back(*found->second.ref);
    }
    std::vector<PortRef> outputs;
    const std::int32_t first_new = builder_.next_id();
    if (!is_refused) outputs = run_converter(layer, std::move(inputs), is_refused);
    std::vector<std::string> tops = layer.tops;
    if (tops.empty() && !outputs.empty()) tops = {layer.name};  // a loss may leave its top out
    if (!is_refused && outputs.size() < tops.size()) {
      fail(ErrorCode::kBadModel,
           "has " + std::to_string(tops.size()) + " tops, it makes " + std::to_string(outputs.size()));
    }
    const bool is_new = !outputs.empty() && outputs[0].node.value >= first_new;
    if (is_new && graph_.at(outputs[0].node).type != "Parameter") {
      graph_.at(outputs[0].node).name = builder_.unique_name(layer.name);
    }
    for (std::size_t i = 0; i < tops.size(); ++i) {
      if (!is_refused && !outputs[i].node.is_valid()) continue;  // a label that nothing reads
      make_top(layer, tops[i], is_refused ? std::nullopt : std::optional(outputs[i]));
    }
  }

  std::vector<PortRef> run_converter(const CaffeLayer& layer, std::vector<PortRef> inputs, bool& is_refused) {
    try {
      const CaffeConverter* converter = find_caffe_converter(layer.type);
      if (converter == nullptr) fail(ErrorCode::kUnsupported, "");
      builder_.begin_node(layer.name, readable(layer.type));
      CaffeContext context(builder_, layer, weights_, read_, std::move(inputs));
      std::vector<PortRef> outputs = converter->convert(context);
      context.check_all_asked();
      return outputs;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      const std::string reason = error.what();
      refusals_.add(readable(layer.type) + (reason.empty() ? "" : ": " + reason), layer.name);
    }
    is_refused = true;
    return {};
  }

  // A top in place takes over the name of the bottom that it overwrites.
  void make_top(const CaffeLayer& layer, const std::string& top, std::optional<PortRef> ref) {
    const bool is_in_place = std::find(layer.bottoms.begin(), layer.bottoms.end(), top) != layer.bottoms.end();
    if (const auto old = values_.find(top); is_in_place && old != values_.end()) {
      if (old->second.ref && old->second.ref != ref && graph_.at(old->second.ref->node).type != "Parameter") {
        std::vector<std::string>& names = names_of(*old->second.ref);
        names.erase(std::remove(names.begin(), names.end(), top), names.end());
      }
      values_.erase(old);
    }
    const bool is_input = ref && layer.bottoms.empty() && graph_.at(ref->node).type == "Parameter";
    define(top, ref, is_input);
    if (!ref) return;
    std::vector<std::string>& names = names_of(*ref);
    if (std::find(names.begin(), names.end(), top) == names.end()) names.push_back(top);
  }

  std::vector<std::string>& names_of(PortRef ref) {
    return graph_.at(ref.node).outputs.at(static_cast<std::size_t>(ref.port)).names;
  }

  void add_results() {
    std::vector<std::pair<std::size_t, std::string>> outputs;
    for (const auto& [name, value] : values_) {
      if (!value.is_read && !value.is_input) outputs.emplace_back(value.place, name);
    }
    std::sort(outputs.begin(), outputs.end());
    for (const auto& [place, name] : outputs) {
      builder_.add_output(name, *values_.at(name).ref);
    }
    if (graph_.results().empty()) fail(ErrorCode::kBadModel, "the network has no outputs");
  }

  static constexpr std::string_view kDropped[] = {
      "Accuracy",     "Silence",      "HDF5Output",      "EuclideanLoss",           "HingeLoss",
      "InfogainLoss", "MultiBoxLoss", "ContrastiveLoss", "MultinomialLogisticLoss", "SmoothL1Loss"};

  const CaffeNet& net_;
  const CaffeWeights& weights_;
  Graph& graph_;
  ImportBuilder builder_;
  Refusals refusals_;
  std::unordered_set<std::string> read_;  // names of blobs
  std::unordered_map<std::string, CaffeValue> values_;
  std::size_t count_ = 0;
};

void read_network(std::string_view prototxt, const CaffeWeights& weights, Graph& graph) {
  const ProtoText text = parse_proto_text(prototxt);
  const CaffeNet net = parse_caffe_net(text);
  CaffeReader(net, weights, graph).read();
}

CaffeWeights map_weights(const std::string& path, const std::string& given) {
  const std::string file =
      given.empty() ? std::filesystem::path(path).replace_extension(".caffemodel").string() : given;
  CaffeWeights weights;
  MappedFile mapped;
  try {
    mapped = map_file(file);
  } catch (const Error& error) {
    // A network without weights needs no file; one that the user named must be there.
    if (!given.empty()) throw;
    weights.problem = std::string(error.what()) + ": name the weights with -w";
    weights.file = file;
    return weights;
  }
  try {
    weights = parse_caffe_weights(mapped.bytes, mapped.owner);
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(file));
  }
  weights.file = file;
  return weights;
}

}  // namespace
}  // namespace detail

Graph parse_caffe(std::string_view prototxt, std::span<const std::byte> weights, std::shared_ptr<const void> owner) {
  const detail::CaffeWeights parsed = detail::parse_caffe_weights(weights, std::move(owner));
  Graph graph;
  detail::read_network(prototxt, parsed, graph);
  return graph;
}

Graph read_caffe(const std::string& prototxt_path, const std::string& weights_path) {
  const std::string text = read_file(prototxt_path, detail::kMaxProtoTextBytes, "text");
  const detail::CaffeWeights weights = detail::map_weights(prototxt_path, weights_path);
  try {
    Graph graph;
    detail::read_network(text, weights, graph);
    return graph;
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(prototxt_path));
  }
}

}  // namespace headrace
