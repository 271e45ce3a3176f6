// SPDX-License-Identifier: Apache-2.0
// The first row of each key: by one table, or in partitions.
#include "headrace/relational/aggregate/distinct_rows.h"

#include "headrace/algo/keys/factorize.h"
#include "headrace/algo/keys/hash.h"
#include "headrace/algo/keys/partition_runs.h"
#include "headrace/algo/select/nonzero.h"
#include "headrace/base/bits.h"
#include "headrace/data/device.h"
#include "headrace/plan/eval/evaluate.h"
#include "headrace/plan/eval/evaluate_kernels.h"
#include "headrace/relational/aggregate/distinct_rows_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace hr {

namespace {

// ---- few keys ----

/// Keys below a small number.
class SlotTable {
 public:
  explicit SlotTable(uint64_t domain) : seen_(domain, 0) {}

  // Marks the keys that are not there with 1; whether there are any.
  bool find_absent(const uint64_t* keys, int64_t count, uint8_t* absent) const {
    uint8_t any = 0;
    for (int64_t i = 0; i < count; ++i) any |= absent[i] = seen_[keys[i]] ^ 1;
    return any != 0;
  }

  // Whether it is new.
  bool add(uint64_t key) {
    const bool is_new = seen_[key] == 0;
    seen_[key] = 1;
    size_ += is_new;
    return is_new;
  }

  SlotTable empty() const { return SlotTable(seen_.size()); }

  bool is_full() const { return size_ == static_cast<int64_t>(seen_.size()); }

  int64_t size() const { return size_; }

 private:
  std::vector<uint8_t> seen_;
  int64_t size_ = 0;
};

/// Keys of any size.
class MappedKeys {
 public:
  bool find_absent(const uint64_t* keys, int64_t count, uint8_t* absent) const {
    uint32_t numbers[kBlockRows];
    if (table_.find(keys, count, numbers) == 0) return false;
    for (int64_t i = 0; i < count; ++i) absent[i] = numbers[i] == KeyMap::kAbsent;
    return true;
  }

  bool add(uint64_t key) {
    const uint32_t size = table_.size();
    return table_.add(key) == size;
  }

  static MappedKeys empty() { return {}; }

  static bool is_full() { return false; }

  int64_t size() const { return table_.size(); }

 private:
  KeyMap table_{};
};

/// For `factorize_in_waves`: the first rows of the keys of a table.
template <class Table>
class FirstRows {
 public:
  FirstRows(const NormalizedKeys& keys, Table table, int64_t most)
      : keys_(keys),
        accesses_(keys.accesses()),
        table_(std::move(table)),
        most_(most),
        missed_(static_cast<size_t>(num_morsels(keys.num_rows()))) {}

  bool look(Morsel morsel) {
    const Pin pin(ranges_of(accesses_, morsel.begin, morsel.end));
    Table* own = morsel.index == 0 ? &table_ : nullptr;
    std::optional<Table> other;  // of what is missed in a later wave
    std::vector<Missed>& missed = missed_[static_cast<size_t>(morsel.index)];
    uint64_t keys[kBlockRows];
    uint8_t absent[kBlockRows];
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, morsel.end - row);
      keys_.read(row, count, keys);
      if (!table_.find_absent(keys, count, absent)) continue;
      if (!own) own = &other.emplace(table_.empty());
      for (int64_t i = 0; i < count; ++i)
        if (absent[i] && own->add(keys[i])) missed.push_back({keys[i], row + i});
    }
    return !missed.empty();
  }

  void add(int64_t k) {
    for (const auto& [key, row] : missed_[static_cast<size_t>(k)])
      if (k == 0 || table_.add(key)) {
        const bool dropped = keys_.has_missing() && key == keys_.missing();
        if (!dropped) rows_.push_back(row);
      }
    missed_[static_cast<size_t>(k)] = {};
  }

  static void mend(Morsel) {}

  bool goes_on(int64_t) { return !table_.is_full() && table_.size() <= most_; }

  bool has_too_many() const { return table_.size() > most_; }

  const std::vector<int64_t>& rows() const { return rows_; }

 private:
  struct Missed {
    uint64_t key;
    int64_t row;
  };

  const NormalizedKeys& keys_;
  std::vector<BufferAccess> accesses_;
  Table table_;
  int64_t most_;
  std::vector<std::vector<Missed>> missed_;  // by morsel
  std::vector<int64_t> rows_{};
};

// The first rows of few keys; none where there are more than `most`.
template <class Table>
std::optional<std::vector<int64_t>> few_rows(const NormalizedKeys& keys, Table table,
                                             int64_t most) {
  FirstRows<Table> work(keys, std::move(table), most);
  factorize_in_waves(keys.num_rows(), work);
  if (work.has_too_many()) return {};
  return work.rows();
}

// ---- many keys ----

/// A set of keys, open addressing, at most half full.
class DistinctKeys {
 public:
  explicit DistinctKeys(int64_t expected) {
    resize(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(2 * expected, 1024))));
  }

  int64_t size() const { return static_cast<int64_t>(size_) + has_free_; }

  // Marks with 1 the keys that are new.
  void add(const uint64_t* keys, int64_t count, uint8_t* is_new) {
    if (2 * (size_ + static_cast<uint64_t>(count)) > mask_ + 1)
      resize(2 * std::bit_ceil(size_ + static_cast<uint64_t>(count)));
    constexpr int64_t kAhead = 16;
    uint64_t at[kBlockRows];
    for (int64_t i = 0; i < count; ++i) at[i] = hash_key(keys[i]) & mask_;
    for (int64_t i = 0; i < std::min(kAhead, count); ++i) __builtin_prefetch(slots_ + at[i]);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kAhead < count) __builtin_prefetch(slots_ + at[i + kAhead]);
      is_new[i] = add(keys[i], at[i]);
    }
  }

 private:
  static constexpr uint64_t kFree = 0;

  bool add(uint64_t key, uint64_t at) {
    if (key == kFree) return !std::exchange(has_free_, true);
    while (slots_[at] != kFree) {
      if (slots_[at] == key) return false;
      at = (at + 1) & mask_;
    }
    slots_[at] = key;
    ++size_;
    return true;
  }

  void resize(uint64_t slots) {
    const Buffer old = std::exchange(
        buffer_, Buffer::allocate_zeroed(static_cast<int64_t>(slots * sizeof(uint64_t))));
    const uint64_t* const from = slots_;
    const uint64_t count = from ? mask_ + 1 : 0;
    slots_ = buffer_.mutable_as<uint64_t>();
    mask_ = slots - 1;
    size_ = 0;
    for (uint64_t i = 0; i < count; ++i)
      if (from[i] != kFree) add(from[i], hash_key(from[i]) & mask_);
  }

  Buffer buffer_{};
  uint64_t* slots_ = nullptr;
  uint64_t mask_ = 0, size_ = 0;
  bool has_free_ = false;
};

/// Rows split by their keys.
class DistinctPartitions {
 public:
  explicit DistinctPartitions(const NormalizedKeys& keys) : keys_(keys) {
    const int64_t rows = keys.num_rows();
    int64_t partitions = num_partitions(rows);
    // Ranges of keys where most of their slots will be used.
    if (keys.domain() > 0 && keys.domain() <= static_cast<uint64_t>(4 * rows)) {
      domain_ = keys.domain();
      while (((domain_ - 1) >> shift_) + 1 > static_cast<uint64_t>(partitions)) ++shift_;
      partitions = static_cast<int64_t>(((domain_ - 1) >> shift_) + 1);
    } else {
      shift_ = 64 - std::bit_width(static_cast<uint64_t>(partitions - 1));
    }
    const auto read = [&keys](int64_t row, int64_t count, void* out) {
      keys.read(row, count, static_cast<uint64_t*>(out));
    };
    const PayloadStream whole{8, read, keys.accesses()};
    const PayloadStream slots{4,
                              [this](int64_t row, int64_t count, void* out) {
                                uint64_t own[kBlockRows];
                                keys_.read(row, count, own);
                                for (int64_t i = 0; i < count; ++i)
                                  static_cast<uint32_t*>(out)[i] =
                                      static_cast<uint32_t>(own[i] & last_slot());
                              },
                              keys.accesses()};
    split_ = partition_runs(rows, partitions, whole, {domain_ > 0 ? slots : whole},
                            [this](const uint64_t* own, int64_t count, uint16_t* digits) {
                              find_digits(own, count, digits);
                            });
  }

  /// How many keys there are; `marks`, if any: a byte for each row of the partitions.
  int64_t find_first(uint8_t* marks) {
    std::atomic<int64_t> total{0};
    parallel_for(split_.partitions, [&](int64_t i) {
      const int64_t p = split_.partitions - 1 - i;  // what was written last is still in the caches
      total += domain_ > 0 ? first_slots(p, marks) : first_keys(p, marks);
    });
    return total;
  }

  /// The marks in the order of the rows.
  Column mask(const uint8_t* marks) const {
    Buffer bits = Buffer::allocate(bitmap_bytes(split_.rows));
    std::byte* const out = bits.mutable_data();
    parallel_for(split_.num_runs(), [&](int64_t run) {
      const int64_t first = run * split_.run_rows;
      const int64_t last = std::min(first + split_.run_rows, split_.rows);
      const uint32_t* const offsets = split_.offsets.data() + run * (split_.partitions + 1);
      std::vector<uint32_t> next(offsets, offsets + split_.partitions);
      const Pin pin(ranges_of(keys_.accesses(), first, last));
      const uint8_t* const own = marks + first;
      for (int64_t row = first; row < last; row += kBlockRows) {
        const int64_t count = std::min(kBlockRows, last - row);
        uint64_t keys[kBlockRows], words[kBlockRows / 64];
        uint16_t digits[kBlockRows];
        uint8_t here[kBlockRows];
        keys_.read(row, count, keys);
        find_digits(keys, count, digits);
        for (int64_t i = 0; i < count; ++i) here[i] = own[next[digits[i]]++];
        cpu::pack_bits(here, words, count);
        std::memcpy(out + row / 8, words, static_cast<size_t>(bitmap_bytes(count)));
      }
    });
    return Column(TypeId::kBool, split_.rows, std::move(bits));
  }

 private:
  uint64_t last_slot() const { return (uint64_t{1} << shift_) - 1; }

  void find_digits(const uint64_t* keys, int64_t count, uint16_t* digits) const {
    if (domain_ > 0)
      for (int64_t i = 0; i < count; ++i) digits[i] = static_cast<uint16_t>(keys[i] >> shift_);
    else if (shift_ == 64)
      std::fill_n(digits, count, uint16_t{0});
    else
      for (int64_t i = 0; i < count; ++i)
        digits[i] = static_cast<uint16_t>(hash_key(keys[i]) >> shift_);
  }

  // Calls `visit(values, row, count)` for blocks of a partition.
  template <class T, class F>
  void each_block(int64_t p, F&& visit) const {
    constexpr int kRead[] = {0};
    split_.visit(p, kRead, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row += kBlockRows)
        visit(split_.values<T>(0, row), row, std::min(kBlockRows, end - row));
    });
  }

  int64_t first_slots(int64_t p, uint8_t* marks) const {
    const uint64_t first_key = static_cast<uint64_t>(p) << shift_;
    std::vector<uint8_t> seen(std::min(domain_ - first_key, uint64_t{1} << shift_), 0);
    const bool drops = keys_.has_missing() && keys_.missing() - first_key < seen.size();
    if (drops) seen[keys_.missing() - first_key] = 1;
    each_block<uint32_t>(p, [&](const uint32_t* slots, int64_t row, int64_t count) {
      if (!marks) {
        for (int64_t i = 0; i < count; ++i) seen[slots[i]] = 1;
        return;
      }
      for (int64_t i = 0; i < count; ++i) {
        marks[row + i] = seen[slots[i]] ^ 1;
        seen[slots[i]] = 1;
      }
    });
    return std::accumulate(seen.begin(), seen.end(), int64_t{0}) - drops;
  }

  int64_t first_keys(int64_t p, uint8_t* marks) {
    DistinctKeys found(hint_.load(std::memory_order_relaxed));
    const bool drops = keys_.has_missing();
    bool has_dropped = false;
    each_block<uint64_t>(p, [&](const uint64_t* keys, int64_t row, int64_t count) {
      uint8_t is_new[kBlockRows];
      found.add(keys, count, is_new);
      for (int64_t i = 0; drops && i < count; ++i) {
        if (keys[i] != keys_.missing()) continue;
        has_dropped = true;
        is_new[i] = 0;
      }
      if (marks) std::memcpy(marks + row, is_new, static_cast<size_t>(count));
    });
    hint_.store(found.size(), std::memory_order_relaxed);
    return found.size() - has_dropped;
  }

  const NormalizedKeys& keys_;
  uint64_t domain_ = 0;  // of keys in ranges; 0: by their hashes
  int shift_ = 0;
  PartitionedRuns split_{};
  std::atomic<int64_t> hint_{0};
};

// The first rows of few keys.
std::optional<std::vector<int64_t>> few_rows(const NormalizedKeys& keys) {
  if (keys.num_rows() == 0) return std::vector<int64_t>();
  const uint64_t domain = keys.domain();
  if (domain > 0 && domain <= static_cast<uint64_t>(kFewKeys))
    return few_rows(keys, SlotTable(domain), kFewKeys);
  const ReadKeys read = [&](int64_t row, int64_t count, uint64_t* out) {
    keys.read(row, count, out);
  };
  if (has_many_keys(keys.num_rows(), read, keys.accesses())) return {};
  return few_rows(keys, MappedKeys(), kFewKeys);
}

}  // namespace

Tensor distinct_rows(const NormalizedKeys& keys) {
  if (const auto few = few_rows(keys)) {
    const auto count = static_cast<int64_t>(few->size());
    Buffer rows = Buffer::allocate(8 * count);
    if (count > 0) std::memcpy(rows.mutable_data(), few->data(), few->size() * sizeof(int64_t));
    return Tensor(TypeId::kInt64, {count}, std::move(rows));
  }
  DistinctPartitions partitions(keys);
  Buffer marks = Buffer::allocate(keys.num_rows());
  auto* const marked = marks.mutable_as<uint8_t>();
  partitions.find_first(marked);
  return nonzero(partitions.mask(marked));
}

Tensor distinct_rows(const std::vector<Column>& keys) {
  if (keys[0].num_rows() == 0) return Tensor(TypeId::kInt64, {0}, Buffer());
  if constexpr (built_with_cuda) return cuda::distinct_rows(keys);
  check_on_host("drop_duplicates", keys[0].place());
  return {};
}

Column canonical_keys(const Column& keys) {
  if (!keys.dtype().is_floating()) return keys;
  Program program;
  const int value = program.input(0, keys.dtype(), keys.null_count() > 0);
  const int positive =
      program.apply(Op::kAdd, std::array{value, program.constant(Scalar::weak(0.0))});
  const int nan = program.constant(Scalar::weak(std::numeric_limits<double>::quiet_NaN()));
  const int is_nan = program.apply(Op::kIsNan, std::array{value});
  program.add_column(program.apply(Op::kWhere, std::array{is_nan, nan, positive}));
  return std::get<Column>(evaluate(program, std::array<Value, 1>{keys}, keys.num_rows())[0]);
}

int64_t count_distinct(const NormalizedKeys& keys) {
  if (const auto few = few_rows(keys)) return static_cast<int64_t>(few->size());
  return DistinctPartitions(keys).find_first(nullptr);
}

}  // namespace hr
