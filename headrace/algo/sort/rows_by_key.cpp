// SPDX-License-Identifier: Apache-2.0
// Rows in the order of small keys: a radix partition, then a counting sort of each bucket.
#include "headrace/algo/sort/rows_by_key.h"

#include "headrace/algo/sort/radix_partition.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace hr {

namespace {

// Rows of a bucket, where keys leave the choice: what is written at once stays in the L2 cache.
constexpr int64_t kBucketRows = int64_t{1} << 15;
constexpr size_t kMostColumns = 2;

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

/// A column of `Value` and where it goes.
template <class Value>
struct Move {
  const Value* from;
  Value* to;

  Move(const KeyedColumn& column, std::byte* out)
      : from(column.from ? reinterpret_cast<const Value*>(column.from->data() + column.begin)
                         : nullptr),
        to(reinterpret_cast<Value*>(out)) {}

  void put(int64_t row, int64_t place) const {
    to[place] = from ? from[row] : static_cast<Value>(row);
  }
};

using Moves = std::span<const std::pair<KeyedColumn, std::byte*>>;

/// Rows [begin, end) to the `next` places of their keys, which move on. `typed` are the first of
/// the columns.
template <class Key, class Place, class... Value>
void put_rows(const Key* keys, int64_t begin, int64_t end, Place* next, Moves moves,
              Move<Value>... typed) {
  constexpr size_t kTyped = sizeof...(Value);
  if constexpr (kTyped < kMostColumns) {
    if (kTyped < moves.size()) {
      const auto& [column, out] = moves[kTyped];
      if (column.width == 4)
        return put_rows(keys, begin, end, next, moves, typed..., Move<uint32_t>(column, out));
      return put_rows(keys, begin, end, next, moves, typed..., Move<uint64_t>(column, out));
    }
  }
  for (int64_t row = begin; row < end; ++row) {
    [[maybe_unused]] const auto place = static_cast<int64_t>(next[keys[row]]++);
    (typed.put(row, place), ...);
  }
}

void make_room(std::span<const KeyedColumn> columns, int64_t rows, RowsByKey& made) {
  for (const KeyedColumn& column : columns)
    made.columns.push_back(
        Buffer::allocate_spillable(checked_multiply("rows_by_key", column.width, rows)));
}

std::vector<std::pair<KeyedColumn, std::byte*>> moves_of(std::span<const KeyedColumn> columns,
                                                         RowsByKey& made) {
  std::vector<std::pair<KeyedColumn, std::byte*>> moves;
  for (size_t i = 0; i < columns.size(); ++i)
    moves.emplace_back(columns[i], made.columns[i].mutable_data());
  return moves;
}

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

  void put(const Bucket& bucket, Moves moves) const {
    put_rows(keys, bucket.begin, bucket.begin + bucket.count, offsets, moves);
    int64_t* const at = offsets + bucket.first_key;
    for (int64_t k = bucket.keys - 1; k > 0; --k) at[k] = at[k - 1];
    if (bucket.keys > 0) at[0] = bucket.begin;
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
  const auto moves = moves_of(columns, made);
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
    if (bucket.count > 0) sort.put(bucket, moves);
  });
}

/// Where the fields of a word are: what buckets leave of the key above the values of the columns.
struct WordFields {
  int low_bits = 0;                      // of the key
  std::array<int, kMostColumns> bits{};  // of values, 0 behind the last column

  int shift() const { return bits[0] + bits[1]; }

  int all() const { return low_bits + shift(); }
};

/// None where a column has any values, or they do not fit into a word.
std::optional<WordFields> fields_of(std::span<const KeyedColumn> columns, int64_t rows,
                                    int low_bits) {
  WordFields fields{low_bits};
  if (columns.empty() || rows > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t bound = columns[i].from ? columns[i].bound : rows;
    if (columns[i].width != 4 || bound <= 0) return std::nullopt;
    fields.bits[i] = std::bit_width(static_cast<uint64_t>(bound - 1));
  }
  if (fields.all() > 64) return std::nullopt;
  return fields;
}

/// Words [begin, end), of one bucket, to the places of their keys, which `offsets` are to say.
template <class Word>
void put_words(const Word* from, int64_t begin, int64_t end, const WordFields& fields,
               int64_t* offsets, int64_t num_keys, std::array<uint32_t*, kMostColumns> out) {
  const int shift = fields.shift();
  std::vector<uint32_t> next(static_cast<size_t>(num_keys));  // where rows of each key go
  for (int64_t i = begin; i < end; ++i) ++next[static_cast<size_t>(from[i] >> shift)];
  uint32_t place = 0;
  for (int64_t k = 0; k < num_keys; ++k) {
    offsets[k] = begin + place;
    place += std::exchange(next[static_cast<size_t>(k)], place);
  }
  const auto put = [&](auto&& write) {
    for (int64_t i = begin; i < end; ++i)
      write(begin + next[static_cast<size_t>(from[i] >> shift)]++, from[i]);
  };
  const auto low = [](Word all, int count) {
    return static_cast<uint32_t>(all & ((Word{1} << count) - 1));
  };
  if (!out[1]) return put([&](int64_t at, Word all) { out[0][at] = low(all, fields.bits[0]); });
  put([&](int64_t at, Word all) {
    out[0][at] = low(all >> fields.bits[1], fields.bits[0]);
    out[1][at] = low(all, fields.bits[1]);
  });
}

/// As sort_rows with buckets; key and values of a row are one word.
template <class Word, class Key>
void sort_words(const KeyedColumn& keys, int64_t rows, int64_t num_keys,
                std::span<const KeyedColumn> columns, const WordFields& fields,
                const std::function<void()>& were_read, RowsByKey& made) {
  constexpr int64_t kBits = 8 * sizeof(Word);
  const int bits = fields.low_bits;
  const auto* const key = reinterpret_cast<const Key*>(keys.from->data() + keys.begin);
  std::array<const uint32_t*, kMostColumns> values{};
  std::vector<BufferAccess> accesses{
      {keys.from, 8 * keys.begin, 8 * keys.width, 8 * keys.width, rows}};
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].from) continue;
    values[i] = reinterpret_cast<const uint32_t*>(columns[i].from->data() + columns[i].begin);
    accesses.push_back({columns[i].from, 8 * columns[i].begin, 32, 32, rows});
  }
  Buffer words = Buffer::allocate_temporary(rows * static_cast<int64_t>(sizeof(Word)));
  auto* const word = words.mutable_as<Word>();
  accesses.push_back({&words, 0, kBits, kBits, rows, 0, 0, true});
  const auto value = [&](size_t column, int64_t row) {
    return static_cast<Word>(values[column] ? values[column][row] : static_cast<uint32_t>(row));
  };
  const auto mask = static_cast<Word>((Word{1} << bits) - 1);
  const RadixPartition partition(
      rows, ((num_keys - 1) >> bits) + 1,
      [&](int64_t begin, int64_t end, uint16_t* out) {
        for (int64_t row = begin; row < end; ++row) {
          out[row - begin] = static_cast<uint16_t>(key[row] >> bits);
          word[row] = static_cast<Word>((static_cast<Word>(key[row]) & mask) << fields.shift()) |
                      static_cast<Word>(value(0, row) << fields.bits[1]);
        }
        if (columns.size() == 2)
          for (int64_t row = begin; row < end; ++row) word[row] |= value(1, row);
      },
      accesses);
  Buffer sorted = Buffer::allocate_temporary(words.size_bytes());
  partition.move(std::array{PartitionColumn{&words, 0, sizeof(Word), &sorted, 0}});
  words = {};
  if (were_read) were_read();
  make_room(columns, rows, made);
  const auto* const from = sorted.as<Word>();
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  std::array<uint32_t*, kMostColumns> out{};
  for (size_t i = 0; i < columns.size(); ++i) out[i] = made.columns[i].mutable_as<uint32_t>();
  parallel_for(partition.num_buckets(), [&](int64_t bucket) {
    const int64_t begin = partition.begins()[static_cast<size_t>(bucket)];
    const int64_t end = begin + partition.size(bucket);
    const int64_t first_key = bucket << bits;
    const int64_t keys_here = std::min(num_keys, (bucket + 1) << bits) - first_key;
    std::vector<PinnedRange> held{
        {&made.offsets, 8 * first_key, 8 * (first_key + keys_here), true}};
    if (begin < end) {
      held.push_back({&sorted, static_cast<int64_t>(sizeof(Word)) * begin,
                      static_cast<int64_t>(sizeof(Word)) * end});
      for (const Buffer& column : made.columns) held.push_back({&column, 4 * begin, 4 * end, true});
    }
    const Pin pin(held);
    put_words(from, begin, end, fields, offsets + first_key, keys_here, out);
  });
}

/// Keys that go along with the rows, as those of banded matrices and of graphs numbered by place:
/// each chunk of rows counts its own span of keys alone, and its rows go to their places at once.
template <class Key>
class NearKeys {
 public:
  NearKeys(const KeyedColumn& keys, int64_t rows, int64_t num_keys)
      : column_(keys),
        key_(reinterpret_cast<const Key*>(keys.from->data() + keys.begin)),
        rows_(rows),
        num_keys_(num_keys),
        chunks_(static_cast<size_t>(divide_up(rows, kChunk))) {}

  /// Writes the offsets but the last; false, and nothing is done, where keys are not near.
  bool count(RowsByKey& made) {
    if (rows_ > std::numeric_limits<uint32_t>::max() || !find_spans()) return false;
    counts_ = Buffer::allocate(4 * chunks_.back().counts + 4 * chunks_.back().span);
    auto* const counts = counts_.mutable_as<uint32_t>();
    for_chunks([&](Chunk& chunk, int64_t begin, int64_t end) {
      chunk.next = counts + chunk.counts;
      std::fill_n(chunk.next, chunk.span, 0);
      for (int64_t i = begin; i < end; ++i) ++chunk.next[key_[i] - chunk.first];
    });
    const std::vector<int64_t> begins = block_begins();
    auto* const offsets = made.offsets.mutable_as<int64_t>();
    parallel_for(static_cast<int64_t>(begins.size()) - 1, [&](int64_t block) {
      const Pin pin({{&made.offsets, 8 * block * kBlock,
                      8 * std::min(num_keys_, (block + 1) * kBlock), true}});
      place_keys(block, begins[static_cast<size_t>(block)], offsets);
    });
    return find_places(made.offsets);
  }

  void move(std::span<const KeyedColumn> columns, RowsByKey& made) {
    const auto moves = moves_of(columns, made);
    for_chunks([&](Chunk& chunk, int64_t begin, int64_t end) {
      std::vector<PinnedRange> held;
      for (size_t i = 0; i < columns.size(); ++i) {
        const KeyedColumn& column = columns[i];
        const int64_t width = column.width, at = column.begin;
        if (column.from) held.push_back({column.from, at + begin * width, at + end * width});
        held.push_back(
            {&made.columns[i], chunk.first_place * width, chunk.last_place * width, true});
      }
      const Pin pin(held);
      put_rows(key_, begin, end, chunk.next - chunk.first, moves);
    });
  }

 private:
  static constexpr int64_t kChunk = int64_t{1} << 16;  // rows, and the most keys of their span
  static constexpr int64_t kBlock = int64_t{1} << 14;  // keys

  struct Chunk {
    int64_t first = 0;  // key
    int64_t span = 0;
    int64_t counts = 0;  // where those of the span begin
    uint32_t* next = nullptr;
    int64_t first_place = 0;  // of all rows of these keys
    int64_t last_place = 0;
  };

  template <class F>
  void for_chunks(F&& body) {
    parallel_for(static_cast<int64_t>(chunks_.size()), [&](int64_t c) {
      const Morsel rows = morsel_at(c, rows_, kChunk);
      const int64_t begin = column_.begin + rows.begin * column_.width;
      const Pin pin({{column_.from, begin, begin + (rows.end - rows.begin) * column_.width}});
      body(chunks_[static_cast<size_t>(c)], rows.begin, rows.end);
    });
  }

  bool find_spans() {
    std::atomic<bool> near = true;
    for_chunks([&](Chunk& chunk, int64_t begin, int64_t end) {
      if (!near.load(std::memory_order_relaxed)) return;
      Key least = key_[begin], most = least;
      for (int64_t i = begin; i < end; ++i) {
        least = std::min(least, key_[i]);
        most = std::max(most, key_[i]);
      }
      chunk.first = static_cast<int64_t>(least);
      chunk.span = static_cast<int64_t>(most - least) + 1;
      if (chunk.span > kChunk) near = false;
    });
    int64_t all = 0;
    for (Chunk& chunk : chunks_) {
      chunk.counts = all;
      all += chunk.span;
    }
    return near && all <= 2 * num_keys_ + kChunk;
  }

  /// Calls `visit(first, last, counts from the first on)` for the keys of a block in each chunk.
  template <class F>
  void visit_block(int64_t block, F&& visit) {
    const int64_t begin = block * kBlock, end = std::min(num_keys_, begin + kBlock);
    for (Chunk& chunk : chunks_) {
      const int64_t first = std::max(begin, chunk.first);
      const int64_t last = std::min(end, chunk.first + chunk.span);
      if (first < last) visit(first, last, chunk.next + (first - chunk.first));
    }
  }

  /// Where the rows of each block of keys begin.
  std::vector<int64_t> block_begins() {
    std::vector<int64_t> begins(static_cast<size_t>(divide_up(num_keys_, kBlock)) + 1, 0);
    parallel_for(static_cast<int64_t>(begins.size()) - 1, [&](int64_t block) {
      int64_t rows = 0;
      visit_block(block, [&](int64_t first, int64_t last, const uint32_t* counts) {
        rows = std::accumulate(counts, counts + (last - first), rows);
      });
      begins[static_cast<size_t>(block) + 1] = rows;
    });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    return begins;
  }

  /// Counts become the places of the chunks' first rows of each key.
  void place_keys(int64_t block, int64_t place, int64_t* offsets) {
    const int64_t begin = block * kBlock, end = std::min(num_keys_, begin + kBlock);
    std::fill(offsets + begin, offsets + end, 0);
    visit_block(block, [&](int64_t first, int64_t last, const uint32_t* counts) {
      for (int64_t k = first; k < last; ++k) offsets[k] += counts[k - first];
    });
    for (int64_t k = begin; k < end; ++k) place += std::exchange(offsets[k], place);
    std::vector<uint32_t> next(offsets + begin, offsets + end);
    visit_block(block, [&](int64_t first, int64_t last, uint32_t* counts) {
      uint32_t* const at = next.data() + (first - begin);
      for (int64_t k = 0; k < last - first; ++k) at[k] += std::exchange(counts[k], at[k]);
    });
  }

  /// What the chunks write; false where one would write too much: a hub may have rows of all.
  bool find_places(const Buffer& buffer) {
    const auto* const offsets = buffer.as<int64_t>();
    for (Chunk& chunk : chunks_) {
      const int64_t last = chunk.first + chunk.span;
      const Pin pin({{&buffer, 8 * chunk.first, 8 * chunk.first + 8},
                     {&buffer, 8 * last - 8, 8 * std::min(num_keys_, last + 1)}});
      chunk.first_place = offsets[chunk.first];
      chunk.last_place = last == num_keys_ ? rows_ : offsets[last];
      if (chunk.last_place - chunk.first_place > 4 * kChunk) return false;
    }
    return true;
  }

  KeyedColumn column_;
  const Key* key_;
  int64_t rows_;
  int64_t num_keys_;
  std::vector<Chunk> chunks_;
  Buffer counts_{};
};

template <class Key>
void sort_rows(const KeyedColumn& keys, int64_t rows, int64_t num_keys,
               std::span<const KeyedColumn> columns, const std::function<void()>& were_read,
               RowsByKey& made) {
  const int bits = low_bits(rows, num_keys);
  if (bits > 0) {
    NearKeys<Key> near(keys, rows, num_keys);
    if (near.count(made)) {
      make_room(columns, rows, made);
      return near.move(columns, made);
    }
  }
  if (((num_keys - 1) >> bits) == 0) {
    make_room(columns, rows, made);
    return sort_buckets<Key>(keys, std::max(bits, 1), {0, rows}, columns, num_keys, made);
  }
  const auto fields = bits > 0 ? fields_of(columns, rows, bits) : std::nullopt;
  if (fields && fields->all() <= 32)
    return sort_words<uint32_t, Key>(keys, rows, num_keys, columns, *fields, were_read, made);
  if (fields)
    return sort_words<uint64_t, Key>(keys, rows, num_keys, columns, *fields, were_read, made);
  const RadixPartition partition = partition_by<Key>(keys, rows, num_keys, bits);
  std::vector<PartitionColumn> moves;
  if (bits == 0) {
    make_room(columns, rows, made);
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
  if (were_read) were_read();
  make_room(columns, rows, made);
  sort_buckets<Key>(moved.back(), bits, partition.begins(), {moved.data(), columns.size()},
                    num_keys, made);
}

}  // namespace

RowsByKey rows_by_key(const KeyedColumn& keys, int64_t rows, int64_t num_keys,
                      std::span<const KeyedColumn> columns,
                      const std::function<void()>& were_read) {
  RowsByKey made;
  made.offsets = Buffer::allocate_spillable(
      checked_multiply("rows_by_key", checked_add("rows_by_key", num_keys, 1), 8));
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  if (rows > 0 && keys.width == 4) {
    sort_rows<uint32_t>(keys, rows, num_keys, columns, were_read, made);
  } else if (rows > 0) {
    sort_rows<uint64_t>(keys, rows, num_keys, columns, were_read, made);
  } else {
    make_room(columns, rows, made);
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
