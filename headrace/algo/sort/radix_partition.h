// SPDX-License-Identifier: Apache-2.0
// Rows moved into buckets, each bucket in the order of the rows: what sort, group-by and join
// share.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/buffer/pin.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hr {

/// The most buckets of one partition.
inline constexpr int64_t kMostBuckets = int64_t{1} << 12;

/// Writes the bucket of rows [begin, end), at most kBlockRows of them, to `buckets[0]` and on. Runs
/// on several threads at once, and once a row.
using BucketsOfRows = std::function<void(int64_t begin, int64_t end, uint16_t* buckets)>;

/// Values that move with their rows: `width` bytes a row (1, 2, 4, 8 or 16), row r from byte
/// from_begin + r * width of `from`, place p of the order by bucket to byte to_begin + p * width of
/// `to`. Without `from` the value is the row's number, of 4 or 8 bytes.
struct PartitionColumn {
  const Buffer* from = nullptr;
  int64_t from_begin = 0;
  int64_t width = 8;
  Buffer* to = nullptr;
  int64_t to_begin = 0;
};

/// Where rows go: bucket by bucket, in a bucket in the order of the rows, whatever the number of
/// threads. Made by one pass that asks each row for its bucket; then columns move, one pass each.
///
///   Partition partition(rows, 64, [&](int64_t begin, int64_t end, uint16_t* buckets) {
///     for (int64_t row = begin; row < end; ++row) buckets[row - begin] = hash(keys[row]) >> 58;
///   }, {reads(key_column)});
///   const Buffer keys = partition.moved(key_column.values_buffer(), 0, 8);
///   // Bucket b has places [partition.begins()[b], partition.begins()[b + 1]) of `keys`.
///
/// A morsel is brought into bucket order in cache and leaves it as one run of bytes a bucket:
/// about 1 ns a row for the places and 1 ns a row and column of 8 bytes, on one core, for 256
/// buckets. Memory: 2 bytes a row while it lives, and 3 MiB a worker, or a 16th of the limit for
/// all of them where that is less.
class HR_API RadixPartition {
 public:
  /// `accesses`: what `buckets_of` reads. Throws InvalidArgumentError unless there are 1 to
  /// kMostBuckets buckets; OutOfMemoryError.
  RadixPartition(int64_t rows, int64_t num_buckets, const BucketsOfRows& buckets_of,
                 const std::vector<BufferAccess>& accesses);

  int64_t num_rows() const { return rows_; }

  int64_t num_buckets() const { return num_buckets_; }

  /// The first place of each bucket, then the number of rows.
  const std::vector<int64_t>& begins() const { return begins_; }

  int64_t size(int64_t bucket) const {
    return begins_[static_cast<size_t>(bucket) + 1] - begins_[static_cast<size_t>(bucket)];
  }

  /// Moves columns; several at a time are cheaper. `held`: the caller has pinned what is written,
  /// else each step pins what it touches, a bucket at a time. Results larger than the budget work,
  /// but the chunks (2 MiB) that all buckets and columns are at should fit in it together.
  void move(std::span<const PartitionColumn> columns, bool held = false) const;

  /// A new buffer of `width` bytes a row, from `from_begin` on in `from`.
  Buffer moved(const Buffer& from, int64_t from_begin, int64_t width) const;

  /// The rows' numbers (uint32 for `width` 4, int64 for 8) by bucket.
  Buffer moved_rows(int64_t width) const;

 private:
  void move_morsel(int64_t morsel, std::span<const PartitionColumn> columns,
                   const std::vector<std::byte*>& outs, bool held) const;
  void move_piece(int64_t first, int64_t rows, int64_t widest, std::vector<int64_t>& next,
                  std::span<const PartitionColumn> columns, const std::vector<std::byte*>& outs,
                  bool held) const;

  int64_t rows_;
  int64_t step_ = 0;  // rows of a morsel
  int64_t num_buckets_;
  Buffer buckets_;  // uint16, one per row
  Buffer places_;   // int64 [morsel][bucket]: where the morsel's rows of a bucket begin
  std::vector<int64_t> begins_{};
};

}  // namespace hr
