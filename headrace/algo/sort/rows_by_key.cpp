// SPDX-License-Identifier: Apache-2.0
// Rows in the order of small keys: a radix partition, then a counting sort of each bucket.
#include "headrace/algo/sort/rows_by_key.h"

#include "headrace/algo/sort/radix_partition.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <utility>

namespace hr {

namespace {

// Rows of a bucket, where keys leave the choice: what is written at once stays in the L2 cache.
constexpr int64_t kBucketRows = int64_t{1} << 15;

/// The bits of keys that buckets leave to the second pass; 0 where the first does it all.
int low_bits(int64_t rows, int64_t num_keys) {
  const int64_t wanted = std::clamp(rows / kBucketRows, int64_t{1}, kMostBuckets);
  if (num_keys <= std::min(4 * wanted, kMostBuckets)) return 0;
  int bits = 0;
  while (((num_keys - 1) >> bits) + 1 > wanted) ++bits;
  return bits;
}

struct Bucket {
  int64_t begin;  // rows
  int64_t count;
  int64_t first_key;
  int64_t keys;
};

// The offsets of the bucket's keys move on while rows are put in place: then each is where the next
// key begins, so they are shifted by one.
template <class Key>
struct CountingSort {
  const Key* keys;
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

  void put(const Bucket& bucket, const KeyedColumn& column, std::byte* to) const {
    const std::byte* from = column.from ? column.from->data() + column.begin : nullptr;
    if (column.width == 4)
      put(bucket, reinterpret_cast<const uint32_t*>(from), reinterpret_cast<uint32_t*>(to));
    else
      put(bucket, reinterpret_cast<const uint64_t*>(from), reinterpret_cast<uint64_t*>(to));
  }
};

/// Columns moved into buckets of keys that agree but for the lowest `bits`.
template <class Key>
RadixPartition partition_by(const KeyedColumn& keys, int64_t rows, int64_t num_keys, int bits) {
  const auto* const key = reinterpret_cast<const Key*>(keys.from->data() + keys.begin);
  return RadixPartition(rows, ((num_keys - 1) >> bits) + 1,
                        [=](int64_t begin, int64_t end, uint16_t* out) {
                          for (int64_t row = begin; row < end; ++row)
                            out[row - begin] = static_cast<uint16_t>(key[row] >> bits);
                        },
                        {{keys.from, 8 * keys.begin, 8 * keys.width, 8 * keys.width, rows}});
}

template <class Key>
void sort_buckets(const KeyedColumn& keys, int bits, const std::vector<int64_t>& begins,
                  std::span<const KeyedColumn> columns, int64_t num_keys, RowsByKey& made) {
  std::vector<std::byte*> outs;
  for (Buffer& column : made.columns) outs.push_back(column.mutable_data());
  const CountingSort<Key> sort{reinterpret_cast<const Key*>(keys.from->data() + keys.begin),
                               made.offsets.mutable_as<int64_t>()};
  parallel_for(static_cast<int64_t>(begins.size()) - 1, [&](int64_t b) {
    const auto at = static_cast<size_t>(b);
    const int64_t first_key = b << bits;
    const Bucket bucket{begins[at], begins[at + 1] - begins[at], first_key,
                        std::min(num_keys, (b + 1) << bits) - first_key};
    const auto range = [&](const Buffer& buffer, int64_t from, int64_t width, bool write) {
      const int64_t first = from + bucket.begin * width;
      return PinnedRange{&buffer, first, first + bucket.count * width, write};
    };
    std::vector<PinnedRange> held{
        {&made.offsets, 8 * first_key, 8 * (first_key + bucket.keys), true}};
    if (bucket.count > 0) {
      held.push_back(range(*keys.from, keys.begin, keys.width, false));
      for (size_t i = 0; i < columns.size(); ++i) {
        const KeyedColumn& column = columns[i];
        if (column.from) held.push_back(range(*column.from, column.begin, column.width, false));
        held.push_back(range(made.columns[i], 0, column.width, true));
      }
    }
    const Pin pin(held);
    sort.count(bucket);
    for (size_t i = 0; i < columns.size() && bucket.count > 0; ++i)
      sort.put(bucket, columns[i], outs[i]);
  });
}

template <class Key>
void sort_rows(const KeyedColumn& keys, int64_t rows, int64_t num_keys,
               std::span<const KeyedColumn> columns, RowsByKey& made) {
  const int bits = low_bits(rows, num_keys);
  if (((num_keys - 1) >> bits) == 0)
    return sort_buckets<Key>(keys, std::max(bits, 1), {0, rows}, columns, num_keys, made);
  const RadixPartition partition = partition_by<Key>(keys, rows, num_keys, bits);
  std::vector<PartitionColumn> moves;
  if (bits == 0) {
    for (size_t i = 0; i < columns.size(); ++i)
      moves.push_back({columns[i].from, columns[i].begin, columns[i].width, &made.columns[i], 0});
    partition.move(moves);
    const Pin pin({{&made.offsets, 0, 8 * num_keys, true}});
    std::copy_n(partition.begins().begin(), num_keys, made.offsets.mutable_as<int64_t>());
    return;
  }
  std::vector<KeyedColumn> moved(columns.begin(), columns.end());
  moved.push_back(keys);
  std::vector<Buffer> room;
  for (const KeyedColumn& column : moved)
    room.push_back(Buffer::allocate_temporary(rows * column.width));
  for (size_t i = 0; i < moved.size(); ++i) {
    moves.push_back({moved[i].from, moved[i].begin, moved[i].width, &room[i], 0});
    moved[i] = {&room[i], moved[i].width};
  }
  partition.move(moves);
  sort_buckets<Key>(moved.back(), bits, partition.begins(), {moved.data(), columns.size()},
                    num_keys, made);
}

}  // namespace

RowsByKey rows_by_key(const KeyedColumn& keys, int64_t rows, int64_t num_keys,
                      std::span<const KeyedColumn> columns) {
  RowsByKey made;
  made.offsets = Buffer::allocate_spillable(
      checked_multiply("rows_by_key", checked_add("rows_by_key", num_keys, 1), 8));
  for (const KeyedColumn& column : columns)
    made.columns.push_back(
        Buffer::allocate_spillable(checked_multiply("rows_by_key", column.width, rows)));
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  if (rows > 0 && keys.width == 4) {
    sort_rows<uint32_t>(keys, rows, num_keys, columns, made);
  } else if (rows > 0) {
    sort_rows<uint64_t>(keys, rows, num_keys, columns, made);
  } else {
    const Pin pin({{&made.offsets, 0, 8 * num_keys, true}});
    std::fill_n(offsets, num_keys, 0);
  }
  {
    const Pin pin({{&made.offsets, 8 * num_keys, 8 * num_keys + 8, true}});
    offsets[num_keys] = rows;
  }
  made.offsets.seal();
  for (const Buffer& column : made.columns) column.seal();
  return made;
}

}  // namespace hr
