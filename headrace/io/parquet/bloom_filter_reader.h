// SPDX-License-Identifier: Apache-2.0
// Which values the Bloom filter of a column chunk rules out.
#pragma once
#include "headrace/data/column.h"
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/schema.h"
#include "headrace/io/source.h"

namespace hr::parquet {

/// Whether a chunk may have one of these values of the leaf's dtype, of categories strings, none of
/// them null or NaN; true where it has no filter, or one that Headrace does not know. Of a filter
/// its header and a block a value are read. Throws Refusal where the filter does not lie in the
/// file as its header and the footer say.
bool filter_may_have(const ByteSource& source, const ColumnChunk& chunk, const Leaf& leaf,
                     const Column& values);

}  // namespace hr::parquet
