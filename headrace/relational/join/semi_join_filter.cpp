// SPDX-License-Identifier: Apache-2.0
// Rows of which a join further on keeps few.
#include "headrace/relational/join/semi_join_filter.h"

#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/zeroed.h"
#include "headrace/relational/join/join.h"

#include <algorithm>

namespace hr {

namespace {

constexpr int64_t kSample = 4096;
// To leave rows out costs a lookup of each key and a copy of what stays, so a quarter may stay, and
// of a join that leaves out nearly all by itself there is nothing to spare. A set of more than a
// 16th of the rows is seldom one that leaves many out, and costs as much as it spares
// (docs/design/join.md).
constexpr int64_t kShare = 4;
constexpr int64_t kShareOfFirst = 16;
constexpr int64_t kSmaller = 16;

}  // namespace

bool is_selective(const KeyColumns& columns, int64_t share, int64_t smaller) {
  const auto& [keys, wanted] = columns;
  const int64_t rows = keys.num_rows(), size = std::min(kSample, rows);
  if (rows == 0 || wanted.num_rows() * smaller > rows) return false;
  // Rows often lie by time, so they are taken from everywhere.
  Buffer at = Buffer::allocate(8 * size);
  for (int64_t i = 0; i < size; ++i) at.mutable_as<int64_t>()[i] = i * (rows / size);
  const Column sample = gather(keys, Tensor(TypeId::kInt64, {size}, std::move(at)));
  const Column found = is_in(sample, wanted);
  return share * count_bits(found.values_buffer().as<uint8_t>(), found.offset(), size) <= size;
}

Column semi_join_mask(const KeyColumns& asked, const std::optional<KeyColumns>& first,
                      const Mask* where) {
  const auto& [keys, wanted] = asked;
  if (is_selective(asked, kShare, kSmaller) &&
      !(first && is_selective(*first, kShareOfFirst, kSmaller)))
    return is_in(keys, wanted, where);
  const int64_t rows = keys.num_rows();
  Buffer bits = allocate_zeroed_by_workers(8 * ((rows + 63) / 64));
  if (rows == 0) return Column(TypeId::kBool, 0, std::move(bits));
  auto* const words = bits.mutable_as<uint64_t>();
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
      const int64_t count = std::min<int64_t>(64, morsel.end - row);
      const uint64_t inside = ~uint64_t{0} >> (64 - count);
      words[row / 64] = where ? where->word(row, count) & inside : inside;
    }
  });
  return Column(TypeId::kBool, rows, std::move(bits));
}

}  // namespace hr
