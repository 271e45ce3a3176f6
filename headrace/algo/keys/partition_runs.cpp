// SPDX-License-Identifier: Apache-2.0
// Rows split into partitions by a digit of their key.
#include "headrace/algo/keys/partition_runs.h"

#include "headrace/memory/budget/budget.h"

#include <cmath>

namespace hr {

namespace {

// In memory a run is a morsel. Under a budget the rows of a partition lie in as many chunks as
// there are runs, each a 16th of a run while that is no more than a chunk may have: of 8 bytes a
// row half a byte a row in all, whatever the length from 2^17 rows on. Of so many rows that these
// are more than a run, the runs are so long that a run and the chunks take about the same.
int64_t run_length(int64_t rows) {
  constexpr int64_t kLeast = 1 << 17;
  const int64_t most_chunk = chunk_bytes_of(INT64_MAX);
  const double even = std::sqrt(static_cast<double>(rows) * static_cast<double>(most_chunk) / 8);
  const int64_t wanted =
      even > 2.0 * static_cast<double>(most_chunk) ? static_cast<int64_t>(even) : kLeast;
  return std::clamp<int64_t>(wanted / morsel_rows(), 1, 1 << 12) * morsel_rows();
}

template <class T>
void scatter(const T* values, const uint16_t* digits, int64_t count, T* out, uint32_t* next) {
  for (int64_t i = 0; i < count; ++i) out[next[digits[i]]++] = values[i];
}

}  // namespace

PartitionedRuns partition_runs(
    int64_t rows, int64_t partitions, const std::vector<PayloadStream>& streams,
    const std::function<void(const uint64_t* keys, int64_t count, uint16_t* digits)>& digit) {
  PartitionedRuns split;
  split.rows = rows;
  split.partitions = partitions;
  int64_t row_bytes = 0;
  for (const PayloadStream& stream : streams) row_bytes += stream.width;
  const int64_t limit = memory_limit();
  const bool leaves = limit != INT64_MAX && rows * row_bytes >= limit / 4;
  split.run_rows = leaves ? run_length(rows) : morsel_rows();
  const int64_t runs = split.num_runs();
  split.offsets.assign(static_cast<size_t>(runs * (partitions + 1)), 0);
  if (rows == 0) return split;
  // Chunks of small buffers are small, so less is pinned that is not asked for.
  split.buffer_rows = leaves ? split.run_rows : rows;
  std::vector<std::vector<std::byte*>> outs;
  for (const PayloadStream& stream : streams) {
    std::vector<Buffer>& buffers = split.streams.emplace_back();
    std::vector<std::byte*>& places = outs.emplace_back();
    for (int64_t row = 0; row < rows; row += split.buffer_rows) {
      const int64_t count = std::min(split.buffer_rows, rows - row);
      buffers.push_back(Buffer::allocate_temporary(count * stream.width));
      places.push_back(buffers.back().mutable_data());
    }
  }
  parallel_for(runs, [&](int64_t run) {
    const int64_t first = run * split.run_rows;
    const int64_t last = std::min(first + split.run_rows, rows);
    uint32_t* offsets = split.offsets.data() + run * (partitions + 1);
    Buffer kept = Buffer::allocate(2 * (last - first));
    auto* digits = kept.mutable_as<uint16_t>();
    alignas(64) std::byte block[8 * kBlockRows];
    const auto each_block = [&](const PayloadStream& stream, int64_t begin, int64_t end,
                                auto&& visit) {
      for (int64_t row = begin; row < end; row += kBlockRows) {
        const int64_t count = std::min(kBlockRows, end - row);
        stream.read(row, count, block);
        visit(row, count);
      }
    };
    for (int64_t begin = first; begin < last; begin += morsel_rows()) {
      const int64_t end = std::min(begin + morsel_rows(), last);
      const Pin pin(ranges_of(streams[0].accesses, begin, end));
      each_block(streams[0], begin, end, [&](int64_t row, int64_t count) {
        uint16_t* here = digits + (row - first);
        digit(reinterpret_cast<const uint64_t*>(block), count, here);
        for (int64_t i = 0; i < count; ++i) ++offsets[here[i] + 1];
      });
    }
    for (int64_t partition = 0; partition < partitions; ++partition)
      offsets[partition + 1] += offsets[partition];
    std::vector<uint32_t> next;
    for (size_t k = 0; k < streams.size(); ++k) {
      const PayloadStream& stream = streams[k];
      next.assign(offsets, offsets + partitions);
      const int64_t width = stream.width;
      std::vector<PinnedRange> ranges = ranges_of(stream.accesses, first, last);
      const auto place = static_cast<size_t>(first / split.buffer_rows);
      const int64_t begin = first % split.buffer_rows;
      ranges.push_back(
          {&split.streams[k][place], begin * width, (begin + last - first) * width, true});
      const Pin pin(ranges);
      std::byte* out = outs[k][place] + begin * width;
      each_block(stream, first, last, [&](int64_t row, int64_t count) {
        const uint16_t* here = digits + (row - first);
        const auto as = [&]<class T>(std::type_identity<T>) {
          scatter(reinterpret_cast<const T*>(block), here, count, reinterpret_cast<T*>(out),
                  next.data());
        };
        if (width == 8)
          as(std::type_identity<uint64_t>{});
        else if (width == 4)
          as(std::type_identity<uint32_t>{});
        else
          as(std::type_identity<uint8_t>{});
      });
    }
  });
  for (const std::vector<Buffer>& stream : split.streams)
    for (const Buffer& buffer : stream) buffer.seal();
  return split;
}

}  // namespace hr
