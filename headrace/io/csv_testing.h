// SPDX-License-Identifier: Apache-2.0
// CSV text to a table, for tests.
#pragma once
#include "headrace/io/csv.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace hr {

inline Source text_source(std::string_view text) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  if (!text.empty()) std::memcpy(buffer.mutable_data(), text.data(), text.size());
  return Source::bytes(std::move(buffer), "<test>");
}

inline Table read(std::string_view text, const CsvOptions& options = {}) {
  return read_csv(text_source(text), options).table;
}

}  // namespace hr
