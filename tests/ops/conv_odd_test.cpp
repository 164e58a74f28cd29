// SPDX-License-Identifier: Apache-2.0
// Convolutions at the border of what makes sense: nothing in the batch or in the picture, workspaces that have no room.
#include <gtest/gtest.h>

#include "support/conv_grid.hpp"

namespace headrace::test {
namespace {

TEST(OddConvTest, EmptyBatchNeedsNoLaunch) {
  for (const char* type : {"Convolution", "GroupConvolution", "ConvolutionBackpropData"}) {
    const ConvCase c{.type = type, .N = 0, .has_bias = true, .has_residual = true};
    check_op(make_case(c, 1));
    check_op_tile_family(make_case(c, 1));
    check_op(make_int8_case({.N = 0}, 3, 1));
  }
}

TEST(OddConvTest, EmptyPictureIsAllPadding) {
  for (const Ints& size : std::vector<Ints>{{0, 4}, {3, 0}, {0, 0}}) {
    for (const std::int64_t channels : {5, 1}) {
      const ConvCase c{.type = "GroupConvolution",
                       .size = size,
                       .pads_begin = {2, 2},
                       .pads_end = {1, 1},
                       .G = channels == 1 ? 20 : 1,
                       .IC = channels,
                       .OC = channels,
                       .has_bias = true,
                       .activation = Activation::kRelu};
      check_op(make_case(c, 2));
      check_op_tile_family(make_case(c, 2));
      check_op(make_int8_case(c, 7, 2));
    }
  }
}

TEST(OddConvTest, NoInputChannelsAreRefused) { check_op_refused(make_case({.IC = 0}, 1), "the sum is empty"); }

// A device whose buffers hold less than a picture's transforms: the same numbers, part by part.
TEST(OddConvTest, WinogradGoesThroughInParts) {
  for (const WinogradForm& form : winograd_forms_to_test()) {
    if (form.tile.is_wide) continue;
    const ConvCase c{.size = {37, 41},
                     .pads_begin = {1, 1},
                     .pads_end = {1, 1},
                     .N = 2,
                     .IC = 6,
                     .OC = 35,
                     .has_bias = true,
                     .has_residual = true};
    OpCase op_case = make_case(c, 3);
    const std::int64_t tiles = 2 * ((37 + form.out - 1) / form.out) * ((41 + form.out - 1) / form.out);
    const std::int64_t parts = (tiles + form.tile.tile_m - 1) / form.tile.tile_m;
    op_case.lower = [parts, whole = lower_as(form)](const Node& node, std::span<const LowerInput> inputs,
                                                    std::span<const TensorDesc> outputs, KernelCaps caps) {
      caps.max_alloc_bytes = 0;
      Lowered lowered = whole(node, inputs, outputs, caps);
      EXPECT_EQ(lowered.launches.size(), static_cast<std::size_t>(3 * parts));
      return lowered;
    };
    check_op_with(op_case, form.instances());
  }
}

}  // namespace
}  // namespace headrace::test
