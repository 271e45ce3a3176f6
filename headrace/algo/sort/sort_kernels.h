// SPDX-License-Identifier: Apache-2.0
// Kernels of sort: ordered words, splitters, and sorting in cache; on a CUDA device the whole
// order.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/base/dtype.h"
#include "headrace/data/device.h"
#include "headrace/data/tensor.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hr::cpu {

/// Integers (bools as bytes) as words that ascend with them: value - base, or base - value when
/// descending, where base is an ordered value (`ordered_base` of nothing subtracted is 0).
void integer_words(Dtype dtype, const std::byte* values, int64_t rows, uint64_t base,
                   bool descending, uint64_t* out);

/// Floats as words of their width; NaN becomes the first or last word.
void float_words(Dtype dtype, const std::byte* values, int64_t rows, bool descending,
                 bool missing_first, uint64_t* out);

struct WordRange {
  uint64_t least;
  uint64_t greatest;
};

WordRange word_range(const uint64_t* words, int64_t rows);

/// out[i] = number of splitters that are at most words[i]; `tree` is a search tree of
/// 2^levels - 1 splitters in breadth-first order from tree[1] on.
void search_splitters(const uint64_t* words, int64_t rows, const uint64_t* tree, int levels,
                      uint16_t* out);

/// packed[i] = ((words[i] - least) >> drop) << index_bits | i.
void pack_words(const uint64_t* words, int64_t rows, uint64_t least, int drop, int index_bits,
                uint64_t* packed);

/// Sorts by bits [low, low + bits); equal ones stay in their order. `packed` is distinct in all its
/// bits, and rises below `low`. `scratch` has as many.
void sort_packed(uint64_t* packed, uint64_t* scratch, int64_t rows, int low, int bits);

/// out[i] = row at[i]; `width` is 1, 2, 4, 8 or 16.
void pick_values(const std::byte* values, const uint32_t* at, int64_t rows, int64_t width,
                 std::byte* out);

/// out[i] = row rows - 1 - i.
void reverse_values(const std::byte* values, int64_t rows, int64_t width, std::byte* out);

}  // namespace hr::cpu

namespace hr::cuda {

/// The rows' numbers in the order of the keys, int64; the keys are checked and not empty. Waits for
/// the ranges of the keys; strings come as their ranks. Throws UnsupportedError for 2^32 rows and
/// more.
Tensor argsort(const std::vector<Column>& keys, const std::vector<SortOrder>& orders);

/// Integers without nulls (times and days too) in order: they are their own keys.
Column sort_integers(const Column& values, SortOrder order);

/// Sorts `rows` keys of a device, 4 or 8 bytes wide, by their low `bits`, stably, and a number with
/// each. Keys and numbers have two places each, first in the first; where they are then: 0 or 1.
int sort_pairs(DeviceCall& call, uint32_t* const (&keys)[2], uint32_t* const (&numbers)[2],
               int64_t rows, int bits);
int sort_pairs(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&numbers)[2],
               int64_t rows, int bits);
/// The same without numbers.
int sort_words(DeviceCall& call, uint64_t* const (&words)[2], int64_t rows, int bits);

}  // namespace hr::cuda
