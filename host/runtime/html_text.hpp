// SPDX-License-Identifier: Apache-2.0
// What the HTML pages of reports share: one look, no external resources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// The text with &, <, >, " and control characters written so that it is text wherever it stands.
std::string html_escaped(std::string_view text);

// A whole page: head with the style, <h1>title</h1>, the body's parts.
std::string html_page(std::string_view title, const std::string& body);

// A table of cells that are HTML already; columns whose index is in `numbers` are right-aligned.
std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::size_t>& numbers = {});

// "12,345"; "4.09 G"; "97.5 MB".
std::string with_thousands(std::int64_t value);
std::string with_prefix(double value);
std::string with_bytes(double bytes);

}  // namespace headrace
