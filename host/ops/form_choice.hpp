// SPDX-License-Identifier: Apache-2.0
// Choosing among forms of a kernel that compute the same: by the device's tuning table, else by what they should cost.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace {

// The kernels that compute a form.
template <typename Form>
std::vector<KernelInstance> instances_of(const Form& form) {
  if constexpr (requires { form.instances(); }) {
    return form.instances();
  } else {
    return {form.instance()};
  }
}

// The form's name in tuning tables: the keys of its kernels, joined by "+".
template <typename Form>
std::string key_of(const Form& form) {
  std::string key;
  for (const KernelInstance& instance : instances_of(form)) key += (key.empty() ? "" : "+") + instance.key();
  return key;
}

// A form that the device offers, and its cost by a model: any unit, so long as a choice has one. Its key_of tells the
// forms of a choice apart.
template <typename Form>
struct Candidate {
  Form form;
  double cost = 0.0;
};

// The one that costs least; of equal ones the first. Nothing where there is none.
template <typename Form>
std::optional<Form> cheapest(const std::vector<Candidate<Form>>& candidates) {
  const auto found = std::min_element(candidates.begin(), candidates.end(),
                                      [](const auto& a, const auto& b) { return a.cost < b.cost; });
  if (found == candidates.end()) return std::nullopt;
  return found->form;
}

// The one that the table names for the class, else the cheapest.
template <typename Form>
std::optional<Form> choose_form(const std::vector<Candidate<Form>>& candidates, const std::string& shape_class,
                                const KernelCaps& caps) {
  const std::string* tuned = caps.tuning == nullptr ? nullptr : caps.tuning->find(shape_class);
  if (tuned != nullptr) {
    for (const Candidate<Form>& candidate : candidates) {
      if (key_of(candidate.form) == *tuned) return candidate.form;
    }
  }
  return cheapest(candidates);
}

// The same choice as tuning sees it.
template <typename Form>
FormChoice make_form_choice(std::string shape_class, std::vector<Candidate<Form>> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
  FormChoice choice{std::move(shape_class), {}};
  for (const Candidate<Form>& candidate : candidates) {
    choice.forms.push_back({key_of(candidate.form), candidate.cost});
  }
  return choice;
}

}  // namespace headrace
