// SPDX-License-Identifier: Apache-2.0
// The grid of convolution parameters that every form of every convolution kernel runs: what public reports found broken
// elsewhere, sampled so that each value of each parameter comes equally often, and sizes around a form's tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/caps.hpp"
#include "support/conv_case.hpp"

namespace headrace::test {

enum class ConvFamily { kGeneral, kDepthwise, kWinograd, kInt8 };

// One form of a kernel.
struct ConvForm {
  ConvFamily family = ConvFamily::kGeneral;
  std::vector<KernelInstance> instances;  // that it needs, its own first
  // Its tile: pixels (of a row, for depthwise kernels), channels of a vector, and of the register tile.
  std::int64_t tile_pixels = 1, vector_channels = 1, tile_channels = 1;
  std::int64_t part = 1;  // elements of K that are summed at a time
  LowerFunction lower{};  // null: the operator chooses the form where it is the only one
};

// Those of winograd_wide.cl, and those of winograd_tile.cl with one tile of conv_tile.cl, whose tiles are tested by
// themselves.
std::vector<WinogradForm> winograd_forms_to_test();

// Every form that lowering may choose, but for what winograd_forms_to_test leaves out.
std::vector<ConvForm> all_conv_forms();

struct GridCase {
  ConvCase conv;
  std::int64_t zero_point = 0;  // of kInt8
  bool has_specials = false;    // NaN and infinities among the data, where the kernel lets them through as they are
};

// `count` cases that the family's kernels take; the same seed gives the same cases.
std::vector<GridCase> sample_conv_grid(ConvFamily family, std::size_t count, std::uint32_t seed);

// Pixels, channels and sums one below, at and one above the tile's edges.
std::vector<GridCase> cases_at_tile_edges(const ConvForm& form);

// One case with padding on all sides, a channel past the vectors, bias, residual and an activation that is no bound.
GridCase tiny_case(const ConvForm& form);

// The values that sample_conv_grid draws from, for the test that all are drawn.
struct ConvGridValues {
  std::vector<Ints> kernels{{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {1, 3}, {3, 1}};
  Ints strides{1, 2, 3, 4};
  Ints dilations{1, 2, 3};
  Ints pads{0, 1, 2, -1};   // -1: the kernel's size less one
  Ints groups{1, 2, 3, 0};  // 0: as many as channels
  Ints channels{1, 3, 5, 15, 16, 17, 24, 33, 64, 513};
  Ints sizes{1, 2, 5, 7, 13, 20, 31, 33};
  Ints batches{1, 2, 3};
  Ints zero_points{0, 1, 77, 128, 255};
};

}  // namespace headrace::test
