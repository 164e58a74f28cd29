// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <nlohmann/json.hpp>

namespace headrace {

std::string profile_json(const std::vector<LayerProfile>& rows, const std::map<std::string, double>& peaks) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const LayerProfile& row : rows) {
    list.push_back({{"layer", row.layer},
                    {"type", row.type},
                    {"device", row.device},
                    {"kernel", row.kernel},
                    {"origin", row.origin},
                    {"device_us", row.device_us},
                    {"queue_us", row.queue_us},
                    {"flops", row.flops},
                    {"bytes", row.bytes}});
    if (const auto share = share_of_peak(row, peaks)) list.back()["of_peak"] = *share;
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headrace
