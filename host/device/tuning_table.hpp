// SPDX-License-Identifier: Apache-2.0
// Which form of a kernel was measured to be the fastest, by shape class.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace headrace {

// Keys are the shape classes under which lowering looks (FormChoice::shape_class), values FormChoice::Form::key of
// the form. A form that lowering does not know or that the device does not offer counts as no entry.
class TuningTable {
 public:
  // Replaces an entry of the same class.
  void set(std::string_view shape_class, std::string_view form) {
    forms_.insert_or_assign(std::string(shape_class), std::string(form));
  }
  // Null where the class was not measured.
  const std::string* find(std::string_view shape_class) const {
    const auto found = forms_.find(shape_class);
    return found == forms_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return forms_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> forms_;
};

}  // namespace headrace
