// SPDX-License-Identifier: Apache-2.0
// Chunks of a column that came in pieces, made one where an operator wants one.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <span>
#include <string_view>

namespace hr {

/// One column with the rows of all chunks, in order. A single chunk is returned as it is; several
/// are copied once (of strings the views alone), which the ledger shows under `op`. Categories get
/// one dictionary, their strings in the order of the chunks. All chunks have `dtype`. Throws
/// OutOfMemoryError.
HR_API Column concat_chunks(std::string_view op, Dtype dtype, std::span<const Column> chunks);

/// The same as the result of an operator, which is no copy. On a CUDA device by copies there;
/// throws UnsupportedError where categories have different dictionaries.
HR_API Column concatenate(std::string_view op, Dtype dtype, std::span<const Column> chunks);

/// Rows that are all null, of the dtype of `like` and where it lies.
HR_API Column null_rows(std::string_view op, const Column& like, int64_t rows);

}  // namespace hr
