// SPDX-License-Identifier: Apache-2.0
// The Arrow schema that is kept in a Parquet file: what Parquet itself has no words for.
#pragma once
#include "headrace/data/column.h"

#include <string>
#include <vector>

namespace hr::parquet {

/// An encapsulated Arrow schema message in base64, as "ARROW:schema" holds it: the dtypes of the
/// columns, strings as utf8, categories as dictionaries of int32.
std::string make_arrow_schema(const std::vector<std::string>& names,
                              const std::vector<Column>& columns);

}  // namespace hr::parquet
