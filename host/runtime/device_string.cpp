// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_string.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "core/error.hpp"

namespace headrace {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class Parser {
 public:
  Parser(std::string_view text, std::span<const NamedDevice> known) : text_(text), known_(known) {}

  DeviceString run() const {
    const std::size_t colon = text_.find(':');
    if (colon != std::string_view::npos) return parse_list(upper(text_.substr(0, colon)), text_.substr(colon + 1));
    const std::string word = upper(text_);
    if (word == "AUTO") return {DeviceMode::kAuto, {}};
    if (word == "HETERO" || word == "MULTI" || word == "PIPELINE") {
      refuse(word + " needs a list, as in '" + word + ":" + known_.back().name + "," + known_.front().name + "'");
    }
    if (word.find(',') != std::string::npos) refuse("a list starts with HETERO: or MULTI:");
    return {DeviceMode::kSingle, {parse_device(text_)}};
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorCode::kInvalidArgument,
         "device string '" + std::string(text_) + "': " + why + "; devices: " + list_devices(known_));
  }

  DeviceString parse_list(const std::string& word, std::string_view names) const {
    if (word == "PIPELINE") {
      fail(ErrorCode::kUnsupported, "device string '" + std::string(text_) +
                                        "': PIPELINE comes with the scheduler, which this version does not have; use "
                                        "HETERO: or MULTI:");
    }
    if (word != "HETERO" && word != "MULTI") refuse("'" + word + "' is no list word (HETERO, MULTI)");
    DeviceString result{word == "HETERO" ? DeviceMode::kHetero : DeviceMode::kMulti, {}};
    if (names.empty()) refuse("the list is empty");
    for (const std::string_view name : split(names, ',')) {
      if (name.empty()) refuse("the list has an empty entry");
      DeviceRef device = parse_device(name);
      for (const DeviceRef& other : result.devices) {
        if (other.canonical == device.canonical) {
          refuse("'" + device.written + "' and '" + other.written + "' are the same device");
        }
      }
      result.devices.push_back(std::move(device));
    }
    return result;
  }

  DeviceRef parse_device(std::string_view written) const {
    const std::size_t hash = written.find('#');
    const std::string name = find_name(written.substr(0, hash));
    if (hash == std::string_view::npos) return {std::string(written), name};
    const std::string_view part = written.substr(hash + 1);
    const std::size_t slash = part.find('/');
    const auto index = parse_number(part.substr(0, slash));
    const auto count = slash == std::string_view::npos ? std::nullopt : parse_number(part.substr(slash + 1));
    if (!index || !count || *index >= *count) {
      refuse("'" + std::string(written) + "' should name a part as in NAME#0/2 or NAME#1/2");
    }
    if (name == "CPU") refuse("CPU has no sub-devices; an OpenCL CPU device has");
    if (*count == 1) return {std::string(written), name};
    return {std::string(written), name + "#" + std::to_string(*index) + "/" + std::to_string(*count)};
  }

  static std::optional<int> parse_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_ok = error == std::errc() && end == text.data() + text.size() && value >= 0;
    return is_ok ? std::optional(value) : std::nullopt;
  }

  std::string find_name(std::string_view written) const {
    const std::string name = upper(written);
    for (const NamedDevice& device : known_) {
      const auto is_match = [&](const std::string& candidate) {
        // GPU is the first of its kind, so GPU.0 is too.
        return upper(candidate) == name || upper(candidate) + ".0" == name;
      };
      if (upper(device.name) == name) return device.name;
      if (std::any_of(device.aliases.begin(), device.aliases.end(), is_match)) return device.name;
    }
    if (name == "HETERO" || name == "MULTI" || name == "AUTO" || name == "PIPELINE") {
      refuse("'" + std::string(written) + "' cannot stand inside a list");
    }
    if (name == "CL") refuse("'CL' needs a number");
    refuse("there is no device '" + std::string(written) + "'");
  }

  std::string_view text_;
  std::span<const NamedDevice> known_;
};

}  // namespace

DeviceString parse_device_string(std::string_view text, std::span<const NamedDevice> known) {
  return Parser(text, known).run();
}

std::string list_devices(std::span<const NamedDevice> known) {
  std::string text;
  for (const NamedDevice& device : known) {
    if (!text.empty()) text += ", ";
    text += device.name;
    std::string aliases;
    for (const std::string& alias : device.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
    if (!aliases.empty()) text += " (" + aliases + ")";
  }
  return text;
}

}  // namespace headrace
