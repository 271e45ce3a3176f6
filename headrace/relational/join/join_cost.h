// SPDX-License-Identifier: Apache-2.0
// What a join is thought to yield and to take: for join_nodes.cpp.
#pragma once
#include "headrace/plan/graph/cost_model.h"
#include "headrace/relational/join/join.h"

#include <vector>

namespace hr {

/// Places among the inputs of a join.
struct JoinPlaces {
  int64_t left = 0;  ///< of an input with the rows of a side
  int64_t right = 0;
  std::vector<int64_t> left_keys{};
  std::vector<int64_t> right_keys{};
  std::vector<bool> left_columns{};  ///< by column of the result: of the left side alone
};

/// The rows of both sides over the distinct keys of the side that has more of them (System R's
/// estimate: Selinger and others, SIGMOD 1979); if the keys are unknown those of the longer
/// side.
int64_t estimate_joined_rows(const InputEstimates& inputs, const JoinPlaces& places, JoinKind kind);

/// `rows` and `dtypes`: of the result.
OperatorCost join_cost(const InputEstimates& inputs, const JoinPlaces& places, JoinKind kind,
                       int64_t rows, const std::vector<Dtype>& dtypes,
                       const std::vector<bool>& wanted);

}  // namespace hr
