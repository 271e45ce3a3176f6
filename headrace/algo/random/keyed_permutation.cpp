// SPDX-License-Identifier: Apache-2.0
// Checks, chooses and allocates for permutations by a key.
#include "headrace/algo/random/keyed_permutation.h"

#include "headrace/algo/random/keyed_permutation_kernels.h"
#include "headrace/algo/random/random.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <bit>

namespace hr {
namespace {

/// Up to here a list costs nothing, and a network of so few bits would not reach all permutations.
constexpr int64_t kListedRows = int64_t{1} << 16;

void check(const char* op, int64_t rows, int64_t first, int64_t step, int64_t count) {
  if (rows < 0 || first < 0 || step < 0 || count < 0)
    throw_error<InvalidArgumentError>(
        op, "a negative number",
        {{"rows", rows}, {"first", first}, {"step", step}, {"count", count}}, "use 0 or more");
  if (rows == 0 && count > 0)
    throw_error<InvalidArgumentError>(op, "elements of no rows", {{"count", count}},
                                      "ask for none");
  int64_t span = 0;
  if (__builtin_mul_overflow(step, count, &span) || __builtin_add_overflow(span, first, &span))
    throw_error<InvalidArgumentError>(op, "elements past the largest number",
                                      {{"first", first}, {"step", step}, {"count", count}},
                                      "ask for fewer");
}

FeistelNetwork network_of(int64_t rows, RandomKey key) {
  FeistelNetwork network;
  network.half_bits = (std::bit_width(static_cast<uint64_t>(rows - 1)) + 1) / 2;
  for (int k = 0; k < kFeistelRounds; ++k)
    network.keys[static_cast<size_t>(k)] =
        philox_word(philox_block(key, static_cast<uint64_t>(k) / 2), k % 2);
  return network;
}

template <class Fill>
Tensor filled(int64_t count, Fill&& fill) {
  Buffer buffer = Buffer::allocate(count * static_cast<int64_t>(sizeof(int64_t)));
  if (count > 0) fill(buffer.mutable_as<int64_t>());
  return Tensor(dtype_of<int64_t>(), Shape{count}, std::move(buffer));
}

}  // namespace

Tensor permuted_rows(int64_t rows, RandomKey key, int64_t first, int64_t step, int64_t count) {
  const ScopedTag tag("permuted_rows");
  check("permuted_rows", rows, first, step, count);
  if (rows > kListedRows)
    return filled(count, [&](int64_t* out) {
      cpu::permuted_rows(network_of(rows, key), rows, first, step, count, out);
    });
  const Tensor listed = random_sample(rows, rows, key);
  const auto* const list = listed.as<int64_t>();
  return filled(count, [&](int64_t* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = list[(first + i * step) % rows];
  });
}

Tensor permuted_places(int64_t rows, RandomKey key, int64_t first, int64_t count) {
  const ScopedTag tag("permuted_places");
  check("permuted_places", rows, first, 1, count);
  if (first + count > rows)
    throw_error<InvalidArgumentError>("permuted_places", "rows past the end",
                                      {{"first", first}, {"count", count}, {"rows", rows}},
                                      "ask for those that are there");
  if (rows > kListedRows)
    return filled(count, [&](int64_t* out) {
      cpu::permuted_places(network_of(rows, key), rows, first, count, out);
    });
  const Tensor listed = random_sample(rows, rows, key);
  const auto* const list = listed.as<int64_t>();
  return filled(count, [&](int64_t* out) {
    for (int64_t place = 0; place < rows; ++place)
      if (list[place] >= first && list[place] < first + count) out[list[place] - first] = place;
  });
}

}  // namespace hr
