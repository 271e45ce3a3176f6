// SPDX-License-Identifier: Apache-2.0
// Rows in order of keys: buckets between splitters, then each bucket in cache.
#include "headrace/algo/sort/sort.h"

#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/device_sort_kernels.h"
#include "headrace/algo/sort/radix_partition.h"
#include "headrace/algo/sort/sort_bucket.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/algo/sort/string_codes.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>

namespace hr {

namespace {

constexpr int64_t kMostBucketRows = int64_t{1} << 18;   // sorted at once; a quarter is aimed at
constexpr int64_t kFewBucketRows = int64_t{1} << 13;    // the same of rows that are slow to compare
constexpr int64_t kFewWords = 2;                        // of rows that are not
constexpr int64_t kLeastBucketRows = int64_t{1} << 12;  // sorted at once however small the limit
constexpr int64_t kOrderBytes = 28;                     // a row, while its bucket is sorted
constexpr int kMostLevels = 9;                          // of splitters: 512 buckets
constexpr int kLeastLevels = 2;                         // a word and its successor both fit
constexpr int64_t kSamplesABucket = 32;
constexpr int64_t kSampleRun = 16;  // neighbouring rows, which share a page when it is on the disk
constexpr int64_t kLeastSlack = int64_t{64} << 20;

/// Fixed-width values that move with their rows: of a column, or of a key alone.
struct Payload {
  Buffer in{};  // none: the row's number
  int64_t in_begin = 0;
  int64_t width = 8;
  bool wanted = false;
  Buffer out{};
};

/// Where the values of a payload lie, or go, from row 0 of some range on.
struct PayloadView {
  const Buffer* buffer;
  int64_t begin;
  std::byte* data;  // null: the row's number
};

using PayloadViews = std::vector<PayloadView>;

int64_t mix(int64_t x) {
  auto bits = static_cast<uint64_t>(x) * 0x9E3779B97F4A7C15u;
  bits ^= bits >> 32;
  bits *= 0xD6E8FEB86659FD93u;
  return static_cast<int64_t>(bits >> 1);
}

/// Splitters of the words: bucket b has the words from splitter b - 1 up to below splitter b.
class Splitters {
 public:
  /// From a sample, which is sorted. A word that the sample shows again and again gets a bucket of
  /// its own.
  Splitters(std::vector<uint64_t> sample, int levels) {
    std::sort(sample.begin(), sample.end());
    const size_t most = (size_t{1} << levels) - 1;
    const size_t wanted = std::min(most, sample.size());
    for (size_t i = 1; i <= wanted; ++i) {
      const uint64_t word = sample[i * sample.size() / (wanted + 1)];
      if (sorted_.empty() || sorted_.back() < word) {
        sorted_.push_back(word);
      } else if (sorted_.back() == word && word != std::numeric_limits<uint64_t>::max()) {
        sorted_.push_back(word + 1);
      }
    }
    while (sorted_.size() > most) sorted_.pop_back();
    levels_ = std::max(1, static_cast<int>(std::bit_width(sorted_.size())));
    sorted_.resize((size_t{1} << levels_) - 1, std::numeric_limits<uint64_t>::max());
    tree_.resize(sorted_.size() + 1);
    size_t next = 0;
    fill(1, next);
  }

  int64_t buckets() const { return static_cast<int64_t>(sorted_.size()) + 1; }

  void search(const uint64_t* words, int64_t rows, uint16_t* out) const {
    cpu::search_splitters(words, rows, tree_.data(), levels_, out);
  }

  /// All words of the bucket are the same.
  bool is_one_word(int64_t bucket) const {
    const auto b = static_cast<size_t>(bucket);
    const uint64_t top = std::numeric_limits<uint64_t>::max();
    if (b == 0) return sorted_[0] == 0 || sorted_[0] == 1;
    return b < sorted_.size() ? sorted_[b] - sorted_[b - 1] <= 1 : sorted_[b - 1] == top;
  }

 private:
  void fill(size_t at, size_t& next) {
    if (at >= tree_.size()) return;
    fill(2 * at, next);
    tree_[at] = sorted_[next++];
    fill(2 * at + 1, next);
  }

  int levels_ = 1;
  std::vector<uint64_t> sorted_{};
  std::vector<uint64_t> tree_{};  // from 1 on, breadth first
};

class Sorter {
 public:
  Sorter(const std::vector<Column>& keys, const std::vector<SortOrder>& orders)
      : rows_(keys.empty() ? 0 : keys[0].num_rows()), sort_(keys, orders) {
    for (const Column& key : keys) {
      KeyPayloads payloads;
      payloads.values = add_values(key, false);
      if (key.null_count() > 0) payloads.valid = add_validity(key, false);
      key_payloads_.push_back(payloads);
    }
  }

  /// The lane of a column's values, one for columns on the same memory.
  size_t add_values(const Column& column, bool wanted) {
    if (column.dtype().is_bool()) return add_bits(column.values_buffer(), column, wanted);
    const int64_t width = column.dtype().size_bytes();
    return add({column.values_buffer(), column.offset() * width, width, wanted}, nullptr);
  }

  size_t add_validity(const Column& column, bool wanted) {
    return add_bits(column.validity_buffer(), column, wanted);
  }

  size_t add_row_numbers() { return add({{}, 0, 8, true}, nullptr); }

  Buffer out(size_t payload) { return payloads_[payload].out; }

  /// Whether rows are in order as they stand: one pass, which ends at the first that is not.
  bool is_sorted() const {
    if (rows_ < 2) return true;
    const std::vector<KeyRows> keys = keys_at(inputs());
    // A few blocks first: most inputs show here that they are not.
    const int64_t blocks = (rows_ + kBlockRows - 1) / kBlockRows;
    for (int64_t i = 0; i < std::min<int64_t>(blocks, 8); ++i)
      if (!is_sorted_from(keys, mix(i) % blocks * kBlockRows)) return false;
    std::atomic<bool> sorted{true};
    parallel_morsels(rows_, key_accesses(), [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end && sorted; row += kBlockRows)
        if (!is_sorted_from(keys, row)) sorted = false;
    });
    return sorted;
  }

  /// Whether each row comes after the next one by its first word: then the order is the reverse.
  bool is_reversed() const {
    const std::vector<KeyRows> keys = keys_at(inputs());
    const auto falls = [&](int64_t row) {
      const int64_t end = std::min(row + kBlockRows + 1, rows_);
      std::array<uint64_t, kBlockRows + 1> words;
      sort_.words(0, keys, row, end, words.data());
      bool all = true;
      for (size_t i = 0; i + 1 < static_cast<size_t>(end - row); ++i)
        all &= words[i] > words[i + 1];
      return all;
    };
    if (!falls(0) || !falls(rows_ / 2)) return false;
    std::atomic<bool> reversed{true};
    parallel_morsels(rows_, key_accesses(), [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end && reversed; row += kBlockRows)
        if (!falls(row)) reversed = false;
    });
    return reversed;
  }

  /// Fills the outputs with the rows from the last to the first.
  void reverse() {
    for (Payload& payload : payloads_)
      payload.out = Buffer::allocate_spillable(rows_ * payload.width);
    const PayloadViews src = inputs();
    parallel_morsels(rows_, [&](Morsel morsel) {
      const int64_t begin = morsel.begin, count = morsel.end - begin;
      for (size_t i = 0; i < payloads_.size(); ++i) {
        const int64_t width = payloads_[i].width;
        const int64_t from = rows_ - begin - count;
        const Pin pin(
            {{&payloads_[i].in, src[i].begin + from * width, src[i].begin + (from + count) * width},
             {&payloads_[i].out, begin * width, (begin + count) * width, true}});
        std::byte* const out = const_cast<std::byte*>(payloads_[i].out.data()) + begin * width;
        if (src[i].data)
          cpu::reverse_values(src[i].data + from * width, count, width, out);
        else
          for (int64_t row = 0; row < count; ++row)
            reinterpret_cast<int64_t*>(out)[row] = rows_ - 1 - begin - row;
      }
    });
  }

  /// Whether one word a row says all of its keys.
  bool has_one_word() const { return sort_.is_exact() && sort_.num_words() == 1; }

  /// Calls `visit(first, words, count)` with the first words of all rows, block by block.
  template <class F>
  void visit_words(F&& visit) const {
    const std::vector<KeyRows> keys = keys_at(inputs());
    parallel_morsels(rows_, key_accesses(), [&](Morsel morsel) {
      std::array<uint64_t, kBlockRows> words;
      for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
        const int64_t end = std::min(row + kBlockRows, morsel.end);
        sort_.words(0, keys, row, end, words.data());
        visit(row, words.data(), end - row);
      }
    });
  }

  /// The words of all rows, one column a word; none where they do not say all of the keys.
  std::vector<Column> words() const {
    std::vector<Column> made;
    if (!sort_.is_exact()) return made;
    const std::vector<KeyRows> keys = keys_at(inputs());
    for (int64_t word = 0; word < sort_.num_words(); ++word) {
      Buffer out = Buffer::allocate_spillable(8 * rows_);
      auto* const values = rows_ > 0 ? out.mutable_as<uint64_t>() : nullptr;
      std::vector<BufferAccess> accesses = key_accesses();
      accesses.push_back(writes(out, 8));
      parallel_morsels(rows_, accesses, [&](Morsel morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows)
          sort_.words(word, keys, row, std::min(row + kBlockRows, morsel.end), values + row);
      });
      out.seal();
      made.push_back(Column(TypeId::kUInt64, rows_, std::move(out)));
    }
    return made;
  }

  /// Fills the lanes' outputs.
  void run() {
    int64_t bytes = 0;
    for (const Payload& payload : payloads_)
      bytes = checked_add("sort", bytes, checked_multiply("sort", rows_, payload.width));
    const PayloadViews src = inputs();
    const bool held = has_room(2 * bytes + 2 * rows_ + kLeastSlack);
    for (Payload& payload : payloads_)
      payload.out = held ? Buffer::allocate(rows_ * payload.width)
                         : Buffer::allocate_spillable(rows_ * payload.width);
    PayloadViews dst;
    for (Payload& payload : payloads_) dst.push_back({&payload.out, 0, payload.out.mutable_data()});
    sort(src, dst, rows_, 0, {false, held});
    advise(dst, EvictionHint::kByUse);
  }

 private:
  struct KeyPayloads {
    size_t values = 0;
    size_t valid = SIZE_MAX;
  };

  size_t add(Payload payload, const Buffer* bits) {
    if (const Buffer& from = bits ? *bits : payload.in) {
      const std::tuple key(from.data(), payload.in_begin, bits ? 0 : payload.width);
      const auto [known, is_new] = payload_of_.try_emplace(key, payloads_.size());
      if (!is_new) {
        payloads_[known->second].wanted |= payload.wanted;
        return known->second;
      }
    }
    if (bits) bits_of_.push_back(*bits);
    if (bits) {
      payload.in = bytes_of_bits(*bits, payload.in_begin, rows_);
      payload.in.seal();
      payload.in_begin = 0;
    }
    payloads_.push_back(std::move(payload));
    return payloads_.size() - 1;
  }

  size_t add_bits(const Buffer& bits, const Column& column, bool wanted) {
    return add({{}, column.offset(), 1, wanted}, &bits);
  }

  static bool has_room(int64_t bytes) {
    const int64_t limit = memory_limit();
    return limit == std::numeric_limits<int64_t>::max() ||
           limit - memory_statistics().used_bytes >= bytes;
  }

  PayloadViews inputs() const {
    PayloadViews places;
    for (const Payload& payload : payloads_)
      places.push_back(
          {&payload.in, payload.in_begin,
           payload.in ? const_cast<std::byte*>(payload.in.data()) + payload.in_begin : nullptr});
    return places;
  }

  PayloadViews from(const PayloadViews& places, int64_t row) const {
    PayloadViews result = places;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i].begin += row * payloads_[i].width;
      if (result[i].data) result[i].data += row * payloads_[i].width;
    }
    return result;
  }

  std::vector<KeyRows> keys_at(const PayloadViews& places) const {
    std::vector<KeyRows> keys;
    for (const KeyPayloads& payloads : key_payloads_)
      keys.push_back({places[payloads.values].data,
                      payloads.valid == SIZE_MAX
                          ? nullptr
                          : reinterpret_cast<const uint8_t*>(places[payloads.valid].data)});
    return keys;
  }

  std::vector<BufferAccess> accesses_of(const PayloadViews& places, int64_t rows) const {
    std::vector<BufferAccess> accesses;
    const auto access = [&](size_t payload) {
      const int64_t bits = 8 * payloads_[payload].width;
      accesses.push_back({places[payload].buffer, 8 * places[payload].begin, bits, bits, rows});
    };
    for (const KeyPayloads& payloads : key_payloads_) {
      access(payloads.values);
      if (payloads.valid != SIZE_MAX) access(payloads.valid);
    }
    return accesses;
  }

  std::vector<BufferAccess> key_accesses() const { return accesses_of(inputs(), rows_); }

  // Rows [row, row + kBlockRows] are in order.
  bool is_sorted_from(const std::vector<KeyRows>& keys, int64_t row) const {
    const int64_t end = std::min(row + kBlockRows + 1, rows_);
    const int64_t count = end - row;
    std::array<uint64_t, kBlockRows + 1> words;
    std::array<bool, kBlockRows + 1> less{};  // than the next one, by a word before
    for (int64_t word = 0; word < sort_.num_words(); ++word) {
      sort_.words(word, keys, row, end, words.data());
      bool ties = false;
      for (size_t i = 0; i + 1 < static_cast<size_t>(count); ++i) {
        if (less[i]) continue;
        if (words[i] > words[i + 1]) return false;
        less[i] = words[i] < words[i + 1];
        ties |= !less[i];
      }
      if (!ties) return true;
    }
    if (sort_.is_exact()) return true;
    for (int64_t i = 0; i + 1 < count; ++i)
      if (!less[static_cast<size_t>(i)] && sort_.compare(keys, row + i, row + i + 1) > 0)
        return false;
    return true;
  }

  std::vector<uint64_t> sample(const PayloadViews& src, int64_t rows, int64_t word,
                               int levels) const {
    const std::vector<KeyRows> keys = keys_at(src);
    const int64_t runs = (kSamplesABucket << levels) / kSampleRun;
    const bool on_disk = memory_limit() != std::numeric_limits<int64_t>::max();
    const int64_t run = on_disk ? kSampleRun : 1;
    const int64_t count = on_disk ? runs : runs * kSampleRun;
    std::vector<uint64_t> words(static_cast<size_t>(count * run));
    parallel_for((count + kBlockRows - 1) / kBlockRows, [&](int64_t block) {
      for (int64_t i = block * kBlockRows; i < std::min(count, (block + 1) * kBlockRows); ++i) {
        const int64_t row = mix(i) % (rows - run + 1);
        sort_.words(word, keys, row, row + run, words.data() + i * run);
      }
    });
    return words;
  }

  int64_t row_bytes() const {
    int64_t bytes = 0;
    for (const Payload& payload : payloads_) bytes += payload.width;
    return bytes;
  }

  // Enough buckets that each can be sorted in cache. Where not even the result fits in memory, only
  // enough that one chunk of each and lane takes half of it.
  int levels_for(int64_t rows, bool held) const {
    const auto aimed = static_cast<uint64_t>(std::max<int64_t>(4 * rows / most_bucket_rows(), 2));
    const int cached = std::min(static_cast<int>(std::bit_width(aimed - 1)), kMostLevels);
    const int64_t limit = memory_limit();
    if (held || rows * (row_bytes() + 2) <= limit / 4 * 3) return std::max(cached, kLeastLevels);
    int64_t chunks = 0;
    for (const Payload& payload : payloads_) chunks += chunk_bytes_of(rows_ * payload.width);
    const auto fitting = static_cast<uint64_t>(std::max<int64_t>(limit / 2 / chunks, 1));
    const int most = static_cast<int>(std::bit_width(fitting)) - 1;
    return std::max(std::min(cached, most), kLeastLevels);
  }

  /// What the worker of a bucket may pin for long, while the others take as much: the chunks that
  /// each has at hand besides, and the room to bring a morsel into order, must fit as well.
  int64_t room_bytes() const {
    const int64_t limit = memory_limit();
    int64_t at_hand = 0;
    for (const Payload& payload : payloads_)
      at_hand += 2 * chunk_bytes_of(rows_ * payload.width) + morsel_rows() * payload.width;
    const int64_t most = limit / (2 * threads());
    return std::clamp(3 * (limit / (4 * threads())) - at_hand, most / 8, most);
  }

  int64_t most_bucket_rows() const {
    // Where comparing costs more than to part the rows, few of them keep several workers busy.
    constexpr int64_t kShare = 8;
    const int64_t most = sort_.num_words() > kFewWords
                             ? std::clamp(rows_ / kShare, kFewBucketRows, kMostBucketRows)
                             : kMostBucketRows;
    return std::clamp(memory_limit() / (8 * threads()) / (kOrderBytes + 2 * row_bytes()),
                      kLeastBucketRows, most);
  }

  /// Which of the two places are in memory and stay there.
  struct Held {
    bool src;
    bool dst;
  };

  /// Rows of `src` in order to `dst`, which are the same place or apart. The rows agree in all
  /// words before `word`.
  void sort(const PayloadViews& src, const PayloadViews& dst, int64_t rows, int64_t word,
            Held held) {
    if (rows <= most_bucket_rows() || word >= sort_.num_words())
      return sort_bucket(src, dst, rows, word, held);
    const int levels = levels_for(rows, held.dst);
    const Splitters splitters(sample(src, rows, word, levels), levels);
    if (are_apart(src, dst)) {
      const RadixPartition partition = partition_by(splitters, src, rows, word);
      advise(dst, EvictionHint::kAlways);
      move(partition, src, dst, held.dst);
      return sort_buckets(partition.begins(), splitters, dst, dst, word, {held.dst, held.dst});
    }
    std::vector<Buffer> room;
    for (const Payload& payload : payloads_)
      room.push_back(held.dst ? Buffer::allocate(rows * payload.width)
                              : Buffer::allocate_temporary(rows * payload.width));
    PayloadViews between;
    for (Buffer& buffer : room) between.push_back({&buffer, 0, buffer.mutable_data()});
    // Pinned, when there is room for it: then all inside is nearly as without a limit.
    std::vector<PinnedRange> ranges;
    if (!held.dst && rows * row_bytes() <= room_bytes()) {
      add_ranges(between, rows, true, ranges);
      held.src = true;
    }
    const Pin pin(ranges);
    const RadixPartition partition = partition_by(splitters, src, rows, word);
    advise(between, EvictionHint::kAlways);
    move(partition, src, between, held.src);
    sort_buckets(partition.begins(), splitters, between, dst, word, held);
  }

  static bool are_apart(const PayloadViews& src, const PayloadViews& dst) {
    return src[0].buffer != dst[0].buffer;
  }

  static void advise(const PayloadViews& places, EvictionHint keep) {
    for (const PayloadView& place : places) place.buffer->advise(keep);
  }

  RadixPartition partition_by(const Splitters& splitters, const PayloadViews& src, int64_t rows,
                              int64_t word) const {
    const std::vector<KeyRows> keys = keys_at(src);
    return RadixPartition(
        rows, splitters.buckets(),
        [&](int64_t begin, int64_t end, uint16_t* buckets) {
          std::array<uint64_t, kBlockRows> words;
          sort_.words(word, keys, begin, end, words.data());
          splitters.search(words.data(), end - begin, buckets);
        },
        accesses_of(src, rows));
  }

  void move(const RadixPartition& partition, const PayloadViews& src, const PayloadViews& dst,
            bool held) {
    std::vector<PartitionColumn> columns;
    for (size_t i = 0; i < payloads_.size(); ++i)
      columns.push_back({src[i].data ? src[i].buffer : nullptr, src[i].begin, payloads_[i].width,
                         const_cast<Buffer*>(dst[i].buffer), dst[i].begin});
    partition.move(columns, held);
  }

  void sort_buckets(const std::vector<int64_t>& begins, const Splitters& splitters,
                    const PayloadViews& src, const PayloadViews& dst, int64_t word, Held held) {
    parallel_for(static_cast<int64_t>(begins.size()) - 1, [&](int64_t bucket) {
      const int64_t begin = begins[static_cast<size_t>(bucket)];
      const int64_t rows = begins[static_cast<size_t>(bucket) + 1] - begin;
      if (rows == 0) return;
      const PayloadViews in = from(src, begin);
      const PayloadViews out = from(dst, begin);
      if (!splitters.is_one_word(bucket)) return sort(in, out, rows, word, held);
      if (word + 1 < sort_.num_words() || !sort_.is_exact())
        return sort(in, out, rows, word + 1, held);
      if (are_apart(src, dst)) copy(in, out, rows, held);
    });
  }

  void add_ranges(const PayloadViews& places, int64_t rows, bool write,
                  std::vector<PinnedRange>& ranges) const {
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].data && places[i].buffer->residency())
        ranges.push_back({places[i].buffer, places[i].begin,
                          places[i].begin + rows * payloads_[i].width, write});
  }

  std::vector<PinnedRange> ranges_of_both(const PayloadViews& src, const PayloadViews& dst,
                                          int64_t rows, Held held) const {
    std::vector<PinnedRange> ranges;
    if (!held.src && are_apart(src, dst)) add_ranges(src, rows, false, ranges);
    if (!held.dst) add_ranges(dst, rows, true, ranges);
    return ranges;
  }

  void copy(const PayloadViews& src, const PayloadViews& dst, int64_t rows, Held held) const {
    const int64_t step = morsel_rows();
    for (int64_t begin = 0; begin < rows; begin += step) {
      const int64_t count = std::min(step, rows - begin);
      const PayloadViews in = from(src, begin);
      const PayloadViews out = from(dst, begin);
      const Pin pin(ranges_of_both(in, out, count, held));
      for (size_t i = 0; i < payloads_.size(); ++i)
        std::memcpy(out[i].data, in[i].data, static_cast<size_t>(count * payloads_[i].width));
    }
  }

  void sort_bucket(const PayloadViews& src, const PayloadViews& dst, int64_t rows, int64_t word,
                   Held held) {
    if (word >= sort_.num_words() && sort_.is_exact()) {
      if (are_apart(src, dst)) copy(src, dst, rows, held);
      return;
    }
    const Pin pin(ranges_of_both(src, dst, rows, held));
    const std::vector<KeyRows> keys = keys_at(src);
    BucketOrder order(sort_, keys, rows, word);
    if (!order.find()) {
      if (are_apart(src, dst)) copy_in_order(src, dst, rows);
      return;
    }
    for (size_t i = 0; i < payloads_.size(); ++i) {
      if (!payloads_[i].wanted) continue;
      const auto bytes = static_cast<size_t>(rows * payloads_[i].width);
      if (!src[i].data) {
        auto* const numbers = reinterpret_cast<int64_t*>(dst[i].data);
        for (int64_t row = 0; row < rows; ++row) numbers[row] = order.at()[row];
      } else if (src[i].buffer != dst[i].buffer) {
        cpu::pick_values(src[i].data, order.at(), rows, payloads_[i].width, dst[i].data);
      } else {
        cpu::pick_values(src[i].data, order.at(), rows, payloads_[i].width, order.room());
        std::memcpy(dst[i].data, order.room(), bytes);
      }
    }
  }

  void copy_in_order(const PayloadViews& src, const PayloadViews& dst, int64_t rows) const {
    for (size_t i = 0; i < payloads_.size(); ++i) {
      if (src[i].data)
        std::memcpy(dst[i].data, src[i].data, static_cast<size_t>(rows * payloads_[i].width));
      else
        std::iota(reinterpret_cast<int64_t*>(dst[i].data),
                  reinterpret_cast<int64_t*>(dst[i].data) + rows, 0);
    }
  }

  int64_t rows_;
  SortKeys sort_;
  std::vector<Payload> payloads_{};
  std::vector<Buffer> bits_of_{};  // the bitmaps that the bytes of lanes were made of
  // By address, first byte or bit, and bytes a row (of bits: 0).
  std::map<std::tuple<const std::byte*, int64_t, int64_t>, size_t> payload_of_{};
  std::vector<KeyPayloads> key_payloads_{};
};

}  // namespace

namespace {

bool is_there(const std::vector<Column>& keys) {
  return !keys.empty() && keys[0].place().is_gpu();
}

// Only the order of equal values of such a column could tell that its rows were not moved.
bool are_own_keys(const std::vector<Column>& keys, const Column& column) {
  return keys.size() == 1 && keys[0].values_buffer() == column.values_buffer() &&
         keys[0].offset() == column.offset() && keys[0].dtype() == column.dtype() &&
         column.null_count() == 0 && column.dtype().storage().is_integer() &&
         !column.dtype().is_category();
}

Tensor argsort_there(const std::vector<Column>& keys, const std::vector<SortOrder>& orders) {
  if constexpr (built_with_cuda) return cuda::argsort(with_string_ranks(keys), orders);
  check_on_host("sort", keys[0].place());
  return {};
}

}  // namespace

std::vector<Column> sort_rows(const std::vector<Column>& keys, const std::vector<SortOrder>& orders,
                              const std::vector<Column>& columns) {
  check_sort_keys(keys, orders);
  const int64_t rows = keys[0].num_rows();
  for (const Column& column : columns)
    if (column.num_rows() != rows)
      throw_error<InvalidArgumentError>("sort", "keys and columns differ in length",
                                        {{"keys", rows}, {"column", column.num_rows()}});
  if (is_there(keys)) {
    if constexpr (built_with_cuda)
      if (columns.size() == 1 && are_own_keys(keys, columns[0]))
        return {cuda::sort_integers(columns[0], orders[0])};
    if constexpr (built_with_cuda) return cuda::sort_rows(with_string_ranks(keys), orders, columns);
    check_on_host("sort", keys[0].place());
  }
  Sorter sorter(keys, orders);
  if (columns.empty() || sorter.is_sorted()) return columns;
  struct Lanes {
    size_t values;
    size_t valid;
  };
  std::vector<Lanes> payloads;
  for (const Column& column : columns)
    payloads.push_back({sorter.add_values(column, true),
                        column.null_count() > 0 ? sorter.add_validity(column, true) : SIZE_MAX});
  if (sorter.is_reversed())
    sorter.reverse();
  else
    sorter.run();
  std::vector<Column> result;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    Buffer values = sorter.out(payloads[c].values);
    if (column.dtype().is_bool()) values = bits_of_bytes(values, rows);
    Buffer valid;
    if (payloads[c].valid != SIZE_MAX) valid = bits_of_bytes(sorter.out(payloads[c].valid), rows);
    result.push_back(
        column.with_rows(rows, std::move(values), std::move(valid), column.null_count()));
  }
  return result;
}

std::vector<Column> sort_words(const std::vector<Column>& keys,
                               const std::vector<SortOrder>& orders) {
  check_sort_keys(keys, orders);
  return Sorter(keys, orders).words();
}

Tensor argsort(const std::vector<Column>& keys, const std::vector<SortOrder>& orders) {
  check_sort_keys(keys, orders);
  if (is_there(keys)) return argsort_there(keys, orders);
  Sorter sorter(keys, orders);
  const int64_t rows = keys[0].num_rows();
  if (!sorter.is_sorted()) {
    const size_t payload = sorter.add_row_numbers();
    if (sorter.is_reversed())
      sorter.reverse();
    else
      sorter.run();
    return Tensor(TypeId::kInt64, {rows}, sorter.out(payload));
  }
  Buffer numbers = Buffer::allocate_spillable(rows * static_cast<int64_t>(sizeof(int64_t)));
  if (rows > 0) {
    int64_t* const out = numbers.mutable_as<int64_t>();
    parallel_morsels(rows, {writes(numbers, 8)}, [&](Morsel morsel) {
      std::iota(out + morsel.begin, out + morsel.end, morsel.begin);
    });
  }
  return Tensor(TypeId::kInt64, {rows}, std::move(numbers));
}

namespace {

constexpr int64_t kMostFirst = int64_t{1} << 16;  // more are cut from the whole order

Tensor cut(const Tensor& order, int64_t count) {
  return Tensor(order.dtype(), {count}, order.strides(), order.buffer(), order.byte_offset());
}

Tensor numbers_of(const std::vector<int64_t>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  Buffer buffer = Buffer::allocate(count * static_cast<int64_t>(sizeof(int64_t)));
  std::copy(numbers.begin(), numbers.end(), buffer.mutable_as<int64_t>());
  return Tensor(TypeId::kInt64, {count}, std::move(buffer));
}

/// The rows that may be among the `count` first by their first words, kept below a bound that
/// falls.
class FirstCandidates {
 public:
  /// Rows of equal words come in their order if `exact`; else more than words decides.
  FirstCandidates(int64_t count, int64_t most, bool exact)
      : count_(static_cast<size_t>(count)), most_(static_cast<size_t>(most)), exact_(exact) {}

  /// Keeps what may be wanted of a block of words, which begins at row `first`.
  void add(int64_t first, const uint64_t* words, int64_t size) {
    if (too_many_ || cpu::word_range(words, size).least > least_bound_) return;
    const std::lock_guard lock(mutex_);
    for (int64_t i = 0; i < size; ++i)
      if (const Candidate each{words[i], first + i}; each <= bound_) kept_.push_back(each);
    if (kept_.size() >= room_) cut();
  }

  /// Their numbers in order, or none when more tie than are worth keeping.
  std::optional<std::vector<int64_t>> rows() {
    cut();
    if (too_many_) return std::nullopt;
    std::vector<int64_t> rows;
    for (const Candidate& each : kept_) rows.push_back(each.second);
    std::sort(rows.begin(), rows.end());
    return rows;
  }

 private:
  using Candidate = std::pair<uint64_t, int64_t>;  // word and row

  void cut() {
    if (kept_.size() <= count_) return;
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(kept_.begin(), last, kept_.end());
    bound_ = {last->first, exact_ ? last->second : std::numeric_limits<int64_t>::max()};
    least_bound_ = bound_.first;
    std::erase_if(kept_, [&](const Candidate& each) { return each > bound_; });
    too_many_ = kept_.size() > most_;
    room_ = 2 * kept_.size() + kBlockRows;
  }

  size_t count_;
  size_t most_;
  bool exact_;
  std::mutex mutex_{};
  std::vector<Candidate> kept_{};
  size_t room_ = 2 * count_ + kBlockRows;
  Candidate bound_{std::numeric_limits<uint64_t>::max(), std::numeric_limits<int64_t>::max()};
  std::atomic<uint64_t> least_bound_{bound_.first};  // its word, read outside the lock
  std::atomic<bool> too_many_{false};
};

// The first of these rows, which hold all that may be first.
Tensor first_among(const std::vector<Column>& keys, const std::vector<SortOrder>& orders,
                   const Tensor& numbers, int64_t count) {
  std::vector<Column> few;
  for (const Column& key : keys) few.push_back(gather(key, numbers));
  return gather(numbers, cut(argsort(few, orders), count));
}

Tensor first_there(const std::vector<Column>& given, const std::vector<SortOrder>& orders,
                   int64_t count) {
  const std::vector<Column> keys = with_string_ranks(given);
  if constexpr (built_with_cuda)
    if (count > 0 && count <= kMostFirst && count <= keys[0].num_rows() / 8)
      if (const auto candidates = cuda::first_candidates(keys, orders, count))
        return first_among(keys, orders, *candidates, count);
  return cut(argsort_there(keys, orders), count);
}

}  // namespace

Tensor first_rows(const std::vector<Column>& keys, const std::vector<SortOrder>& orders,
                  int64_t count) {
  check_sort_keys(keys, orders);
  const int64_t rows = keys[0].num_rows();
  count = std::clamp<int64_t>(count, 0, rows);
  if (is_there(keys)) return first_there(keys, orders, count);
  Sorter sorter(keys, orders);
  if (count == 0) return numbers_of({});
  if (count <= kMostFirst && count <= rows / 8) {
    FirstCandidates first(count, std::max(4 * count, rows / 8), sorter.has_one_word());
    sorter.visit_words(
        [&](int64_t begin, const uint64_t* words, int64_t size) { first.add(begin, words, size); });
    if (const auto candidates = first.rows()) {
      const Tensor numbers = numbers_of(*candidates);
      return first_among(keys, orders, numbers, count);
    }
  }
  return cut(argsort(keys, orders), count);
}

}  // namespace hr
