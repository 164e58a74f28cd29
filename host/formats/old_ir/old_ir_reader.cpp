// SPDX-License-Identifier: Apache-2.0
#include "formats/old_ir/old_ir_reader.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/log.hpp"
#include "formats/ir/ir_xml.hpp"
#include "formats/old_ir/old_ir_graph.hpp"

namespace headrace {
namespace detail {
namespace {

Graph read_network(std::string xml, const WeightsBlob& weights, std::int64_t& version) {
  const OldIrFile file = parse_old_ir_file(std::move(xml));
  version = file.version;
  Graph graph;
  OldIrGraph(file, weights, graph).read();
  return graph;
}

}  // namespace
}  // namespace detail

bool is_old_ir(std::string_view xml) {
  std::size_t at = 0;
  for (std::size_t comment = xml.find("<!--");; comment = xml.find("<!--", at)) {
    const std::size_t net = xml.find("<net", at);
    if (net == std::string_view::npos) return false;
    if (net < comment) {
      at = net;
      break;
    }
    at = xml.find("-->", comment);
    if (at == std::string_view::npos) return false;
  }
  const std::string_view tag = xml.substr(at, xml.find('>', at) - at);
  const std::size_t version = tag.find("version=");
  if (version == std::string_view::npos) return false;
  const std::string_view text = tag.substr(std::min(version + 9, tag.size()));
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number >= detail::kFirstOldIr && number <= detail::kLastOldIr;
}

Graph parse_old_ir(std::string_view xml, const WeightsBlob& weights) {
  std::int64_t version = 0;
  return detail::read_network(std::string(xml), weights, version);
}

Graph read_old_ir(const std::string& xml_path, const std::string& weights_path) {
  std::string xml = read_file(xml_path, detail::kMaxXmlBytes, "XML");
  const WeightsBlob weights = map_ir_weights(xml_path, weights_path);
  try {
    std::int64_t version = 0;
    Graph graph = detail::read_network(std::move(xml), weights, version);
    log(LogLevel::kWarn, "old_ir",
        quote(xml_path) + " is IR v" + std::to_string(version) +
            ", upgraded on load; headrace convert writes it as v11");
    return graph;
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(xml_path));
  }
}

}  // namespace headrace
