// SPDX-License-Identifier: Apache-2.0
// What a reader has to refuse, and how messages show names of files that others wrote.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

// What has to be refused, collected so that one error tells the user all of it.
class Refusals {
 public:
  void add(const std::string& what, std::string_view node);
  void throw_if_any() const;

 private:
  struct Item {
    std::string what;
    std::string node;  // the first one's name
    std::size_t count = 0;
  };
  std::vector<Item> items_;
  std::map<std::string, std::size_t> index_;
};

// A name from the file as a message may show it: cut to a readable length, without control characters.
std::string readable(std::string_view text);

}  // namespace headrace::detail
