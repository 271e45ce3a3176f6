// SPDX-License-Identifier: Apache-2.0
// Central moments of some values, and what they tell of the shape of a distribution.
#pragma once
#include <cmath>
#include <limits>

namespace hr {

/// How many values, their mean, and sums of powers of deviations from it.
struct Moments {
  double count = 0, mean = 0, squares = 0, cubes = 0, fourths = 0;

  /// From sums of the first to the fourth powers of deviations from about the mean. Corrects its
  /// rounding, so that all deviations of equal values are 0.
  static Moments of(double count, double center, const double (&powers)[4]) {
    const auto& [sum, squares, cubes, fourths] = powers;
    const double rest = sum / count, made = squares - sum * rest;
    if (!(made > count * std::numeric_limits<double>::epsilon() * squares))
      return {count, center + rest};
    return {count, center + rest, made, cubes - rest * (3 * squares - 2 * sum * rest),
            fourths - rest * (4 * cubes - rest * (6 * squares - 3 * sum * rest))};
  }

  /// Of two sets: Pebay, "Formulas for Robust, One-Pass Parallel Computation of Covariances and
  /// Arbitrary-Order Statistical Moments" (2008).
  static Moments join(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count, change = (b.mean - a.mean) / count;
    const double change2 = change * change, between = change2 * a.count * b.count * count;
    return {count, a.mean + change * b.count, a.squares + b.squares + between,
            a.cubes + b.cubes + between * change * (a.count - b.count) +
                3 * change * (a.count * b.squares - b.count * a.squares),
            a.fourths + b.fourths +
                between * change2 * (a.count * a.count - a.count * b.count + b.count * b.count) +
                6 * change2 * (a.count * a.count * b.squares + b.count * b.count * a.squares) +
                4 * change * (a.count * b.cubes - b.count * a.cubes)};
  }

  /// Of a sample: G1 of Joanes and Gill, "Comparing measures of sample skewness and kurtosis"
  /// (1998). NaN for fewer than three values or equal ones.
  double skewness() const {
    if (count < 3 || squares == 0) return std::numeric_limits<double>::quiet_NaN();
    return count * std::sqrt(count - 1) / (count - 2) * (cubes / (squares * std::sqrt(squares)));
  }

  /// Excess kurtosis of a sample: G2. NaN for fewer than four values or equal ones.
  double kurtosis() const {
    if (count < 4 || squares == 0) return std::numeric_limits<double>::quiet_NaN();
    return (count - 1) / ((count - 2) * (count - 3)) *
           (count * (count + 1) * (fourths / (squares * squares)) - 3 * (count - 1));
  }
};

}  // namespace hr
