// SPDX-License-Identifier: Apache-2.0
// Running sums, products, minima and maxima.
#pragma once
#include "headrace/algo/scan/segments.h"
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>

namespace hr {

enum class Cumulation : uint8_t { kSum, kProduct, kMin, kMax };

/// "cumsum", "cumprod", "cummin", "cummax"; throws InvalidArgumentError for another word.
HR_API Cumulation cumulation_from_name(std::string_view name);
HR_API std::string_view cumulation_name(Cumulation cumulation);

/// Dtype of the result: of sums and products as `reduction_dtype` says, of sums of decimals all 38
/// digits, else the dtype. Throws TypeMismatchError for what is not a number, bool, decimal, time
/// or duration, for sums of times, products of these and of decimals, and minima of bools.
HR_API Dtype cumulation_dtype(Cumulation cumulation, Dtype dtype);

/// What the rows up to and with each one give. Null stays null and NaN stays NaN; both take no
/// part. Integers wrap; decimals are exact, and a sum of more than 38 digits throws
/// InvalidArgumentError with its row. Floats add row by row within a morsel of 2^17 rows, and what
/// the morsels before gave is added to each: the same bits for any number of threads, and on a CUDA
/// device, where a morsel of floats takes as long as all of them together. Two walks, 2 ns a row.
HR_API Column cumulative(Cumulation cumulation, const Column& column);

/// The same within segments, each of which begins anew. Throws UnsupportedError on a device.
HR_API Column cumulative(Cumulation cumulation, const Column& column, const Segments& segments);

}  // namespace hr
