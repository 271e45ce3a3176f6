// SPDX-License-Identifier: Apache-2.0
// Rows split into partitions by a digit of their key, in row order within a partition.
#pragma once
#include "headrace/algo/keys/factorize.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace hr {

/// How many partitions to make of `rows` rows: the table of one stays in the cache of a core, and
/// every worker gets some. A power of two up to 1024.
HR_API int64_t num_partitions(int64_t rows);

/// One value per row that goes with it into its partition.
struct PayloadStream {
  int width = 8;  ///< bytes: 1, 4 or 8
  /// Writes the values of rows [row, row + count), count at most kBlockRows.
  std::function<void(int64_t row, int64_t count, void* out)> read;
  std::vector<BufferAccess> accesses{};
};

/// The streams of rows in runs of some morsels, each run ordered by partition: a run is split where
/// it lies, in the cache where it is one morsel, and a partition is a piece of every run. So both
/// sides walk through memory, and under a budget both need but few chunks at once.
struct PartitionedRuns {
  int64_t rows = 0;
  int64_t run_rows = 0;
  int64_t partitions = 0;
  std::vector<uint32_t> offsets{};  ///< of each run: partitions + 1, from its first row
  /// Of each stream: one buffer, or under a budget one a run; sealed.
  std::vector<std::vector<Buffer>> streams{};
  std::vector<int> widths{};  ///< of their values
  int64_t buffer_rows = 0;    ///< of one of these

  int64_t num_runs() const { return run_rows == 0 ? 0 : (rows + run_rows - 1) / run_rows; }

  /// Calls `visit(begin, end)` for the pieces of a partition that have rows, in order.
  template <class F>
  void visit(int64_t partition, F&& visit) const {
    for (int64_t run = 0; run < num_runs(); ++run)
      if (const auto [begin, end] = piece(partition, run); begin < end) visit(begin, end);
  }

  /// The same where `visit` reads some streams: the piece after next is fetched meanwhile, since
  /// pieces are too short for the processor to do so.
  template <class F>
  void visit(int64_t partition, std::span<const int> read, F&& visit) const {
    constexpr int64_t kAhead = 2;
    for (int64_t run = 0; run < num_runs(); ++run) {
      if (run + kAhead < num_runs()) fetch(partition, run + kAhead, read);
      if (const auto [begin, end] = piece(partition, run); begin < end) visit(begin, end);
    }
  }

  int64_t rows_of(int64_t partition) const {
    int64_t count = 0;
    visit(partition, [&](int64_t begin, int64_t end) { count += end - begin; });
    return count;
  }

  /// Rows [first, second) of a run in a partition.
  std::pair<int64_t, int64_t> piece(int64_t partition, int64_t run) const {
    const uint32_t* at = offsets.data() + run * (partitions + 1) + partition;
    return {run * run_rows + at[0], run * run_rows + at[1]};
  }

  HR_API void fetch(int64_t partition, int64_t run, std::span<const int> read) const;

  /// The values of a stream from `row` on, as far as its run goes.
  template <class T>
  const T* values(size_t stream, int64_t row) const {
    const Buffer& buffer = streams[stream][static_cast<size_t>(row / buffer_rows)];
    return buffer.as<T>() + row % buffer_rows;
  }

  /// What a pin needs for a partition of one stream.
  void append_ranges(int64_t partition, size_t stream, int64_t width,
                     std::vector<PinnedRange>& ranges, bool write = false) const {
    visit(partition, [&](int64_t begin, int64_t end) {
      const int64_t first = begin / buffer_rows * buffer_rows;
      ranges.push_back({&streams[stream][static_cast<size_t>(begin / buffer_rows)],
                        (begin - first) * width, (end - first) * width, write});
    });
  }
};

/// `digit(keys, count, digits)` gives the partitions, below `partitions` and at most 2^16, of a
/// block of keys, 8 bytes each; they go into their partitions only as one of the streams. The
/// result is the same whatever the length of a run, which follows the budget.
HR_API PartitionedRuns partition_runs(
    int64_t rows, int64_t partitions, const PayloadStream& keys,
    const std::vector<PayloadStream>& streams,
    const std::function<void(const uint64_t* keys, int64_t count, uint16_t* digits)>& digit);

}  // namespace hr
