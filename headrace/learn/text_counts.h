// SPDX-License-Identifier: Apache-2.0
// Texts to sparse counts of terms, by a vocabulary or by hashing.
#pragma once
#include "headrace/data/sparse.h"
#include "headrace/learn/text_analyzer.h"

#include <limits>

namespace hr {

/// Which terms of the documents become columns.
struct VocabularyLimits {
  double least_texts = 1.0;  ///< that have the term
  double most_texts = std::numeric_limits<double>::infinity();
  int64_t most_terms = std::numeric_limits<int64_t>::max();  ///< those that are counted most
};

struct CountedTerms {
  Sparse counts;      ///< a row for each document, a column for each term; rows are sorted
  Column terms;       ///< strings, ascending
  int64_t found = 0;  ///< distinct terms before the limits
};

/// How often each text has each of its terms; `binary`: once at most. `texts` are strings without
/// nulls, or lists of strings: words that were found otherwise. `dtype`: of the counts, float32,
/// float64 or int64. Terms that are equally common are kept in their order. The same for any number
/// of threads. About 30 ns a word and core.
/// Throws InvalidArgumentError for nulls, naming the row, and TypeMismatchError for other columns.
HR_API CountedTerms count_terms(const Column& texts, const TextOptions& options,
                                const VocabularyLimits& limits, bool binary, Dtype dtype);

/// The same by a vocabulary: column i is term i; other terms are left out.
HR_API Sparse count_terms(const Column& texts, const TextOptions& options, const Column& vocabulary,
                          bool binary, Dtype dtype);

/// The same by hash: the column of a term is the size of its murmur3 hash (32 bits, signed, seed 0)
/// modulo `columns`; `signs`: a term of a negative hash counts down. scikit-learn's columns.
/// Throws InvalidArgumentError unless 1 <= columns < 2^31.
HR_API Sparse hash_terms(const Column& texts, const TextOptions& options, int64_t columns,
                         bool signs, bool binary, Dtype dtype);

/// The terms of each text in turn.
HR_API std::vector<std::string> find_terms(const Column& texts, const TextOptions& options);

}  // namespace hr
