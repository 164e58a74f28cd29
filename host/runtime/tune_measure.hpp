// SPDX-License-Identifier: Apache-2.0
// Measures the forms of one layer on a device.
#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"
#include "runtime/tune_cases.hpp"

namespace headrace {

// What was measured of a form.
struct FormTime {
  std::string key;        // FormChoice::Form::key
  double time_us = 0.0;   // the least of several runs; infinite where the form does not count
  double to_first = 1.0;  // its time to the first form's in the same round: the median of the rounds
  std::string fault;      // why it does not count, or empty
};

struct Measured {
  std::vector<FormTime> forms;  // those of the choice in its order, less those that the model gives no chance
  std::size_t best = 0;         // the fastest; the first one, which is the default, unless the gain is sure
};

// Runs the layer as in a network: lowered, planned and loaded with one form after the other, and the forms in turns, so
// that a change of the machine's clock meets all of them. Checks the best one's numbers against the CPU's; where they
// are wrong it gets a fault and another one is the best. Throws kDevice where no form runs and gives right numbers.
Measured measure_forms(const Device& device, const TuneCase& tuned);

}  // namespace headrace
