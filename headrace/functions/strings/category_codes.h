// SPDX-License-Identifier: Apache-2.0
// Codes of categories by a vocabulary, for tables of embeddings: unseen values have codes too.
#pragma once
#include "headrace/data/column.h"
#include "headrace/plan/graph/node.h"

namespace hr {

/// Codes before those of a vocabulary; 0 is left free, for padding.
inline constexpr int32_t kMissingCode = 1;
inline constexpr int32_t kFirstBucket = 2;

/// int32 for each row, without nulls: 1 where it is missing (null or NaN), 2 + buckets + place for
/// a value of the vocabulary, and one from 2 to 1 + buckets, by `hash_rows`, for any other. A row
/// takes one lookup in a table that is made of the vocabulary. Throws TypeMismatchError for a
/// vocabulary of another dtype (that of categories is their values'), UnsupportedError for nested,
/// complex and decimal values, and InvalidArgumentError for a vocabulary with missing or repeated
/// values, for less than one bucket, and for more codes than an int32 has.
HR_API Column category_codes(const Column& values, const Column& vocabulary, int64_t buckets);
HR_API NodePtr category_codes(const NodePtr& values, const NodePtr& vocabulary, int64_t buckets);

}  // namespace hr
