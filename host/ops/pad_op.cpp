// SPDX-License-Identifier: Apache-2.0
// Pad: borders around a tensor: constant, nearest edge element, or mirrored. Negative pads crop.
//
// Every axis falls into runs of output coordinates that read the input forwards, backwards, at one place or not at
// all; each combination of runs is one copy.
#include <algorithm>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Pad"};
constexpr std::int64_t kOutside = -1;

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("pad_mode", parse_enum(raw, "pad_mode", "constant", {"constant", "edge", "reflect", "symmetric"}));
  return attributes;
}

struct Pads {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
};

Pads pads_of(const Node& node, const Shape& shape, const InputValues& values) {
  Pads pads{ints_at(values, 1), ints_at(values, 2)};
  if (pads.begin.size() != shape.size() || pads.end.size() != shape.size()) {
    fail_node(node, "has " + std::to_string(pads.begin.size()) + " and " + std::to_string(pads.end.size()) +
                        " pads for a tensor of rank " + std::to_string(shape.size()));
  }
  return pads;
}

// How far an axis can be extended on one side.
std::int64_t widest_pad(const std::string& mode, std::int64_t size) {
  if (mode == "reflect") return size - 1;
  if (mode == "symmetric") return size;
  return mode == "edge" && size == 0 ? 0 : std::numeric_limits<std::int32_t>::max();
}

Shape padded_shape(const Node& node, const Shape& shape, const Pads& pads) {
  const std::string& mode = node.attributes.get_string("pad_mode");
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t widest = std::max<std::int64_t>(0, widest_pad(mode, shape[i]));
    for (const std::int64_t pad : {pads.begin[i], pads.end[i]}) {
      if (pad > widest || pad < -std::numeric_limits<std::int32_t>::max()) {
        fail_node(node, "cannot pad axis " + std::to_string(i) + " of " + to_string(shape) + " by " +
                            std::to_string(pad) + " (" + mode + ")");
      }
    }
    result.push_back(shape[i] + pads.begin[i] + pads.end[i]);
    if (result.back() < 0) fail_node(node, "crops more than axis " + std::to_string(i) + " of " + to_string(shape));
  }
  return result;
}

// The input coordinate that an output coordinate reads, or kOutside.
std::int64_t source_of(const std::string& mode, std::int64_t place, std::int64_t size) {
  if (place >= 0 && place < size) return place;
  if (mode == "constant") return kOutside;
  if (mode == "edge") return place < 0 ? 0 : size - 1;
  const std::int64_t repeat = mode == "symmetric" ? 1 : 0;  // whether the edge element is mirrored too
  return place < 0 ? -place - repeat : 2 * (size - 1) - place + repeat;
}

// Output coordinates first .. first + count - 1 read source, source + step, ...
struct PadRun {
  std::int64_t first = 0;
  std::int64_t count = 1;
  std::int64_t source = 0;
  std::int64_t step = 0;
};

bool extend(PadRun& run, std::int64_t source) {
  const bool is_outside = run.source == kOutside;
  if (is_outside != (source == kOutside)) return false;
  if (!is_outside) {
    const std::int64_t step = source - (run.source + (run.count - 1) * run.step);
    if (run.count > 1 && step != run.step) return false;
    if (step < -1 || step > 1) return false;
    run.step = step;
  }
  ++run.count;
  return true;
}

std::vector<PadRun> runs_of(const std::string& mode, std::int64_t size, std::int64_t begin, std::int64_t padded) {
  std::vector<PadRun> runs;
  for (std::int64_t i = 0; i < padded; ++i) {
    const std::int64_t source = source_of(mode, i - begin, size);
    if (runs.empty() || !extend(runs.back(), source)) runs.push_back({i, 1, source, 0});
  }
  return runs;
}

// One copy that pads need: of the input, or of the pad value (from.strides all 0, offset 0).
struct PadMove {
  Move move;
  bool is_value = false;
};

class PadPlanner {
 public:
  PadPlanner(const Node& node, const TensorDesc& from, const Pads& pads, const TensorDesc& to) : from_(from), to_(to) {
    const std::string& mode = node.attributes.get_string("pad_mode");
    for (std::size_t i = 0; i < to.shape.size(); ++i) {
      runs_.push_back(runs_of(mode, from.shape[i], pads.begin[i], to.shape[i]));
    }
  }

  std::vector<PadMove> moves() {
    if (count_elems(to_.shape) > 0) {
      place(0, {to_.shape, {std::vector<std::int64_t>(to_.shape.size(), 0), from_.offset}, {to_.strides, to_.offset}});
    }
    return moves_;
  }

 private:
  // Chooses a run for each axis from `axis` on. A run outside the input takes the other axes whole.
  void place(std::size_t axis, const Move& so_far) {
    if (axis == runs_.size()) {
      moves_.push_back({so_far, false});
      return;
    }
    for (const PadRun& run : runs_[axis]) {
      Move move = so_far;
      move.shape[axis] = run.count;
      move.to.offset_elems += run.first * to_.strides[axis];
      if (run.source == kOutside) {
        std::fill(move.from.strides.begin(), move.from.strides.end(), 0);
        move.from.offset_elems = 0;
        moves_.push_back({move, true});
        continue;
      }
      move.from.offset_elems += run.source * from_.strides[axis];
      move.from.strides[axis] = run.step * from_.strides[axis];
      place(axis + 1, move);
    }
  }

  const TensorDesc& from_;
  const TensorDesc& to_;
  std::vector<std::vector<PadRun>> runs_;
  std::vector<PadMove> moves_;
};

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 4);
  if (inputs.size() == 4 && (count_elems(inputs[3].shape) != 1 || inputs[3].type != inputs[0].type)) {
    fail_node(node, "needs one " + std::string(to_string(inputs[0].type)) + " as pad value, has " +
                        to_string(inputs[3].shape) + " " + std::string(to_string(inputs[3].type)));
  }
  const Pads pads = pads_of(node, inputs[0].shape, values_of(inputs));
  return {{inputs[0].type, padded_shape(node, inputs[0].shape, pads)}};
}

// Element by element, without the runs that the kernels use.
void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::string& mode = node.attributes.get_string("pad_mode");
  const Pads pads = pads_of(node, inputs[0].shape(), values_of(inputs));
  const std::size_t rank = pads.begin.size();
  const std::vector<std::int64_t> strides = row_major_strides(inputs[0].shape());
  const std::size_t bytes = size_bytes(inputs[0].type());
  const Tensor zero(inputs[0].type(), {});
  const std::byte* value = inputs.size() > 3 ? inputs[3].data() : zero.data();
  for (std::int64_t out = 0; out < outputs[0].count(); ++out) {
    std::int64_t rest = out;
    std::int64_t from = 0;
    for (std::size_t i = rank; i-- > 0;) {
      const std::int64_t size = outputs[0].shape()[i];
      const std::int64_t source = source_of(mode, rest % size - pads.begin[i], inputs[0].shape()[i]);
      from = source == kOutside || from == kOutside ? kOutside : from + source * strides[i];
      rest /= size;
    }
    const std::byte* source = from == kOutside ? value : inputs[0].data() + static_cast<std::size_t>(from) * bytes;
    std::copy_n(source, bytes, outputs[0].mutable_data() + static_cast<std::size_t>(out) * bytes);
  }
}

std::vector<PadMove> moves_of(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const Pads pads = pads_of(node, inputs[0].desc.shape, values_of(inputs));
  return PadPlanner(node, inputs[0].desc, pads, output).moves();
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (inputs[1].constant == nullptr || inputs[2].constant == nullptr) {
    return Support::no("the pads are computed in the run, the kernel needs constants");
  }
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  constexpr std::size_t kMaxMoves = 128;
  const std::vector<PadMove> moves = moves_of(node, inputs, outputs[0]);
  if (moves.size() > kMaxMoves) {
    return Support::no("padding needs " + std::to_string(moves.size()) + " copies, at most " +
                       std::to_string(kMaxMoves) + " are sensible");
  }
  for (const PadMove& part : moves) {
    if (const Support support = supports_move(outputs[0].type, part.move, caps); !support.ok) return support;
  }
  return Support::yes();
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  Lowered lowered;
  Operand value = Operand::input(3);
  std::int64_t value_offset = 0;
  if (inputs.size() > 3) {
    value_offset = inputs[3].desc.offset;
  } else {
    const ElementType type = outputs[0].type;
    lowered.constants.push_back({"pad_zero", [type] { return Tensor(type, {1}); }});
    value = Operand::constant(0);
  }
  for (PadMove& part : moves_of(node, inputs, outputs[0])) {
    if (part.is_value) part.move.from.offset_elems = value_offset;
    append_copy(lowered, outputs[0].type, part.move, part.is_value ? value : Operand::input(0), Operand::output(0),
                caps);
  }
  return lowered;
}

LayoutRules layouts(const Node&, const KernelCaps&) { return {{LayoutRule::kAny}, LayoutRule::kAny}; }

// A pad that only crops is a view.
std::optional<View> view(const Node& node, std::span<const LowerInput> inputs, std::size_t, const Shape& output_shape) {
  if (inputs[1].constant == nullptr || inputs[2].constant == nullptr) return std::nullopt;
  const TensorDesc to = dense_desc(inputs[0].desc.type, output_shape);
  const std::vector<PadMove> moves = moves_of(node, inputs, to);
  if (moves.size() != 1 || moves[0].is_value) return std::nullopt;
  View view = moves[0].move.from;
  for (std::size_t i = 0; i < output_shape.size(); ++i) {
    if (output_shape[i] == 1) view.strides[i] = inputs[0].desc.strides[i];  // no step was taken: any stride will do
  }
  return view;
}

}  // namespace

const OpDescriptor& pad_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .layouts = layouts,
      .lower = lower,
      .instances = copy_instances,
      .view = view,
  };
  return op;
}

}  // namespace headrace
