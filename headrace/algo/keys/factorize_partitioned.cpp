// SPDX-License-Identifier: Apache-2.0
// Numbers in the order of the keys: by one table, or in partitions.
#include "headrace/algo/keys/factorize_partitioned.h"

#include "headrace/algo/keys/partition_runs.h"
#include "headrace/algo/keys/radix_order.h"
#include "headrace/algo/keys/range_partitioner.h"
#include "headrace/algo/sort/sort_key.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/memory/budget/budget.h"

#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <string>

namespace hr {

namespace {

PayloadStream row_numbers() {
  return {4,
          [](int64_t row, int64_t count, void* out) {
            auto* rows = static_cast<uint32_t*>(out);
            std::iota(rows, rows + count, static_cast<uint32_t>(row));
          },
          {}};
}

// The widths of streams.
constexpr int64_t kKeyBytes = 8, kNumberBytes = 4;

// Parts that are numbered one by one, each from 0; then each row gets the number of its key.
class PartitionNumbers {
 public:
  PartitionNumbers(PartitionedRuns split, size_t row_stream)
      : split_(std::move(split)),
        row_stream_(row_stream),
        numbers_(split_.streams.size()),
        counts_(static_cast<size_t>(split_.partitions)) {
    std::vector<Buffer>& buffers = split_.streams.emplace_back();
    for (int64_t row = 0; row < split_.rows; row += split_.buffer_rows) {
      const int64_t count = std::min(split_.buffer_rows, split_.rows - row);
      buffers.push_back(Buffer::allocate_temporary(count * kNumberBytes));
      data_.push_back(buffers.back().mutable_as<uint32_t>());
    }
  }

  const PartitionedRuns& split() const { return split_; }

  // Numbers the partitions; `number(partition, numbers)` gives those of the partition's rows in
  // their order, and returns how many there are.
  template <class F>
  void number(F&& number) {
    parallel_for(split_.partitions, [&](int64_t i) {
      const int64_t partition =
          split_.partitions - 1 - i;  // what was written last is still in memory
      const int64_t rows = split_.rows_of(partition);
      if (rows == 0) return;
      Buffer kept = Buffer::allocate(rows * kNumberBytes);
      auto* own = kept.mutable_as<uint32_t>();
      counts_[static_cast<size_t>(partition)] = static_cast<int64_t>(number(partition, own));
      const Pin pin = pinned(partition, {{numbers_, kNumberBytes}}, true);
      split_.visit(partition, [&](int64_t begin, int64_t end) {
        std::memcpy(
            data_[static_cast<size_t>(begin / split_.buffer_rows)] + begin % split_.buffer_rows,
            own, static_cast<size_t>((end - begin) * kNumberBytes));
        own += end - begin;
      });
    });
    for (const Buffer& buffer : split_.streams[numbers_]) buffer.seal();
  }

  struct Stream {
    size_t place;
    int64_t width;
  };

  Pin pinned(int64_t partition, std::initializer_list<Stream> streams, bool write = false) const {
    std::vector<PinnedRange> ranges;
    for (const Stream& stream : streams)
      split_.append_ranges(partition, stream.place, stream.width, ranges, write);
    return Pin(ranges);
  }

  // How many numbers the partitions before each have, and all.
  std::vector<int64_t> bases() const {
    std::vector<int64_t> bases{0};
    for (const int64_t count : counts_) bases.push_back(bases.back() + count);
    return bases;
  }

  // `number_of(partition, own)` is that of the whole.
  template <class F>
  Buffer of_rows(F&& number_of) const {
    Buffer result = Buffer::allocate_temporary(split_.rows * kNumberBytes);
    if (split_.rows == 0) return result;
    auto* out = result.mutable_as<uint32_t>();
    parallel_for(split_.num_runs(), [&](int64_t run) {
      const int64_t first = run * split_.run_rows;
      const int64_t last = std::min(first + split_.run_rows, split_.rows);
      const auto place = static_cast<size_t>(first / split_.buffer_rows);
      const int64_t begin = first % split_.buffer_rows, end = begin + last - first;
      const Pin pin(
          {{&split_.streams[row_stream_][place], begin * kNumberBytes, end * kNumberBytes},
           {&split_.streams[numbers_][place], begin * kNumberBytes, end * kNumberBytes},
           {&result, first * kNumberBytes, last * kNumberBytes, true}});
      const auto* rows = split_.values<uint32_t>(row_stream_, first);
      const auto* own = split_.values<uint32_t>(numbers_, first);
      const uint32_t* offsets = split_.offsets.data() + run * (split_.partitions + 1);
      for (int64_t partition = 0; partition < split_.partitions; ++partition)
        for (uint32_t i = offsets[partition]; i < offsets[partition + 1]; ++i)
          out[rows[i]] = number_of(partition, own[i]);
    });
    result.seal();
    return result;
  }

 private:
  PartitionedRuns split_;
  size_t row_stream_;
  size_t numbers_;  // their stream
  std::vector<uint32_t*> data_{};
  std::vector<int64_t> counts_;
};

// Counted memory of a task.
template <class T>
class Room {
 public:
  explicit Room(int64_t count)
      : buffer_(Buffer::allocate(count * static_cast<int64_t>(sizeof(T)))),
        data_(count == 0 ? nullptr : buffer_.mutable_as<T>()),
        count_(static_cast<size_t>(count)) {}

  T& operator[](int64_t i) const { return data_[i]; }

  int64_t size() const { return static_cast<int64_t>(count_); }

  T* begin() const { return data_; }

  T* end() const { return data_ + count_; }

 private:
  Buffer buffer_;
  T* data_;
  size_t count_;
};

// A copy that may leave for the disk.
template <class T>
Buffer keep(std::span<const T> entries) {
  const auto bytes = static_cast<int64_t>(entries.size_bytes());
  Buffer kept = Buffer::allocate_temporary(bytes);
  if (bytes == 0) return kept;
  {
    auto* out = kept.mutable_as<T>();
    const Pin pin({{&kept, 0, bytes, true}});
    std::copy(entries.begin(), entries.end(), out);
  }
  kept.seal();
  return kept;
}

// The entries of all partitions one after the other; takes the partitions.
Buffer join_entries(std::vector<Buffer>& partitions, int64_t entry_bytes,
                    const std::vector<int64_t>& bases) {
  Buffer joined = Buffer::allocate_spillable(bases.back() * entry_bytes);
  if (bases.back() == 0) return joined;
  std::byte* out = joined.mutable_data();
  for (size_t partition = 0; partition < partitions.size(); ++partition) {
    const int64_t begin = bases[partition] * entry_bytes, end = bases[partition + 1] * entry_bytes;
    if (begin == end) continue;
    const Buffer own = std::move(partitions[partition]);
    const Pin pin({{&own, 0, end - begin}, {&joined, begin, end, true}});
    std::memcpy(out + begin, own.data(), static_cast<size_t>(end - begin));
  }
  joined.seal();
  return joined;
}

// Distinct strings of one partition, numbered as they come.
class TextTable {
 public:
  explicit TextTable(const std::vector<Buffer>& text) : text_(text) { put_slots(); }

  uint32_t add(const StringView& view) {
    if (size_ == views_.size()) grow();
    const std::string_view text = text_of(view);
    const uint64_t hash = StringKey(text).hash;
    uint32_t& number =
        slot_of(hash, [&](uint32_t k) { return hashes_[k] == hash && text_of(views_[k]) == text; });
    if (number != kFree) return number;
    views_[size_] = view;
    hashes_[size_] = hash;
    return number = size_++;
  }

  // Brings the strings in order; the new number of each.
  Room<uint32_t> sort() {
    struct Entry {
      uint64_t prefix;
      uint32_t number;
    };
    Room<Entry> entries(size_);
    for (uint32_t i = 0; i < size_; ++i) entries[i] = {piece_at(text_of(views_[i]), 0), i};
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      return text_of(views_[a.number]) < text_of(views_[b.number]);
    });
    Room<StringView> sorted(size_);
    Room<uint32_t> turn(size_);
    for (uint32_t i = 0; i < size_; ++i) {
      turn[entries[i].number] = i;
      sorted[i] = views_[entries[i].number];
    }
    views_ = std::move(sorted);
    return turn;
  }

  std::span<const StringView> views() const { return {views_.begin(), size_}; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr int64_t kFirstSize = 1 << 14;

  // The slot of an equal string, or a free one.
  template <class F>
  uint32_t& slot_of(uint64_t hash, F&& is_equal) {
    const int64_t mask = slots_.size() - 1;
    for (auto at = static_cast<int64_t>(hash) & mask;; at = (at + 1) & mask)
      if (slots_[at] == kFree || is_equal(slots_[at])) return slots_[at];
  }

  void put_slots() {
    std::fill(slots_.begin(), slots_.end(), kFree);
    for (uint32_t k = 0; k < size_; ++k) slot_of(hashes_[k], [](uint32_t) { return false; }) = k;
  }

  void grow() {
    Room<StringView> views(2 * views_.size());
    Room<uint64_t> hashes(views.size());
    std::copy_n(views_.begin(), size_, views.begin());
    std::copy_n(hashes_.begin(), size_, hashes.begin());
    views_ = std::move(views);
    hashes_ = std::move(hashes);
    slots_ = Room<uint32_t>(2 * views_.size());
    put_slots();
  }

  std::string_view text_of(const StringView& view) const {
    if (view.size <= sizeof view.inlined) return {view.inlined, view.size};
    return {text_[view.indirect.buffer].as<char>() + view.indirect.offset, view.size};
  }

  const std::vector<Buffer>& text_;
  Room<uint32_t> slots_{2 * kFirstSize};
  Room<StringView> views_{kFirstSize};
  Room<uint64_t> hashes_{kFirstSize};
  uint32_t size_ = 0;
};

// Splits strings, in their order, at some of a sample.
class TextDigits {
 public:
  TextDigits(const Column& strings, int64_t partitions) : strings_(strings) {
    constexpr int64_t kEach = 16;
    const int64_t rows = strings.num_rows(), count = std::min(rows, kEach * partitions);
    std::vector<std::string_view> sample;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = i * (rows / count);
      if (!strings.is_null(row)) sample.push_back(strings.string(row));
    }
    std::sort(sample.begin(), sample.end());
    sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
    const auto size = static_cast<int64_t>(sample.size());
    for (int64_t partition = 1; partition < std::min(partitions, size); ++partition)
      borders_.emplace_back(
          sample[static_cast<size_t>(size * partition / std::min(partitions, size))]);
    for (const std::string& border : borders_) prefixes_.push_back(piece_at(border, 0));
  }

  uint64_t operator()(int64_t row) const {
    if (strings_.is_null(row)) return 0;
    const std::string_view text = strings_.string(row);
    const uint64_t prefix = piece_at(text, 0);
    size_t low = 0, high = borders_.size();
    while (low < high) {
      const size_t at = (low + high) / 2;
      if (prefix < prefixes_[at] || (prefix == prefixes_[at] && text < borders_[at]))
        high = at;
      else
        low = at + 1;
    }
    return low;
  }

 private:
  const Column& strings_;
  std::vector<std::string> borders_{};
  std::vector<uint64_t> prefixes_{};
};

uint64_t hash_at(const Column& strings, int64_t row) {
  return strings.is_null(row) ? 0 : StringKey(strings.string(row)).hash;
}

SortedFactorizedKeys number_many(int64_t rows, const ReadKeys& read,
                                 const std::vector<BufferAccess>& accesses,
                                 std::optional<uint64_t> last) {
  constexpr size_t kKeys = 0, kRows = 1;
  const int64_t partitions = num_partitions(rows);
  const RangePartitioner digits(sample_keys(rows, read, accesses), partitions);
  const PayloadStream keys{
      static_cast<int>(kKeyBytes),
      [&](int64_t row, int64_t count, void* out) { read(row, count, static_cast<uint64_t*>(out)); },
      accesses};
  PartitionNumbers numbers(
      partition_runs(rows, partitions, keys, {keys, row_numbers()}, std::cref(digits)), kRows);
  const PartitionedRuns& split = numbers.split();
  std::vector<Buffer> entries(static_cast<size_t>(partitions));
  numbers.number([&](int64_t partition, uint32_t* own) {
    KeyMap table;
    {
      const Pin pin = numbers.pinned(partition, {{kKeys, kKeyBytes}});
      int64_t at = 0;
      split.visit(partition, [&](int64_t begin, int64_t end) {
        table.add(split.values<uint64_t>(kKeys, begin), end - begin, own + at);
        at += end - begin;
      });
    }
    struct Entry {
      uint64_t key;
      uint32_t number;
    };
    const uint32_t size = table.size();
    Room<Entry> sorted(size);
    for (uint32_t i = 0; i < size; ++i) sorted[i] = {table.keys()[i], i};
    std::sort(sorted.begin(), sorted.end(),
              [](const Entry& a, const Entry& b) { return a.key < b.key; });
    Room<uint64_t> own_keys(size);
    Room<uint32_t> turn(size);
    for (uint32_t i = 0; i < size; ++i) {
      turn[sorted[i].number] = i;
      own_keys[i] = sorted[i].key;
    }
    const int64_t count = split.rows_of(partition);
    for (int64_t i = 0; i < count; ++i) own[i] = turn[own[i]];
    entries[static_cast<size_t>(partition)] =
        keep(std::span<const uint64_t>(own_keys.begin(), size));
    return size;
  });
  const std::vector<int64_t> bases = numbers.bases();
  SortedFactorizedKeys result;
  result.count = bases.back();
  result.keys = join_entries(entries, kKeyBytes, bases);
  const uint64_t* const known = result.keys.as<uint64_t>();
  const auto moved = static_cast<uint32_t>(
      last ? std::lower_bound(known, known + result.count, *last) - known : result.count);
  const bool moves = last && moved < result.count && known[moved] == *last;
  const auto end = static_cast<uint32_t>(result.count - 1);
  result.numbers = numbers.of_rows([&](int64_t partition, uint32_t own) {
    const auto number = static_cast<uint32_t>(bases[static_cast<size_t>(partition)]) + own;
    return !moves || number < moved ? number : number == moved ? end : number - 1;
  });
  if (moves) {
    Buffer keys_moved = Buffer::allocate_spillable(kKeyBytes * result.count);
    auto* const out = keys_moved.mutable_as<uint64_t>();
    parallel_morsels(result.count, {{&result.keys, 0, 64, 64, result.count}, writes(keys_moved, 8)},
                     [&](Morsel morsel) {
                       for (int64_t i = morsel.begin; i < morsel.end; ++i)
                         out[i] = i == end ? *last : known[i < moved ? i : i + 1];
                     });
    keys_moved.seal();
    result.keys = std::move(keys_moved);
  }
  return result;
}

// The numbers of a table, which are those of first sight, as ranks of the keys.
SortedFactorizedKeys order_few(const FactorizedKeys& numbered, int64_t rows,
                               std::optional<uint64_t> last) {
  const uint32_t count = numbered.table.size();
  const uint64_t* const keys = numbered.table.keys();
  Room<uint32_t> order(count), turn(count);
  std::iota(order.begin(), order.end(), uint32_t{0});
  radix_order(keys, order.begin(), count);
  if (auto* const found = std::find_if(order.begin(), order.end(),
                                       [&](uint32_t number) { return keys[number] == last; });
      last && found != order.end())
    std::rotate(found, found + 1, order.end());
  SortedFactorizedKeys result{Buffer::allocate_temporary(kNumberBytes * rows),
                              Buffer::allocate(kKeyBytes * count), count};
  for (uint32_t i = 0; i < count; ++i) {
    turn[order[i]] = i;
    result.keys.mutable_as<uint64_t>()[i] = keys[order[i]];
  }
  const auto* const from = numbered.numbers.as<uint32_t>();
  auto* const out = result.numbers.mutable_as<uint32_t>();
  parallel_morsels(rows,
                   {{&numbered.numbers, 0, 32, 32, rows}, writes(result.numbers, kNumberBytes)},
                   [&](Morsel morsel) {
                     for (int64_t row = morsel.begin; row < morsel.end; ++row)
                       out[row] = turn[from[row]];
                   });
  result.numbers.seal();
  result.keys.seal();
  return result;
}

}  // namespace

SortedFactorizedKeys factorize_sorted(int64_t rows, const ReadKeys& read,
                                      const std::vector<BufferAccess>& accesses,
                                      std::optional<uint64_t> last) {
  if (rows == 0) return {};
  if (has_many_keys(rows, read, accesses)) return number_many(rows, read, accesses, last);
  const FactorizedKeys few = factorize(rows, read, accesses, kFewKeys);
  return few.numbers ? order_few(few, rows, last) : number_many(rows, read, accesses, last);
}

bool has_many_strings(const Column& strings) {
  const int64_t rows = strings.num_rows(), limit = memory_limit();
  const ReadKeys hashes = [&](int64_t row, int64_t count, uint64_t* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = hash_at(strings, row + i);
  };
  if (has_many_keys(rows, hashes, {reads(strings)})) return true;
  if (rows == 0 || limit == INT64_MAX) return false;
  constexpr int64_t kShareOfLimit = 8, kEntryBytes = 64;  // view and slots, while they grow
  int64_t text = 0;
  for (const Buffer& buffer : strings.text_buffers()) text += buffer.size_bytes();
  const int64_t most = std::max<int64_t>(limit / kShareOfLimit / (kEntryBytes + text / rows), 1);
  return rows > most && has_more_keys(rows, hashes, {reads(strings)}, most);
}

FactorizedStrings factorize_strings(const Column& strings, bool ordered) {
  constexpr size_t kLow = 0, kHigh = 1, kRows = 2;
  const int64_t rows = strings.num_rows(), partitions = num_partitions(rows);
  const auto* const views = strings.values<StringView>().data();
  const bool nullable = strings.null_count() > 0;
  const std::optional<TextDigits> places =
      ordered ? std::optional<TextDigits>(std::in_place, strings, partitions) : std::nullopt;
  const PayloadStream digits{static_cast<int>(kKeyBytes),
                             [&](int64_t row, int64_t count, void* out) {
                               for (int64_t i = 0; i < count; ++i)
                                 static_cast<uint64_t*>(out)[i] =
                                     places ? (*places)(row + i) : hash_at(strings, row + i);
                             },
                             {reads(strings)}};
  const auto half = [&](size_t word) {
    return PayloadStream{static_cast<int>(kKeyBytes),
                         [=](int64_t row, int64_t count, void* out) {
                           for (int64_t i = 0; i < count; ++i) {
                             const StringView view = nullable && strings.is_null(row + i)
                                                         ? StringView{}
                                                         : views[row + i];
                             uint64_t words[2];
                             std::memcpy(words, &view, sizeof words);
                             static_cast<uint64_t*>(out)[i] = words[word];
                           }
                         },
                         {reads(strings)}};
  };
  const int shift = 64 - std::bit_width(static_cast<uint64_t>(partitions - 1));
  PartitionNumbers numbers(
      partition_runs(rows, partitions, digits, {half(0), half(1), row_numbers()},
                     [&](const uint64_t* keys, int64_t count, uint16_t* out) {
                       for (int64_t i = 0; i < count; ++i)
                         out[i] = static_cast<uint16_t>(ordered       ? keys[i]
                                                        : shift == 64 ? 0
                                                                      : keys[i] >> shift);
                     }),
      kRows);
  const PartitionedRuns& split = numbers.split();
  std::vector<Buffer> entries(static_cast<size_t>(partitions));
  numbers.number([&](int64_t partition, uint32_t* own) {
    const int64_t count = split.rows_of(partition);
    TextTable table(strings.text_buffers());
    {
      const Pin pin = numbers.pinned(partition, {{kLow, kKeyBytes}, {kHigh, kKeyBytes}});
      int64_t at = 0;
      split.visit(partition, [&](int64_t begin, int64_t end) {
        const auto* low = split.values<uint64_t>(kLow, begin);
        const auto* high = split.values<uint64_t>(kHigh, begin);
        for (int64_t i = 0; i < end - begin; ++i) {
          const uint64_t words[2] = {low[i], high[i]};
          StringView view;
          std::memcpy(&view, words, sizeof view);
          own[at++] = table.add(view);
        }
      });
    }
    if (ordered) {
      const Room<uint32_t> turn = table.sort();
      for (int64_t i = 0; i < count; ++i) own[i] = turn[own[i]];
    }
    entries[static_cast<size_t>(partition)] = keep(table.views());
    return table.views().size();
  });
  const std::vector<int64_t> bases = numbers.bases();
  FactorizedStrings result;
  result.texts =
      strings.with_rows(bases.back(), join_entries(entries, sizeof(StringView), bases), {}, 0);
  result.numbers = numbers.of_rows([&](int64_t partition, uint32_t own) {
    return static_cast<uint32_t>(bases[static_cast<size_t>(partition)]) + own;
  });
  return result;
}

}  // namespace hr
