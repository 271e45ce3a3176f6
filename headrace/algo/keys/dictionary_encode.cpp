// SPDX-License-Identifier: Apache-2.0
// Values as categories, and back: codes in waves of morsels.
#include "headrace/algo/keys/dictionary_encode.h"

#include "headrace/algo/bits/validity.h"
#include "headrace/algo/keys/factorize.h"
#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/base/bits.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <type_traits>

namespace hr {

namespace {

class StringWork {
 public:
  StringWork(const Column& strings, Buffer& codes)
      : strings_(strings),
        views_(strings.values<StringView>().data()),
        texts_(strings),
        accesses_{reads(strings), writes(codes, 4)},
        codes_(codes.mutable_as<int32_t>()),
        missed_(static_cast<size_t>(num_morsels(strings.num_rows()))),
        turns_(missed_.size()) {}

  bool look(Morsel morsel) {
    const Pin pin(ranges_of(accesses_, morsel.begin, morsel.end));
    if (morsel.index == 0) {
      visit(morsel, all_,
            [&](const StringKey& key, std::string_view text) { return all_.add(key, text); });
      return false;
    }
    const int32_t known = all_.size();
    DictionaryBuilder& missed = missed_[static_cast<size_t>(morsel.index)];
    visit(morsel, all_, [&](const StringKey& key, std::string_view text) {
      const int32_t code = all_.find(key, text);
      return code >= 0 ? code : known + missed.add(key, text);
    });
    return missed.size() > 0;
  }

  void add(int64_t k) {
    known_ = first_open_ ? all_.size() : known_;
    first_open_ = false;
    const Column values = missed_[static_cast<size_t>(k)].values();
    Buffer& turn = turns_[static_cast<size_t>(k)] = all_.add_all(values);
    if (turn) return;
    turn = Buffer::allocate(4 * values.num_rows());  // each got the code of its row
    std::iota(turn.mutable_as<int32_t>(), turn.mutable_as<int32_t>() + values.num_rows(), 0);
  }

  void mend(Morsel morsel) {
    const Pin pin(ranges_of({&accesses_[1], 1}, morsel.begin, morsel.end));
    const auto* turn = turns_[static_cast<size_t>(morsel.index)].as<int32_t>();
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (codes_[row] >= known_) codes_[row] = turn[codes_[row] - known_];
  }

  bool goes_on(int64_t) {
    first_open_ = true;
    for (size_t k = 0; k < missed_.size(); ++k) {
      if (!turns_[k]) continue;
      turns_[k] = {};
      missed_[k] = {};
    }
    return true;
  }

  DictionaryPtr finish() { return all_.finish(); }

 private:
  // Keys are made and their slots fetched some rows ahead, the strings of the slots half as many,
  // and the bytes that keys are made of before.
  template <class F>
  void visit(Morsel morsel, const DictionaryBuilder& table, F&& code) {
    constexpr int64_t kFar = 32, kAhead = 16, kNear = 8, kKept = 16;
    alignas(StringKey) std::byte space[kKept * sizeof(StringKey)];
    auto* keys = reinterpret_cast<StringKey*>(space);
    const bool nulls = strings_.null_count() > 0;
    const bool deep = table.size() > 4096;  // else all of it is in the cache
    const auto make = [&](int64_t row) {
      if (nulls && strings_.is_null(row)) return;
      const StringView& view = views_[row];
      auto* key = keys + row % kKept;
      if (view.size <= sizeof view.inlined)
        new (key) StringKey(view);
      else
        new (key) StringKey(texts_[row]);
      if (deep) table.fetch(*key);
    };
    for (int64_t row = morsel.begin; row < std::min(morsel.begin + kAhead, morsel.end); ++row)
      make(row);
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const StringView& view = views_[row];
      if (nulls && strings_.is_null(row)) {
        codes_[row] = 0;
      } else {
        const StringKey& key = keys[row % kKept];
        const std::string_view text =
            key.is_inline() ? std::string_view(view.inlined, view.size) : texts_[row];
        codes_[row] = code(key, text);
      }
      if (deep && row + kNear < morsel.end && !(nulls && strings_.is_null(row + kNear)))
        table.fetch_text(keys[(row + kNear) % kKept]);
      if (row + kFar < morsel.end && !(nulls && strings_.is_null(row + kFar)))
        __builtin_prefetch(texts_[row + kFar].data());
      if (row + kAhead < morsel.end) make(row + kAhead);
    }
  }

  const Column& strings_;
  const StringView* views_;
  StringReader texts_;
  std::vector<BufferAccess> accesses_;  // the strings, then their codes
  int32_t* codes_;
  DictionaryBuilder all_{};
  std::vector<DictionaryBuilder> missed_;
  std::vector<Buffer> turns_;
  int32_t known_ = 0;
  bool first_open_ = true;
};

constexpr int64_t kLeastRange = 1024, kMostValues = std::numeric_limits<int32_t>::max();

// Integers of a range of about as few numbers as rows: their codes stand in a table of the range.
template <class T>
class RangeWork {
 public:
  RangeWork(const Column& column, Buffer& codes)
      : column_(column),
        values_(column.values<T>().data()),
        null_(column),
        accesses_{reads(column), writes(codes, 4)},
        codes_(codes.mutable_as<int32_t>()) {}

  /// Whether there are values, of a range of at most `most` numbers: then the table is there.
  bool fits(uint64_t most) {
    const int64_t rows = column_.num_rows();
    std::vector<std::array<T, 2>> ends(static_cast<size_t>(num_morsels(rows)), none());
    parallel_morsels(rows, {accesses_[0]}, [&](Morsel morsel) {
      auto [low, high] = none();
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        if (null_(row)) continue;
        low = std::min(low, values_[row]);
        high = std::max(high, values_[row]);
      }
      ends[static_cast<size_t>(morsel.index)] = {low, high};
    });
    auto [low, high] = none();
    for (const auto& [least, greatest] : ends) {
      low = std::min(low, least);
      high = std::max(high, greatest);
    }
    low_ = low;
    if (low > high || place(high) >= most) return false;
    const auto slots = static_cast<int64_t>(place(high)) + 1;
    table_ = Buffer::allocate(4 * slots);
    slots_ = table_.mutable_as<int32_t>();
    std::fill_n(slots_, slots, -1);
    return true;
  }

  bool look(Morsel morsel) {
    const Pin pin(ranges_of(accesses_, morsel.begin, morsel.end));
    bool missed = false;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      codes_[row] = null_(row) ? 0 : slots_[place(values_[row])];
      missed |= codes_[row] < 0;
    }
    return missed;
  }

  void add(int64_t k) {
    const Morsel morsel = morsel_at(k, column_.num_rows());
    const Pin pin(ranges_of(accesses_, morsel.begin, morsel.end));
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      if (codes_[row] >= 0) continue;
      int32_t& slot = slots_[place(values_[row])];
      if (slot < 0) {
        slot = static_cast<int32_t>(distinct_.size());
        distinct_.push_back(values_[row]);
      }
      codes_[row] = slot;
    }
  }

  void mend(Morsel) {}

  bool goes_on(int64_t) { return true; }

  DictionaryPtr finish() {
    const auto size = static_cast<int64_t>(distinct_.size());
    Buffer values = Buffer::allocate(size * static_cast<int64_t>(sizeof(T)));
    std::ranges::copy(distinct_, values.mutable_as<T>());
    return dictionary_of(column_.with_rows(size, std::move(values), {}, 0));
  }

 private:
  static std::array<T, 2> none() {
    return {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
  }

  uint64_t place(T value) const {
    return static_cast<uint64_t>(value) - static_cast<uint64_t>(low_);
  }

  const Column& column_;
  const T* values_;
  Nulls null_;
  std::vector<BufferAccess> accesses_;  // the values, then their codes
  int32_t* codes_;
  T low_ = 0;
  Buffer table_{};
  int32_t* slots_ = nullptr;
  std::vector<T> distinct_{};
};

// Nothing unless the values are integers that lie near each other.
std::optional<Column> encode_range(const Column& values) {
  const Dtype storage = values.dtype().storage();
  const int64_t rows = values.num_rows();
  if (!storage.is_integer()) return {};
  return visit_real(storage, [&]<class T>(std::type_identity<T>) -> std::optional<Column> {
    if constexpr (std::is_integral_v<T>) {
      Buffer codes = Buffer::allocate_spillable(rows * 4);
      RangeWork<T> work(values, codes);
      if (!work.fits(
              static_cast<uint64_t>(std::min(rows, kMostValues - kLeastRange) + kLeastRange)))
        return {};
      factorize_in_waves(rows, work);
      codes.seal();
      return Column::categories(rows, std::move(codes), work.finish(), realigned_validity(values),
                                values.null_count());
    }
    return {};
  });
}

// Fixed-width values as strings of their bytes.
Column texts_of(const Column& values) {
  const int64_t rows = values.num_rows();
  Buffer views = Buffer::allocate_spillable(16 * rows);
  auto* const out = views.mutable_as<StringView>();
  const bool can_miss = values.null_count() > 0 || values.dtype().is_floating();
  Buffer validity = can_miss ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  uint8_t* const valid = validity ? validity.mutable_as<uint8_t>() : nullptr;
  parallel_morsels(rows, {reads(values), writes(views, 16)}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const bool is_there = text_of_value(values, row, out[row]);
      if (!is_there) out[row] = {};
      if (valid) set_bit(valid, row, is_there);
    }
  });
  const int64_t nulls = validity ? -1 : 0;
  return Column::strings(rows, std::move(views), {}, std::move(validity), nulls);
}

// The value of the dictionary for each row.
template <class T>
Column spread(const Column& categories, const Column& values) {
  const int64_t rows = categories.num_rows();
  Buffer buffer = Buffer::allocate_spillable(rows * static_cast<int64_t>(sizeof(T)));
  if (rows > 0) {
    auto* const out = buffer.mutable_as<T>();
    const T* const entries = values.values<T>().data();
    const int32_t* const codes = categories.values<int32_t>().data();
    const std::vector<BufferAccess> accesses{reads(categories), writes(buffer, sizeof(T))};
    parallel_morsels(rows, accesses, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = categories.is_null(row) ? T{} : entries[codes[row]];
    });
  }
  return values.with_rows(rows, std::move(buffer), realigned_validity(categories),
                          categories.null_count());
}

}  // namespace

Column dictionary_encode(const Column& values) {
  const Dtype dtype = Dtype::category(values.dtype());
  const int64_t rows = values.num_rows();
  if (rows == 0) return Column(dtype, 0, {});
  if (std::optional<Column> made = encode_range(values)) return *std::move(made);
  const Column strings = dtype.has_text() ? values : texts_of(values);
  Buffer buffer = Buffer::allocate_spillable(rows * 4);
  StringWork work(strings, buffer);
  factorize_in_waves(rows, work);
  buffer.seal();
  DictionaryPtr dictionary = work.finish();
  if (!dtype.has_text())
    dictionary = dictionary_of(values_of_texts(dictionary->values(), values.dtype()));
  return Column::categories(rows, std::move(buffer), std::move(dictionary),
                            realigned_validity(strings), strings.null_count());
}

Column dictionary_decode(const Column& categories) {
  const Column& values = categories.dictionary()->values();
  switch (values.dtype().size_bytes()) {
    case 16:
      return spread<StringView>(categories, values);
    case 8:
      return spread<int64_t>(categories, values);
    case 4:
      return spread<int32_t>(categories, values);
    case 2:
      return spread<int16_t>(categories, values);
    default:
      break;
  }
  if (!values.dtype().is_bool()) return spread<int8_t>(categories, values);
  const int64_t rows = categories.num_rows();
  const int32_t* const codes = categories.values<int32_t>().data();
  Buffer bits = bits_of(rows, {reads(categories)}, [&](int64_t row) {
    return !categories.is_null(row) && values.bit(codes[row]);
  });
  return Column(TypeId::kBool, rows, std::move(bits), realigned_validity(categories),
                categories.null_count());
}

Column ordered_categories(const Column& categories) {
  return Column::categories(categories.num_rows(), categories.values_buffer(),
                            dictionary_of(categories.dictionary()->values(), true),
                            categories.validity_buffer(), categories.null_count(),
                            categories.offset());
}

}  // namespace hr
