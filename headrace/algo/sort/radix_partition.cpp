// SPDX-License-Identifier: Apache-2.0
// Rows moved into buckets: count by morsel, then bring each morsel into bucket order and let it go.
#include "headrace/algo/sort/radix_partition.h"

#include "headrace/algo/sort/radix_partition_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <limits>

namespace hr {

namespace {

// Under a limit the workers together stage no more than this part of it.
constexpr int64_t kShareOfLimit = 16;
constexpr int64_t kLeastPiece = int64_t{1} << 12;
// Rows of a morsel, and for each bucket: fewer are slow to write.
constexpr int64_t kLeastMorsel = int64_t{1} << 15, kLeastPerBucket = 32;

}  // namespace

RadixPartition::RadixPartition(int64_t rows, int64_t num_buckets, const BucketsOfRows& buckets_of,
                               const std::vector<BufferAccess>& accesses)
    : rows_(rows), num_buckets_(num_buckets) {
  if (num_buckets < 1 || num_buckets > kMostBuckets)
    throw_error<InvalidArgumentError>("partition", "the number of buckets is out of range",
                                      {{"buckets", num_buckets}, {"most", kMostBuckets}});
  step_ = std::min(std::max({morsel_rows(rows), kLeastMorsel,
                             round_up(kLeastPerBucket * num_buckets, kBlockRows)}),
                   morsel_rows());
  const int64_t morsels = divide_up(rows, step_);
  const auto width = static_cast<int64_t>(sizeof(uint16_t));
  buckets_ = Buffer::allocate_temporary(rows * width);
  places_ = Buffer::allocate(morsels * num_buckets * static_cast<int64_t>(sizeof(int64_t)));
  begins_.assign(static_cast<size_t>(num_buckets) + 1, 0);
  if (rows == 0) return;
  uint16_t* const buckets = buckets_.mutable_as<uint16_t>();
  int64_t* const places = places_.mutable_as<int64_t>();
  std::vector<BufferAccess> all = accesses;
  all.push_back({&buckets_, 0, 8 * width, 8 * width, rows, 0, 0, true});
  parallel_morsels(rows, step_, all, [&](Morsel morsel) {
    std::vector<uint32_t> counts(static_cast<size_t>(num_buckets), 0);
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
      const int64_t end = std::min(begin + kBlockRows, morsel.end);
      buckets_of(begin, end, buckets + begin);
      cpu::count_buckets(buckets + begin, end - begin, counts.data());
    }
    std::copy(counts.begin(), counts.end(), places + morsel.index * num_buckets);
  });
  int64_t place = 0;
  for (int64_t bucket = 0; bucket < num_buckets; ++bucket) {
    begins_[static_cast<size_t>(bucket)] = place;
    for (int64_t morsel = 0; morsel < morsels; ++morsel) {
      int64_t& count = places[morsel * num_buckets + bucket];
      place += std::exchange(count, place);
    }
  }
  begins_.back() = place;
}

void RadixPartition::move(std::span<const PartitionColumn> columns, bool held) const {
  if (rows_ == 0) return;
  std::vector<std::byte*> outs;
  for (const PartitionColumn& column : columns)
    outs.push_back(column.to->mutable_data() + column.to_begin);
  std::vector<PinnedRange> all;
  if (!held && memory_limit() == std::numeric_limits<int64_t>::max()) {
    // Nothing has to leave: one pin for all costs less than one a bucket and morsel.
    for (const PartitionColumn& column : columns) {
      const int64_t bytes = rows_ * column.width;
      all.push_back({column.to, column.to_begin, column.to_begin + bytes, true});
    }
    held = true;
  }
  const Pin pin(all);
  parallel_for(divide_up(rows_, step_),
               [&](int64_t morsel) { move_morsel(morsel, columns, outs, held); });
}

// A morsel in one piece, or in as many as a small limit asks for: the rows land in the same places.
void RadixPartition::move_morsel(int64_t index, std::span<const PartitionColumn> columns,
                                 const std::vector<std::byte*>& outs, bool held) const {
  int64_t widest = 1;
  for (const PartitionColumn& column : columns) widest = std::max(widest, column.width);
  const int64_t row_bytes = static_cast<int64_t>(sizeof(uint32_t)) + widest;
  const int64_t fitting = memory_limit() / (kShareOfLimit * threads()) / row_bytes;
  const int64_t most = std::max(fitting, kLeastPiece);
  const int64_t* const begins = places_.as<int64_t>() + index * num_buckets_;
  std::vector<int64_t> next(begins, begins + num_buckets_);
  const Morsel morsel = morsel_at(index, rows_, step_);
  for (int64_t row = morsel.begin; row < morsel.end; row += most)
    move_piece(row, std::min(most, morsel.end - row), widest, next, columns, outs, held);
  cpu::finish_copies();
}

// Rows [first, first + rows) to the `next` places of their buckets.
void RadixPartition::move_piece(int64_t first, int64_t rows, int64_t widest,
                                std::vector<int64_t>& next,
                                std::span<const PartitionColumn> columns,
                                const std::vector<std::byte*>& outs, bool held) const {
  const auto pin = [&](const Buffer& buffer, int64_t begin, int64_t width, int64_t count,
                       bool write) {
    return std::vector<PinnedRange>{{&buffer, begin, begin + count * width, write}};
  };
  const size_t buckets = next.size();
  std::vector<uint32_t> ends(buckets + 1, 0);
  // One buffer for both, so that little is lost to whole pages.
  const int64_t places_bytes = round_up(rows * static_cast<int64_t>(sizeof(uint32_t)), 64);
  Buffer room = Buffer::allocate(places_bytes + rows * widest);
  uint32_t* const places = room.mutable_as<uint32_t>();
  std::byte* const staged = room.mutable_data() + places_bytes;
  {
    const Pin read(pin(buckets_, 2 * first, 2, rows, false));
    const uint16_t* of = buckets_.as<uint16_t>() + first;
    cpu::count_buckets(of, rows, ends.data() + 1);
    for (size_t b = 0; b < buckets; ++b) ends[b + 1] += ends[b];
    cpu::bucket_places(of, rows, ends.data(), places);
  }
  // Now ends[b] is where bucket b ends in the staged values.
  for (size_t c = 0; c < columns.size(); ++c) {
    const PartitionColumn& column = columns[c];
    if (!column.from) {
      cpu::stage_rows(first, rows, places, column.width, staged);
    } else {
      const int64_t begin = column.from_begin + first * column.width;
      const Pin read(pin(*column.from, begin, column.width, rows, false));
      cpu::stage_values(column.from->data() + begin, rows, places, column.width, staged);
    }
    uint32_t from = 0;
    for (size_t b = 0; b < buckets; from = ends[b], ++b) {
      const int64_t count = int64_t{ends[b]} - from;
      if (count == 0) continue;
      std::vector<PinnedRange> ranges;
      if (!held)
        ranges =
            pin(*column.to, column.to_begin + next[b] * column.width, column.width, count, true);
      const Pin write(ranges);
      cpu::copy_out(staged + int64_t{from} * column.width, count * column.width,
                    outs[c] + next[b] * column.width);
    }
  }
  for (size_t b = 0, from = 0; b < buckets; from = ends[b], ++b)
    next[b] += static_cast<int64_t>(ends[b] - from);
}

Buffer RadixPartition::moved(const Buffer& from, int64_t from_begin, int64_t width) const {
  Buffer to = Buffer::allocate_temporary(rows_ * width);
  const PartitionColumn column{&from, from_begin, width, &to, 0};
  move({&column, 1});
  return to;
}

Buffer RadixPartition::moved_rows(int64_t width) const {
  Buffer to = Buffer::allocate_temporary(rows_ * width);
  const PartitionColumn column{nullptr, 0, width, &to, 0};
  move({&column, 1});
  return to;
}

}  // namespace hr
