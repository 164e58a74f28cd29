// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_local_tile.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/conv_args.hpp"

namespace headrace {
namespace {

constexpr LocalForm kLocalForms[] = {{16, 8}, {8, 8}, {8, 4}, {4, 4}, {1, 4}};

// Below this a block of one work-group is too narrow to be worth more groups.
constexpr int kLeastBlock = 32;
// Blocks of channels that a layer has, where preferred_local_form counts work-groups: those with few pixels have many.
constexpr std::int64_t kUsualChannelBlocks = 4;
// What another form than the preferred one costs at least, next to it: that rule knows what multiply-adds do not tell.
constexpr double kNotPreferred = 1.1;

std::vector<LocalForm> offered_local_forms(const KernelCaps& caps) {
  std::vector<LocalForm> forms;
  for (const LocalForm& form : kLocalForms) {
    const bool fits = form.items() <= caps.max_work_group && static_cast<std::size_t>(form.side) <= caps.max_group(0) &&
                      static_cast<std::size_t>(form.side) <= caps.max_group(1) &&
                      form.local_bytes() <= caps.local_bytes;
    if (fits && caps.offers(form.tile().instance())) forms.push_back(form);
  }
  return forms;
}

// The largest block that pixels fill and of which there are enough to keep every compute unit busy.
LocalForm preferred_local_form(const std::vector<LocalForm>& forms, std::int64_t pixels, int compute_units) {
  LocalForm best = forms.front();
  for (const LocalForm& form : forms) {
    if (form.block() < kLeastBlock) break;
    best = form;
    const std::int64_t blocks = divide_up(pixels, form.block());
    const bool is_half_empty = blocks * form.block() >= 2 * pixels;
    if (blocks * kUsualChannelBlocks >= compute_units && !is_half_empty) break;
  }
  return best;
}

// Multiply-adds of whole blocks for each product of a sum.
double block_cost(std::int64_t pixels, std::int64_t OC, const ConvTile& tile) {
  const std::int64_t rows = divide_up(pixels, tile.tile_m) * tile.tile_m;
  return static_cast<double>(rows * tile.vectors(OC) * tile.vec);
}

}  // namespace

// DEPTH * (2 * BLOCK + 4) floats and BLOCK int4.
std::size_t LocalForm::local_bytes() const {
  const std::size_t depth = std::min<std::size_t>(items(), 16);
  const auto width = static_cast<std::size_t>(block());
  return depth * (2 * width + 4) * sizeof(float) + width * 4 * sizeof(std::int32_t);
}

std::span<const LocalForm> all_local_forms() { return kLocalForms; }

LocalForm local_form_of(const ConvTile& tile) {
  for (const LocalForm& form : kLocalForms) {
    if (form.block() == tile.tile_m) return form;
  }
  fail(ErrorCode::kInternal, "no form of conv_tile.cl has blocks of " + std::to_string(tile.tile_m));
}

std::vector<Candidate<ConvTile>> local_tile_candidates(std::int64_t pixels, std::int64_t OC, const KernelCaps& caps) {
  const std::vector<LocalForm> forms = offered_local_forms(caps);
  if (forms.empty()) return {};
  const LocalForm preferred = preferred_local_form(forms, pixels, caps.compute_units);
  const double least = block_cost(pixels, OC, preferred.tile());
  std::vector<Candidate<ConvTile>> candidates;
  for (const LocalForm& form : forms) {
    const bool is_preferred = form.block() == preferred.block();
    const double cost = std::max(block_cost(pixels, OC, form.tile()), least);
    candidates.push_back({form.tile(), is_preferred ? least : cost * kNotPreferred});
  }
  return candidates;
}

}  // namespace headrace
