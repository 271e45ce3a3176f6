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
#include <new>
#include <numeric>

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
