// SPDX-License-Identifier: Apache-2.0
// Rows split into partitions by a digit of their key.
#include "headrace/algo/keys/partition_runs.h"

#include "headrace/algo/sort/radix_partition_kernels.h"
#include "headrace/memory/budget/budget.h"

#include <bit>
#include <cmath>

namespace hr {

namespace {

// In memory a run is a morsel. Under a budget the rows of a partition lie in one chunk for each
// run, each a 16th of a run while that is no more than a chunk may have: of 8 bytes a row half a
// byte a row in all, whatever the length from 2^17 rows on. Where the rows are so numerous that
// these are more than a run, the runs are so long that a run and the chunks take about the same.
int64_t run_length(int64_t rows) {
  constexpr int64_t kLeast = 1 << 17;
  const int64_t most_chunk = chunk_bytes_of(INT64_MAX);
  const double even = std::sqrt(static_cast<double>(rows) * static_cast<double>(most_chunk) / 8);
  const int64_t wanted =
      even > 2.0 * static_cast<double>(most_chunk) ? static_cast<int64_t>(even) : kLeast;
  return std::clamp<int64_t>(wanted / morsel_rows(), 1, 1 << 12) * morsel_rows();
}

constexpr int64_t kWidest = 8;
// Streams of fewer bytes stay in the caches; runs of more do not fit into that of a core.
constexpr int64_t kLeastStaged = int64_t{16} << 20, kMostStaged = int64_t{1} << 20;

template <class T>
void scatter(const T* values, const uint16_t* digits, int64_t count, T* out, uint32_t* next) {
  for (int64_t i = 0; i < count; ++i) out[next[digits[i]]++] = values[i];
}

// How rows are split into runs, and runs into buffers; no rows yet.
PartitionedRuns plan_runs(int64_t rows, int64_t partitions,
                          const std::vector<PayloadStream>& streams) {
  PartitionedRuns split;
  split.rows = rows;
  split.partitions = partitions;
  int64_t row_bytes = 0;
  for (const PayloadStream& stream : streams) {
    split.widths.push_back(stream.width);
    row_bytes += stream.width;
  }
  const int64_t limit = memory_limit();
  const bool leaves = limit != INT64_MAX && rows * row_bytes >= limit / 4;
  split.run_rows = leaves ? run_length(rows)
                          : std::max(morsel_rows(rows), std::min(32 * partitions, morsel_rows()));
  split.offsets.assign(static_cast<size_t>(split.num_runs() * (partitions + 1)), 0);
  // Chunks of small buffers are small, so less is pinned that is not asked for.
  if (rows > 0) split.buffer_rows = leaves ? split.run_rows : rows;
  return split;
}

// Allocates the buffers of all streams; by stream, where each begins.
std::vector<std::vector<std::byte*>> allocate_streams(const std::vector<PayloadStream>& streams,
                                                      PartitionedRuns& split) {
  std::vector<std::vector<std::byte*>> outs;
  for (const PayloadStream& stream : streams) {
    std::vector<Buffer>& buffers = split.streams.emplace_back();
    std::vector<std::byte*>& places = outs.emplace_back();
    for (int64_t row = 0; row < split.rows; row += split.buffer_rows) {
      const int64_t count = std::min(split.buffer_rows, split.rows - row);
      buffers.push_back(Buffer::allocate_temporary(count * stream.width));
      places.push_back(buffers.back().mutable_data());
    }
  }
  return outs;
}

// One run, its rows read block by block: first the keys, for the digits, then every stream.
class RunPartitioner {
 public:
  using Digit = std::function<void(const uint64_t* keys, int64_t count, uint16_t* digits)>;

  RunPartitioner(PartitionedRuns& split, int64_t run)
      : split_(split),
        first_(run * split.run_rows),
        last_(std::min(first_ + split.run_rows, split.rows)),
        offsets_(split.offsets.data() + run * (split.partitions + 1)),
        kept_(Buffer::allocate(2 * (last_ - first_))),
        digits_(kept_.mutable_as<uint16_t>()) {
    const int64_t bytes = kWidest * (last_ - first_);
    if (split.rows * kWidest >= kLeastStaged && bytes <= kMostStaged)
      staged_ = Buffer::allocate(bytes);
  }

  // Finds the digits of the rows, and where each partition begins.
  void count_digits(const PayloadStream& keys, const Digit& digit) {
    for (int64_t begin = first_; begin < last_; begin += morsel_rows()) {
      const int64_t end = std::min(begin + morsel_rows(), last_);
      const Pin pin(ranges_of(keys.accesses, begin, end));
      each_block(keys, begin, end, [&](int64_t count, uint16_t* here) {
        digit(reinterpret_cast<const uint64_t*>(block_), count, here);
        for (int64_t i = 0; i < count; ++i) ++offsets_[here[i] + 1];
      });
    }
    for (int64_t partition = 0; partition < split_.partitions; ++partition)
      offsets_[partition + 1] += offsets_[partition];
  }

  // Writes the rows of stream k; its buffers begin at `places`.
  void scatter_rows(const PayloadStream& stream, size_t k, const std::vector<std::byte*>& places) {
    next_.assign(offsets_, offsets_ + split_.partitions);
    const int64_t width = stream.width;
    std::vector<PinnedRange> ranges = ranges_of(stream.accesses, first_, last_);
    const auto place = static_cast<size_t>(first_ / split_.buffer_rows);
    const int64_t begin = first_ % split_.buffer_rows;
    ranges.push_back(
        {&split_.streams[k][place], begin * width, (begin + last_ - first_) * width, true});
    const Pin pin(ranges);
    std::byte* const to = places[place] + begin * width;
    std::byte* const out = staged_ ? staged_.mutable_data() : to;
    each_block(stream, first_, last_, [&](int64_t count, const uint16_t* here) {
      const auto as = [&]<class T>(std::type_identity<T>) {
        scatter(reinterpret_cast<const T*>(block_), here, count, reinterpret_cast<T*>(out),
                next_.data());
      };
      if (width == 8)
        as(std::type_identity<uint64_t>{});
      else if (width == 4)
        as(std::type_identity<uint32_t>{});
      else
        as(std::type_identity<uint8_t>{});
    });
    if (!staged_) return;
    cpu::copy_out(out, (last_ - first_) * width, to);
    cpu::finish_copies();
  }

 private:
  template <class F>
  void each_block(const PayloadStream& stream, int64_t begin, int64_t end, F&& visit) {
    for (int64_t row = begin; row < end; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, end - row);
      stream.read(row, count, block_);
      visit(count, digits_ + (row - first_));
    }
  }

  PartitionedRuns& split_;
  int64_t first_;
  int64_t last_;
  uint32_t* offsets_;
  Buffer kept_;
  uint16_t* digits_;
  Buffer staged_{};  // a run of a stream: written here and there in the cache, then copied past it
  std::vector<uint32_t> next_{};
  alignas(64) std::byte block_[8 * kBlockRows];
};

}  // namespace

void PartitionedRuns::fetch(int64_t partition, int64_t run, std::span<const int> read) const {
  constexpr int64_t kLine = 64, kMost = 32;
  const auto [begin, end] = piece(partition, run);
  if (begin == end) return;
  for (const int k : read) {
    if (k < 0) continue;
    const auto stream = static_cast<size_t>(k);
    const int64_t width = widths[stream];
    const std::byte* const first =
        streams[stream][static_cast<size_t>(begin / buffer_rows)].data() +
        begin % buffer_rows * width;
    const int64_t bytes = std::min((end - begin) * width, kMost * kLine);
    for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(first + at);
  }
}

int64_t num_partitions(int64_t rows) {
  constexpr int64_t kMost = 1024, kMostRows = 1 << 15, kLeastRows = 1 << 12, kEnough = 64;
  const int64_t wanted = std::max(rows / kMostRows, std::min(rows / kLeastRows, kEnough));
  return std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted))), kMost);
}

PartitionedRuns partition_runs(
    int64_t rows, int64_t partitions, const PayloadStream& keys,
    const std::vector<PayloadStream>& streams,
    const std::function<void(const uint64_t* keys, int64_t count, uint16_t* digits)>& digit) {
  PartitionedRuns split = plan_runs(rows, partitions, streams);
  if (rows == 0) return split;
  const std::vector<std::vector<std::byte*>> outs = allocate_streams(streams, split);
  parallel_for(split.num_runs(), [&](int64_t run) {
    RunPartitioner partitioner(split, run);
    partitioner.count_digits(keys, digit);
    for (size_t k = 0; k < streams.size(); ++k) partitioner.scatter_rows(streams[k], k, outs[k]);
  });
  for (const std::vector<Buffer>& stream : split.streams)
    for (const Buffer& buffer : stream) buffer.seal();
  return split;
}

}  // namespace hr
