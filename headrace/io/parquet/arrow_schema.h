// SPDX-License-Identifier: Apache-2.0
// The Arrow schema that a writer kept in a Parquet file: what Parquet itself has no words for.
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr::parquet {

/// Of a column, or of the items of its lists in all levels. Structs have a child a field, maps one:
/// the structs of their entries.
struct ArrowHint {
  std::string name{};
  std::optional<TimeUnit> duration{};
  std::string zone{};          ///< of a timestamp; empty for none
  bool is_in_seconds = false;  ///< a timestamp, which Parquet has in milliseconds
  bool is_dictionary = false;
  bool is_ordered = false;  ///< of the dictionary
  std::vector<ArrowHint> children{};
};

/// The columns of `base64`, an encapsulated Arrow schema message; none when it is not one that can
/// be understood: it is only a hint. Nothing is read outside of the bytes.
std::vector<ArrowHint> parse_arrow_schema(std::string_view base64);

}  // namespace hr::parquet
