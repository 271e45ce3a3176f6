// SPDX-License-Identifier: Apache-2.0
// What the lines of a log look like: which fields they have, and how these are found.
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

enum class LogType : uint8_t {
  kString,
  kInt,
  kFloat,
  kInstant,    ///< a time with an offset, or in UTC
  kLocalTime,  ///< a time without
};

struct LogField {
  std::string name;
  LogType type = LogType::kString;

  Dtype dtype() const;
};

struct LogFormat {
  std::vector<LogField> fields{};
  /// In RE2's syntax: field k is the group "f<k>". Empty: the fields of an access log, up to as
  /// many as there are.
  std::string pattern{};
  bool is_whole_line = true;  ///< the pattern has to match all of it
  bool dash_is_null = true;
};

/// Throws InvalidArgumentError with the known names.
LogFormat log_format(std::string_view name);

/// Of a grok pattern: "%{NAME}", "%{NAME:field}" and "%{NAME:field:type}" with the types int,
/// float, string and time, and groups "(?<field>...)". Throws InvalidArgumentError for what is
/// none.
LogFormat grok_format(std::string_view pattern);

}  // namespace hr
