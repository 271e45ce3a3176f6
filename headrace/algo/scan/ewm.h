// SPDX-License-Identifier: Apache-2.0
// Exponentially weighted means, sums, variances, covariances and correlations.
#pragma once
#include "headrace/algo/scan/segments.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace hr {

enum class EwmStatistic : uint8_t { kMean, kSum, kVariance, kStd, kCovariance, kCorrelation };

/// "mean", "sum", "var", "std", "cov", "corr"; throws InvalidArgumentError for another word.
HR_API EwmStatistic ewm_statistic_from_name(std::string_view name);

struct EwmOptions {
  EwmStatistic statistic = EwmStatistic::kMean;
  double decay = 0.5;       ///< 1 - alpha: what is left of a weight one row later
  int64_t min_periods = 0;  ///< null where fewer values were there so far
  bool adjust = true;       ///< weights of all rows add up to 1, else each result moves by alpha
  bool ignore_na = false;   ///< rows without a value take no weight away
  bool bias = false;        ///< of variances and covariances
  double half_life = 0;     ///< of times, in their unit: rows decay by the time between them

  static auto parameters(auto& self) {
    return std::tie(self.statistic, self.decay, self.min_periods, self.adjust, self.ignore_na,
                    self.bias, self.half_life);
  }
};

/// What pandas' `ewm` gives of float64 values, within each segment; null before the first value
/// and where they are too few. `other`: the second column of covariances and correlations, where
/// only rows with both values count. `times`: int64, where there is a half-life; they do not fall
/// within a segment. One task a segment: about 4 ns a row. Throws InvalidArgumentError for a time
/// that is missing or out of order.
HR_API Column ewm(const Column& column, const Column* other, const Column* times,
                  const EwmOptions& options, const Segments& segments);

}  // namespace hr
