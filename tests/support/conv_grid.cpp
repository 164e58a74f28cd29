// SPDX-License-Identifier: Apache-2.0
#include "support/conv_grid.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "ops/conv_depthwise.hpp"
#include "ops/conv_int8.hpp"
#include "ops/conv_problem.hpp"
#include "ops/conv_winograd.hpp"

namespace headrace::test {
namespace {

// The reference takes a nanosecond or two for each.
constexpr std::int64_t kMaxProducts = 1'000'000;
constexpr std::int64_t kMaxFilters = 64 * 64;
// The longest sum that every form of conv_int8_wide.cl takes.
constexpr std::int64_t kMaxInt8Sum = 9216;

// Deals the values of each parameter like cards: all of them, shuffled, before any comes again.
class Dealer {
 public:
  explicit Dealer(std::uint32_t seed) : generator_(seed) {}

  std::size_t deal(const std::string& parameter, std::size_t count) {
    std::vector<std::size_t>& deck = decks_[parameter];
    if (deck.empty()) {
      for (std::size_t i = 0; i < count; ++i) deck.push_back(i);
      for (std::size_t i = count; i-- > 1;) std::swap(deck[i], deck[generator_() % (i + 1)]);
    }
    const std::size_t card = deck.back();
    deck.pop_back();
    return card;
  }
  template <typename T>
  T deal(const std::string& parameter, const std::vector<T>& values) {
    return values[deal(parameter, values.size())];
  }
  bool flip(const std::string& parameter) { return deal(parameter, 2) == 1; }

 private:
  std::mt19937 generator_;
  std::map<std::string, std::vector<std::size_t>> decks_;
};

std::int64_t at(const Ints& values, std::size_t axis) { return values.empty() ? 1 : values[axis]; }

std::int64_t kernel_extent(const ConvCase& c, std::size_t axis) {
  return (c.kernel[axis] - 1) * at(c.dilation, axis) + 1;
}

// Whether the axis has an output of one pixel or more.
bool is_possible(const ConvCase& c, std::size_t axis) {
  const std::int64_t pads = c.pads_begin[axis] + c.pads_end[axis];
  if (is_transposed(c)) return (c.size[axis] - 1) * at(c.stride, axis) + kernel_extent(c, axis) > pads;
  return c.size[axis] + pads >= kernel_extent(c, axis);
}

std::int64_t output_size(const ConvCase& c, std::size_t axis) {
  const std::int64_t pads = c.pads_begin[axis] + c.pads_end[axis];
  const std::int64_t stride = at(c.stride, axis);
  if (is_transposed(c)) return (c.size[axis] - 1) * stride + kernel_extent(c, axis) - pads;
  return (c.size[axis] + pads - kernel_extent(c, axis)) / stride + 1;
}

std::int64_t count_products(const ConvCase& c) {
  return c.N * c.G * c.IC * c.OC * c.kernel[0] * c.kernel[1] * output_size(c, 0) * output_size(c, 1);
}

// Makes the picture as large as the kernel needs, and the work as small as the reference likes.
void fit_sizes(const ConvGridValues& values, ConvCase& c) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (auto size = values.sizes.begin(); !is_possible(c, axis); ++size) c.size[axis] = *size;
  }
  if (c.IC * c.OC > kMaxFilters) (c.IC < c.OC ? c.IC : c.OC) = 3;
  if (count_products(c) > kMaxProducts) c.N = 1;
  for (std::size_t axis = 0; axis < 2 && count_products(c) > kMaxProducts; ++axis) {
    for (auto size = values.sizes.begin();; ++size) {
      c.size[axis] = *size;
      if (is_possible(c, axis)) break;
    }
  }
}

void deal_groups(ConvFamily family, const ConvGridValues& values, Dealer& dealer, ConvCase& c) {
  c.IC = dealer.deal("IC", values.channels);
  c.OC = dealer.deal("OC", values.channels);
  if (family == ConvFamily::kDepthwise) {
    c.type = "GroupConvolution";
    c.G = c.IC;
    c.IC = c.OC = 1;
  } else if (family == ConvFamily::kGeneral) {
    const std::vector<std::string> types = {"Convolution", "GroupConvolution", "ConvolutionBackpropData",
                                            "GroupConvolutionBackpropData"};
    c.type = dealer.deal("type", types);
    if (c.type.starts_with("Group")) c.G = dealer.deal("G", values.groups);
    if (c.G == 0) {
      c.G = std::min<std::int64_t>(c.IC, 64);
      c.IC = c.OC = 1;
    }
  }
}

void deal_axis(ConvFamily family, const ConvGridValues& values, Dealer& dealer, std::size_t axis, ConvCase& c) {
  const std::string name = axis == 0 ? " h" : " w";
  const auto deal_pad = [&](const std::string& side) {
    const std::int64_t pad = dealer.deal(side + name, values.pads);
    return pad == -1 ? c.kernel[axis] - 1 : pad;
  };
  c.pads_begin.push_back(deal_pad("begin"));
  c.pads_end.push_back(deal_pad("end"));
  c.size[axis] = dealer.deal("size" + name, values.sizes);
  if (family == ConvFamily::kWinograd) return;
  c.stride.push_back(dealer.deal("stride" + name, values.strides));
  c.dilation.push_back(dealer.deal("dilation" + name, values.dilations));
}

// The widest tile of a depthwise kernel reads as many columns as it has room for.
void fit_depthwise(ConvCase& c) {
  ConvShape shape;
  shape.kernel[2] = c.kernel[1];
  shape.stride[2] = c.stride[1];
  shape.dilation[2] = c.dilation[1];
  if (!fits_depthwise(shape)) c.dilation[1] = 1;
}

GridCase deal_case(ConvFamily family, const ConvGridValues& values, Dealer& dealer) {
  GridCase result;
  ConvCase& c = result.conv;
  if (family != ConvFamily::kWinograd) c.kernel = dealer.deal("kernel", values.kernels);
  for (std::size_t axis = 0; axis < 2; ++axis) deal_axis(family, values, dealer, axis, c);
  deal_groups(family, values, dealer, c);
  c.N = dealer.deal("N", values.batches);
  c.has_bias = dealer.flip("bias");
  c.has_residual = dealer.flip("residual");
  // Not kFakeQuantize: it makes a step of a rounding error.
  c.activation = static_cast<Activation>(dealer.deal("act", static_cast<std::size_t>(Activation::kHardSigmoid) + 1));
  c.alpha = 0.3F;
  c.beta = 0.8F;
  if (family == ConvFamily::kInt8 && c.IC * c.kernel[0] * c.kernel[1] > kMaxInt8Sum) c.IC = 64;
  fit_sizes(values, c);
  if (family == ConvFamily::kDepthwise) fit_depthwise(c);
  result.zero_point = dealer.deal("zero_point", values.zero_points);
  result.has_specials = dealer.deal("specials", 3) == 0;
  return result;
}

ConvForm conv_form(const ConvTile& tile) {
  constexpr std::int64_t kWidePart = 512;  // KC of conv_wide.cl
  constexpr std::int64_t kTilePart = 16;   // DEPTH of conv_tile.cl
  return {ConvFamily::kGeneral,
          {tile.instance()},
          tile.tile_m,
          tile.vec,
          std::int64_t{tile.vec} * tile.tile_n,
          tile.is_wide ? kWidePart : kTilePart};
}

ConvForm depthwise_form(const KernelInstance& instance) {
  constexpr std::int64_t kColumns = 7;  // TILE_W of depthwise_wide.cl
  const std::size_t vec = instance.macros.find("VEC=");
  const std::int64_t width = vec == std::string::npos ? 64 : std::stoll(instance.macros.substr(vec + 4));
  return {ConvFamily::kDepthwise, {instance}, kColumns, width, width, 1};
}

// 1x1 convolutions of a row of pixels.
GridCase row_case(std::int64_t pixels, std::int64_t IC, std::int64_t OC) {
  GridCase result;
  result.conv = {.size = {1, pixels}, .kernel = {1, 1}, .IC = IC, .OC = OC, .has_bias = true, .has_residual = true};
  result.zero_point = 3;
  return result;
}

GridCase depthwise_case(std::int64_t pixels, std::int64_t channels) {
  GridCase result;
  result.conv = {.type = "GroupConvolution",
                 .size = {3, pixels},
                 .pads_begin = {1, 1},
                 .pads_end = {1, 1},
                 .G = channels,
                 .IC = 1,
                 .OC = 1,
                 .has_bias = true,
                 .has_residual = true};
  return result;
}

}  // namespace

std::vector<ConvForm> all_conv_forms() {
  std::vector<ConvForm> forms;
  for (const ConvTile& tile : all_conv_tiles()) forms.push_back(conv_form(tile));
  for (const KernelInstance& instance : all_depthwise_instances()) forms.push_back(depthwise_form(instance));
  for (const WinogradForm& form : winograd_forms_to_test()) {
    forms.push_back({ConvFamily::kWinograd, form.instances(), form.out * std::int64_t{form.tile.tile_m}, form.tile.vec,
                     std::int64_t{form.tile.vec} * form.tile.tile_n, 1, lower_as(form)});
  }
  for (const Int8Tile& tile : all_int8_tiles()) {
    constexpr std::int64_t kPart = 64;  // bytes that conv_int8_wide.cl copies at a time
    forms.push_back(
        {ConvFamily::kInt8, {tile.instance()}, tile.tile_m, tile.vec, std::int64_t{tile.vec} * tile.tile_n, kPart});
  }
  return forms;
}

std::vector<GridCase> sample_conv_grid(ConvFamily family, std::size_t count, std::uint32_t seed) {
  Dealer dealer(seed);
  std::vector<GridCase> cases;
  for (std::size_t i = 0; i < count; ++i) cases.push_back(deal_case(family, {}, dealer));
  return cases;
}

std::vector<WinogradForm> winograd_forms_to_test() {
  constexpr int kBlock = 32;
  std::vector<WinogradForm> forms = all_winograd_forms();
  std::erase_if(forms, [](const WinogradForm& form) { return !form.tile.is_wide && form.tile.tile_m != kBlock; });
  return forms;
}

GridCase tiny_case(const ConvForm& form) {
  GridCase result;
  ConvCase& c = result.conv;
  c.size = {2, 3};
  c.pads_begin = {1, 2};
  c.pads_end = {2, 1};
  c.IC = 3;
  c.OC = form.vector_channels + 1;
  if (form.family == ConvFamily::kDepthwise) {
    c.type = "GroupConvolution";
    c.G = form.vector_channels + 1;
    c.IC = c.OC = 1;
  }
  c.has_bias = c.has_residual = true;
  c.activation = Activation::kLeakyRelu;
  c.alpha = 0.1F;
  result.zero_point = 77;
  return result;
}

std::vector<GridCase> cases_at_tile_edges(const ConvForm& form) {
  std::vector<GridCase> cases;
  const auto add = [&](std::int64_t pixels, std::int64_t IC, std::int64_t OC) {
    if (pixels < 1 || IC < 1 || OC < 1) return;
    cases.push_back(form.family == ConvFamily::kDepthwise ? depthwise_case(pixels, OC) : row_case(pixels, IC, OC));
    if (form.family == ConvFamily::kWinograd) cases.back().conv.kernel = {3, 3};
  };
  for (const std::int64_t step : {-1, 0, 1}) {
    for (const std::int64_t channels : {form.vector_channels, form.tile_channels, 2 * form.tile_channels,
                                        form.tile_channels + form.vector_channels}) {
      for (const std::int64_t pixels : {std::int64_t{1}, form.tile_pixels}) add(pixels, 5, channels + step);
    }
    for (const std::int64_t tiles : {1, 2, 3}) add(tiles * form.tile_pixels + step, 5, form.vector_channels + 1);
    for (const std::int64_t parts : {1, 2}) add(2, parts * form.part + step, form.vector_channels);
  }
  if (form.family == ConvFamily::kWinograd) {
    for (GridCase& c : cases) c.conv.pads_begin = c.conv.pads_end = {1, 1};
  }
  return cases;
}

}  // namespace headrace::test
