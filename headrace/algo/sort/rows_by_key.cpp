// SPDX-License-Identifier: Apache-2.0
// Rows in the order of small keys: a radix partition, then a counting sort of each bucket.
#include "headrace/algo/sort/rows_by_key.h"

#include "headrace/algo/sort/radix_partition.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr {

namespace {

// Keys of a bucket: their offsets, and what is written at once, stay in the L2 cache.
constexpr int kBucketBits = 12;
constexpr int64_t kFewRows = int64_t{1} << 14;  // that are sorted in one bucket

struct Bucket {
  int64_t begin;  // rows
  int64_t count;
  int64_t first_key;
  int64_t keys;
};

// The offsets of the bucket's keys move on while rows are put in place: then each is where the next
// key begins, so they are shifted by one.
struct CountingSort {
  const uint32_t* keys;
  int64_t* offsets;

  void count(const Bucket& bucket) const {
    int64_t* const at = offsets + bucket.first_key;
    std::fill(at, at + bucket.keys, 0);
    for (int64_t i = bucket.begin; i < bucket.begin + bucket.count; ++i) ++offsets[keys[i]];
    int64_t place = bucket.begin;
    for (int64_t k = 0; k < bucket.keys; ++k) place += std::exchange(at[k], place);
  }

  template <class T>
  void put(const Bucket& bucket, const T* from, T* to) const {
    for (int64_t i = bucket.begin; i < bucket.begin + bucket.count; ++i)
      to[offsets[keys[i]]++] = from ? from[i] : static_cast<T>(i);
    int64_t* const at = offsets + bucket.first_key;
    for (int64_t k = bucket.keys - 1; k > 0; --k) at[k] = at[k - 1];
    if (bucket.keys > 0) at[0] = bucket.begin;
  }

  void put(const Bucket& bucket, const Buffer* from, int64_t width, std::byte* to) const {
    if (width == 4)
      put(bucket, from ? from->as<uint32_t>() : nullptr, reinterpret_cast<uint32_t*>(to));
    else
      put(bucket, from ? from->as<uint64_t>() : nullptr, reinterpret_cast<uint64_t*>(to));
  }
};

}  // namespace

RowsByKey rows_by_key(const Buffer& keys, int64_t rows, int64_t num_keys,
                      std::span<const KeyedColumn> columns) {
  RowsByKey made;
  made.offsets = Buffer::allocate_spillable(8 * (num_keys + 1));
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  std::vector<std::byte*> outs;
  for (const KeyedColumn& column : columns) {
    made.columns.push_back(Buffer::allocate_spillable(column.width * rows));
    outs.push_back(rows > 0 ? made.columns.back().mutable_data() : nullptr);
  }
  // By buckets, where the keys are more than one bucket's.
  int shift = kBucketBits;
  while (num_keys >> shift >= kMostBuckets) ++shift;
  if (rows <= kFewRows) shift = 32;
  const int64_t buckets = ((std::max<int64_t>(num_keys, 1) - 1) >> shift) + 1;
  Buffer moved_keys = keys;
  std::vector<Buffer> moved(columns.size());
  std::vector<int64_t> begins{0, rows};
  if (buckets > 1) {
    const auto* const key = keys.as<uint32_t>();
    const RadixPartition partition(rows, buckets,
                                   [&](int64_t begin, int64_t end, uint16_t* out) {
                                     for (int64_t row = begin; row < end; ++row)
                                       out[row - begin] = static_cast<uint16_t>(key[row] >> shift);
                                   },
                                   {{&keys, 0, 32, 32, rows}});
    moved_keys = partition.moved(keys, 0, 4);
    for (size_t i = 0; i < columns.size(); ++i)
      moved[i] = columns[i].from ? partition.moved(*columns[i].from, 0, columns[i].width)
                                 : partition.moved_rows(columns[i].width);
    begins = partition.begins();
  } else {
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].from) moved[i] = *columns[i].from;
  }
  const CountingSort sort{rows > 0 ? moved_keys.as<uint32_t>() : nullptr, offsets};
  parallel_for(buckets, [&](int64_t b) {
    const auto at = static_cast<size_t>(b);
    const int64_t first_key = b << shift;
    const Bucket bucket{begins[at], begins[at + 1] - begins[at], first_key,
                        std::min(num_keys, (b + 1) << shift) - first_key};
    const auto range = [&](const Buffer& buffer, int64_t width, bool write) {
      return PinnedRange{&buffer, bucket.begin * width, (bucket.begin + bucket.count) * width,
                         write};
    };
    std::vector<PinnedRange> held{
        {&made.offsets, 8 * first_key, 8 * (first_key + bucket.keys), true}};
    if (bucket.count > 0) {
      held.push_back(range(moved_keys, 4, false));
      for (size_t i = 0; i < columns.size(); ++i) {
        if (moved[i]) held.push_back(range(moved[i], columns[i].width, false));
        held.push_back(range(made.columns[i], columns[i].width, true));
      }
    }
    const Pin pin(held);
    sort.count(bucket);
    for (size_t i = 0; i < columns.size() && bucket.count > 0; ++i)
      sort.put(bucket, moved[i] ? &moved[i] : nullptr, columns[i].width, outs[i]);
  });
  {
    const Pin pin({{&made.offsets, 8 * num_keys, 8 * num_keys + 8, true}});
    offsets[num_keys] = rows;
  }
  made.offsets.seal();
  for (const Buffer& column : made.columns) column.seal();
  return made;
}

}  // namespace hr
