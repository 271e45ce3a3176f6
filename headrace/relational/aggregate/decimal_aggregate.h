// SPDX-License-Identifier: Apache-2.0
// Aggregates of decimals by those of integers and floats: for aggregate.cpp.
#pragma once
#include "headrace/relational/aggregate/aggregate.h"

#include <utility>
#include <vector>

namespace hr {

/// What a group-by asks of columns of decimals, as requests on other columns.
class DecimalRequests {
 public:
  /// The place among `values` of a column of decimals as float64, which is added once.
  int64_t float_place(int64_t column, std::vector<Column>& values);

  /// Makes of one request, a sum of decimals, those of the sums of their limbs, which are exact.
  void add_sum(size_t request, std::vector<Column>& values,
               std::vector<AggregateRequest>& requests);

  /// Puts the sums of limbs together; only the first `count` values stay. Throws
  /// InvalidArgumentError for a sum of more than 38 digits.
  void finish(Grouped& grouped, size_t count) const;

 private:
  struct Sum {
    size_t request;
    size_t first_more;  // requests of the upper limbs
    size_t limbs;
    Dtype dtype;
  };

  std::vector<std::pair<int64_t, int64_t>> floats_{};  // column, and its place
  std::vector<Sum> sums_{};
};

}  // namespace hr
