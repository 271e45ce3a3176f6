// SPDX-License-Identifier: Apache-2.0
// Several key columns as one 64-bit key a row.
#include "headrace/algo/keys/normalized_keys.h"

#include "headrace/algo/bits/ordered_word_math.h"
#include "headrace/algo/bits/validity.h"
#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/keys/factorize.h"
#include "headrace/algo/keys/factorize_partitioned.h"
#include "headrace/algo/keys/normalized_keys_kernels.h"
#include "headrace/algo/keys/short_text_kernels.h"
#include "headrace/algo/reduce/reduce_kernels.h"
#include "headrace/algo/sort/sort_key.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/data/dictionary.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

namespace hr {

namespace {

// NaN is greater than all others and less than the greatest number.
template <class T>
uint64_t word_of_float(T value) {
  return ordered_word(value != value ? std::numeric_limits<T>::quiet_NaN() : value);
}

// Least and greatest as bits; null slots count, which only widens the range.
std::pair<uint64_t, uint64_t> range_of(const Column& column, Dtype dtype) {
  const int64_t rows = column.num_rows(), width = dtype.size_bytes();
  const bool is_signed = dtype.is_signed();
  std::vector<std::pair<uint64_t, uint64_t>> parts(static_cast<size_t>(num_morsels(rows)));
  const auto less = [&](uint64_t a, uint64_t b) {
    return is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  };
  const auto widen = [&](auto& range, const auto& other) {
    if (less(other.first, range.first)) range.first = other.first;
    if (less(range.second, other.second)) range.second = other.second;
  };
  parallel_morsels(rows, {reads(column)}, [&](Morsel morsel) {
    auto& part = parts[static_cast<size_t>(morsel.index)];
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, morsel.end - row);
      const std::byte* values = column.values_buffer().data() + (column.offset() + row) * width;
      const std::pair block(cpu::fold_integers(Accumulator::kMin, dtype, values, count),
                            cpu::fold_integers(Accumulator::kMax, dtype, values, count));
      if (row == morsel.begin)
        part = block;
      else
        widen(part, block);
    }
  });
  if (parts.empty()) return {0, 0};
  for (const auto& part : parts) widen(parts[0], part);
  return parts[0];
}

// The place of each string in the order, and the other way. The first 8 bytes are kept, so that
// most comparisons need no look at the text.
std::pair<Buffer, Buffer> string_ranks(const Column& strings) {
  const int64_t count = strings.num_rows();
  Buffer prefixes = Buffer::allocate(8 * count);
  Buffer turn = Buffer::allocate(4 * count), back = Buffer::allocate(4 * count);
  if (count == 0) return {turn, back};
  auto* prefix = prefixes.mutable_as<uint64_t>();
  for (int64_t i = 0; i < count; ++i) prefix[i] = piece_at(strings.string(i), 0);
  auto* at = back.mutable_as<uint32_t>();
  auto* rank = turn.mutable_as<uint32_t>();
  std::iota(at, at + count, uint32_t{0});
  std::sort(at, at + count, [&](uint32_t a, uint32_t b) {
    if (prefix[a] != prefix[b]) return prefix[a] < prefix[b];
    return strings.string(a) < strings.string(b);
  });
  for (int64_t i = 0; i < count; ++i) rank[at[i]] = static_cast<uint32_t>(i);
  return {turn, back};
}

// Ranks of values of a dictionary, and back.
std::pair<Buffer, Buffer> value_ranks(const Column& values) {
  if (values.dtype().is_string()) return string_ranks(values);
  const int64_t count = values.num_rows();
  Buffer turn = Buffer::allocate(4 * count), back = Buffer::allocate(4 * count);
  if (count == 0) return {turn, back};
  auto* const at = back.mutable_as<int32_t>();
  auto* const rank = turn.mutable_as<int32_t>();
  std::ranges::copy(sorted_codes(values), at);
  for (int32_t i = 0; i < count; ++i) rank[at[i]] = i;
  return {turn, back};
}

// The words of decimals: the lower one as int64 where that holds all values, else the upper one as
// int64 and the lower one as uint64.
std::vector<Column> words_of_decimals(const Column& column) {
  const int64_t rows = column.num_rows();
  const auto* const in = column.values<std::array<uint64_t, 2>>().data();
  std::atomic<bool> wide{false};
  Buffer low = Buffer::allocate_spillable(8 * rows), high;
  if (rows > 0) {
    auto* const out = low.mutable_as<uint64_t>();
    parallel_morsels(rows, {reads(column), writes(low, 8)}, [&](Morsel morsel) {
      bool mine = false;
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        out[row] = in[row][0];
        mine |= in[row][1] != (in[row][0] >> 63 ? ~uint64_t{0} : 0);
      }
      if (mine) wide = true;
    });
    if (wide) {
      high = Buffer::allocate_spillable(8 * rows);
      auto* const upper = high.mutable_as<uint64_t>();
      parallel_morsels(rows, {reads(column), writes(high, 8)}, [&](Morsel morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; ++row) upper[row] = in[row][1];
      });
    }
  }
  const Buffer validity = realigned_validity(column);
  const auto word = [&](Dtype dtype, Buffer values) {
    values.seal();
    return Column(dtype, rows, std::move(values), validity, column.null_count());
  };
  if (!wide) return {word(TypeId::kInt64, std::move(low))};
  return {word(TypeId::kInt64, std::move(high)), word(TypeId::kUInt64, std::move(low))};
}

// The way back; of no upper words the lower ones are signed.
Column decimals_of_words(const Column& high, const Column& low, Dtype dtype) {
  const int64_t rows = low.num_rows();
  Buffer values = Buffer::allocate_spillable(16 * rows);
  if (rows > 0) {
    const bool wide = low.dtype() == TypeId::kUInt64;
    const auto* const lower = low.values_buffer().as<uint64_t>();
    const auto* const upper = wide ? high.values_buffer().as<uint64_t>() : nullptr;
    auto* const out = values.mutable_as<std::array<uint64_t, 2>>();
    parallel_morsels(rows, {reads(low), writes(values, 16)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = {lower[row], wide ? upper[row] : lower[row] >> 63 ? ~uint64_t{0} : 0};
    });
  }
  return Column(dtype, rows, std::move(values), low.validity_buffer(), low.null_count());
}

int bits_of(uint64_t last) {
  return std::bit_width(last);
}

constexpr uint64_t kFewTexts = uint64_t{1} << 17;  // numbers, so that they may be slots

}  // namespace

StringView NormalizedKeys::ShortTexts::text(uint64_t code) const {
  const uint64_t number = code >> size_bits;
  StringView view{};
  view.size = static_cast<uint32_t>(size_bits == 0 ? static_cast<uint64_t>(bytes)
                                                   : code & ((uint64_t{1} << size_bits) - 1));
  const uint64_t word = bytes == 0 ? 0 : __builtin_bswap64(number << (64 - 8 * bytes));
  std::memcpy(view.inlined, &word, sizeof word);
  return view;
}

// Fills in how strings are packed as numbers; false where one is long or they are far apart.
bool NormalizedKeys::find_short_texts(Field& field) {
  using Range = cpu::TextRange;
  const Column& column = field.column;
  const auto* const views = column.values<StringView>().data();
  const bool nullable = column.null_count() > 0;
  std::vector<Range> parts(static_cast<size_t>(num_morsels(column.num_rows())));
  std::atomic<bool> is_short{true};
  parallel_morsels(column.num_rows(), {reads(column)}, [&](Morsel morsel) {
    Range part;
    std::vector<StringView> there;  // of a block with nulls
    for (int64_t row = morsel.begin; row < morsel.end && is_short; row += kBlockRows) {
      const int64_t end = std::min(row + kBlockRows, morsel.end);
      there.clear();
      for (int64_t i = row; nullable && i < end; ++i)
        if (!column.is_null(i)) there.push_back(views[i]);
      cpu::widen_text_range(nullable ? there.data() : views + row,
                            nullable ? static_cast<int64_t>(there.size()) : end - row, part);
      if (part.longest > cpu::kShortText) is_short = false;
    }
    parts[static_cast<size_t>(morsel.index)] = part;
  });
  if (!is_short) return false;
  Range all;
  for (const Range& part : parts) {
    all.low = std::min(all.low, part.low);
    all.high = std::max(all.high, part.high);
    all.shortest = std::min(all.shortest, part.shortest);
    all.longest = std::max(all.longest, part.longest);
  }
  return take_short_texts(field, all);
}

// The same by the range of the strings.
bool NormalizedKeys::take_short_texts(Field& field, cpu::TextRange all) {
  if (all.longest > cpu::kShortText) return false;
  if (all.low > all.high) all.low = all.high = all.shortest = all.longest = 0;  // no text
  constexpr ShortTexts kWidest{cpu::kShortText, 3};
  ShortTexts texts{static_cast<int>(all.longest), 0};
  if (all.shortest < all.longest) texts.size_bits = std::bit_width(all.longest);
  const StringView ends[] = {kWidest.text(all.low), kWidest.text(all.high)};
  uint64_t numbers[2];
  cpu::text_numbers(ends, 2, texts.bytes, texts.size_bits, 0, numbers);
  const auto [least, most] = numbers;
  if (most - least >= kFewTexts) return false;
  field.kind = Kind::kText;
  field.texts = texts;
  field.least = least;
  field.top = most - least;
  return true;
}

NormalizedKeys::Field NormalizedKeys::field_of(std::string_view op, const Column& column,
                                               NormalizeOptions options, bool short_texts) {
  Field field;
  field.column = column;
  field.dtype = column.dtype();
  field.can_miss = column.null_count() > 0;
  if (short_texts && column.dtype().is_string() && find_short_texts(field)) return field;
  if (column.dtype().is_string() && has_many_strings(column)) {
    FactorizedStrings numbered = factorize_strings(column, options.ordered);
    const int64_t nulls = column.null_count();
    field.kind = Kind::kNumbers;
    field.column = Column(TypeId::kInt32, column.num_rows(), std::move(numbered.numbers),
                          realigned_validity(column), nulls);
    field.entries = std::move(numbered.texts);
    field.top = static_cast<uint64_t>(field.entries.num_rows() - 1);
  } else if (column.dtype().is_string() || column.dtype().is_category()) {
    field =
        category_field(column.dtype().is_string() ? dictionary_encode(column) : column, options);
    field.dtype = column.dtype();
    field.can_miss = column.null_count() > 0;
  } else if (column.dtype().is_bool()) {
    field.kind = Kind::kBool;
    field.top = 1;
  } else if (column.dtype().is_floating()) {
    field.kind = Kind::kFloating;
    const uint64_t all = column.dtype() == TypeId::kFloat32 ? UINT32_MAX : UINT64_MAX;
    field.top = all - 1;
    field.can_miss |= options.drop_missing;
  } else if (column.dtype().storage().is_integer()) {
    const auto [least, most] = range_of(column, column.dtype().storage());
    field.least = least;
    field.top = most - least;
  } else {
    throw_error<TypeMismatchError>(op, "this dtype cannot be a key",
                                   {{"dtype", field.dtype.name()}});
  }
  return field;
}

NormalizedKeys::Field NormalizedKeys::category_field(const Column& column,
                                                     NormalizeOptions options) {
  Field field;
  field.kind = Kind::kNumbers;
  field.column = column;
  field.dtype = column.dtype();
  field.can_miss = column.null_count() > 0;
  const Column& entries = column.dictionary()->values();
  field.top = static_cast<uint64_t>(std::max<int64_t>(entries.num_rows(), 1) - 1);
  if (!column.dictionary()->is_ordered() && options.ordered)
    std::tie(field.turn, field.turn_back) = value_ranks(entries);
  return field;
}

NormalizedKeys NormalizedKeys::of(std::string_view op, const std::vector<Column>& given,
                                  NormalizeOptions options) {
  NormalizedKeys packed;
  packed.options_ = options;
  packed.num_rows_ = given.empty() ? 0 : given[0].num_rows();
  std::vector<Column> columns;
  for (const Column& column : given) {
    const std::vector<Column> parts =
        column.dtype().is_decimal() ? words_of_decimals(column) : std::vector<Column>{column};
    packed.given_.push_back(
        {column.dtype(), static_cast<int64_t>(columns.size()), static_cast<int64_t>(parts.size())});
    columns.insert(columns.end(), parts.begin(), parts.end());
  }
  if (packed.num_rows_ > UINT32_MAX)
    throw_error<InvalidArgumentError>(op, "too many rows",
                                      {{"rows", packed.num_rows_}, {"limit", UINT32_MAX}});
  std::vector<Field> all;
  int wanted = 0;
  for (const Column& column : columns) {
    all.push_back(field_of(op, column, options, true));
    wanted += bits_of(all.back().last());
  }
  // Numbered strings take fewer bits, and to join fields costs more than to number their strings.
  for (size_t i = 0; wanted > 64 && i < all.size(); ++i)
    if (all[i].kind == Kind::kText) all[i] = field_of(op, columns[i], options, false);
  std::vector<Field> fields;
  int bits = 0;
  for (Field& field : all) {
    if (field.can_miss && field.top == UINT64_MAX)  // null needs a 65th bit
      field = join({field}, packed.num_rows_, options);
    int more = bits_of(field.last());
    if (bits + more > 64) {
      fields = {join(std::move(fields), packed.num_rows_, options)};
      bits = bits_of(fields[0].last());
      if (bits + more > 64) {
        field = join({field}, packed.num_rows_, options);
        more = bits_of(field.last());
      }
    }
    fields.push_back(std::move(field));
    bits += more;
  }
  packed.place(std::move(fields));
  return packed;
}

std::optional<NormalizedKeys> NormalizedKeys::of_device(const std::vector<Column>& columns,
                                                        NormalizeOptions options) {
  NormalizedKeys packed;
  packed.options_ = options;
  packed.num_rows_ = columns[0].num_rows();
  if (packed.num_rows_ > UINT32_MAX || columns.size() > kMostDeviceKeys) return {};
  std::vector<Column> integers;
  for (const Column& column : columns) {
    const Dtype dtype = column.dtype();
    if (dtype.is_category() || dtype.is_bool() || dtype.is_string() || dtype.is_floating())
      continue;
    if (!dtype.storage().is_integer()) return {};
    integers.push_back(column);
  }
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  if constexpr (built_with_cuda)
    if (!integers.empty()) ranges = cuda::integer_ranges(integers);
  if (ranges.size() < integers.size()) return {};
  auto range = ranges.begin();
  std::vector<Field> fields;
  int bits = 0;
  for (const Column& column : columns) {
    Field field;
    if (column.dtype().is_category()) {
      field = category_field(column, options);
    } else if (column.dtype().is_string()) {
      auto found = device_strings(column, options);
      if (!found) return {};
      field = *std::move(found);
    } else {
      field.column = column;
      field.dtype = column.dtype();
      field.can_miss = column.null_count() > 0;
      field.kind = column.dtype().is_bool()       ? Kind::kBool
                   : column.dtype().is_floating() ? Kind::kFloating
                                                  : Kind::kInteger;
      field.top = 1;
      if (field.kind == Kind::kFloating) {
        field.top = (column.dtype() == TypeId::kFloat32 ? UINT32_MAX : UINT64_MAX) - 1;
        field.can_miss |= options.drop_missing;
      } else if (field.kind == Kind::kInteger) {
        field.least = range->first;
        field.top = range->second - range->first;
        ++range;
      }
    }
    if (field.can_miss && field.top == UINT64_MAX) return {};
    bits += bits_of(field.last());
    packed.given_.push_back({column.dtype(), static_cast<int64_t>(fields.size()), 1});
    fields.push_back(std::move(field));
  }
  if (bits > 64) return {};
  packed.place(std::move(fields));
  return packed;
}

std::vector<KeyField> NormalizedKeys::key_fields() const {
  std::vector<KeyField> result;
  for (const Field& field : fields_) {
    const Dtype given = given_[result.size()].dtype;
    result.push_back({field.column, field.turn, field.least, field.top + 1, field.last(),
                      field.shift, field.can_miss && field.column.null_count() > 0,
                      given.is_string() && !field.entries.dtype().is_string()});
  }
  return result;
}

bool NormalizedKeys::normalizes_by_value(Dtype dtype) {
  return dtype.is_bool() || dtype.is_floating() ||
         (dtype.storage().is_integer() && !dtype.is_category());
}

// Makes two fields of one kind normalize alike.
void NormalizedKeys::widen(Field& a, Field& b) {
  a.can_miss = b.can_miss = a.can_miss || b.can_miss;
  if (a.kind != Kind::kInteger) return;
  if (a.column.num_rows() == 0) a.least = b.least, a.top = b.top;
  if (b.column.num_rows() == 0) b.least = a.least, b.top = a.top;
  // The order of signed values is that of their bits with the sign turned.
  const uint64_t turn = a.dtype.storage().is_signed() ? uint64_t{1} << 63 : 0;
  const uint64_t least = std::min(a.least ^ turn, b.least ^ turn),
                 most = std::max((a.least + a.top) ^ turn, (b.least + b.top) ^ turn);
  a.least = b.least = least ^ turn;
  a.top = b.top = most - least;
}

std::optional<std::array<NormalizedKeys, 2>> NormalizedKeys::of_two(
    std::string_view op, const std::vector<Column>& left, const std::vector<Column>& right,
    const std::vector<Column>& both) {
  const NormalizeOptions options{.ordered = false};
  const int64_t left_rows = left[0].num_rows(), right_rows = right[0].num_rows();
  if (std::max(left_rows, right_rows) > UINT32_MAX) return {};
  for (const Column& column : left)
    if (column.dtype().is_decimal()) return {};  // whether they take one word tell both together
  std::vector<Field> of_left(left.size()), of_right(left.size());
  const auto take_both = [&](size_t i, bool short_texts) {
    const Field field = field_of(op, both[i], options, short_texts);
    of_left[i] = of_right[i] = field;
    of_left[i].column = field.column.slice(0, left_rows);
    of_right[i].column = field.column.slice(left_rows, right_rows);
  };
  const auto bits = [&] {
    int sum = 0;
    for (const Field& field : of_left) sum += bits_of(field.last());
    return sum;
  };
  for (size_t i = 0; i < left.size(); ++i) {
    if (normalizes_by_value(left[i].dtype())) {
      of_left[i] = field_of(op, left[i], options, false);
      of_right[i] = field_of(op, right[i], options, false);
      widen(of_left[i], of_right[i]);
    } else {
      take_both(i, true);
    }
    if (of_left[i].can_miss && of_left[i].top == UINT64_MAX) return {};
  }
  for (size_t i = 0; i < left.size() && bits() > 64; ++i)
    if (of_left[i].kind == Kind::kText) take_both(i, false);  // numbers take fewer bits
  if (bits() > 64) return {};
  std::array<NormalizedKeys, 2> packed;
  for (NormalizedKeys& each : packed) each.options_ = options;
  packed[0].num_rows_ = left_rows;
  packed[1].num_rows_ = right_rows;
  packed[0].place(std::move(of_left));
  packed[1].place(std::move(of_right));
  return packed;
}

void NormalizedKeys::place(std::vector<Field> fields) {
  fields_ = std::move(fields);
  int shift = 0;
  for (size_t i = fields_.size(); i-- > 0;) {
    Field& field = fields_[i];
    field.shift = shift;
    shift += bits_of(field.last());
    if (i == 0) {
      const uint64_t below = field.shift == 0 ? 0 : ~uint64_t{0} >> (64 - field.shift);
      // Of a field that takes no bit the shift may be 64.
      domain_ = (field.last() == 0 ? below : (field.last() << field.shift | below)) + 1;
    }
    if (options_.drop_missing && field.can_miss) {
      has_missing_ = true;
      missing_ = (field.top + 1) << field.shift;
    }
  }
}

// Numbers instead of columns: of each distinct row one.
NormalizedKeys::Field NormalizedKeys::join(std::vector<Field> fields, int64_t rows,
                                           NormalizeOptions options) {
  auto inner = std::make_shared<NormalizedKeys>();
  inner->num_rows_ = rows;
  inner->options_ = options;
  Field joined;
  Column nullable;
  if (fields.size() == 1 && fields[0].top == UINT64_MAX && fields[0].can_miss) {
    // Null in addition to 2^64 values: whatever its slot holds is one more number.
    nullable = fields[0].column;
    fields[0].can_miss = false;
    joined.can_miss = true;
  }
  inner->place(std::move(fields));
  const ReadKeys read = [&](int64_t row, int64_t count, uint64_t* normalized_keys) {
    inner->read(row, count, normalized_keys);
  };
  const std::vector<BufferAccess> accesses = inner->accesses();
  const std::optional<uint64_t> missing =
      inner->has_missing_ ? std::optional(inner->missing_) : std::nullopt;
  SortedFactorizedKeys found =
      factorize_sorted(rows, read, accesses, missing);  // what is dropped: last
  const bool missed = found.count > 0 && found.keys.as<uint64_t>()[found.count - 1] == missing;
  if (missed && found.count == 1) {  // behind no value at all
    found.numbers = Buffer::allocate_temporary(4 * rows);
    auto* const numbers = found.numbers.mutable_as<uint32_t>();
    parallel_morsels(rows, {writes(found.numbers, 4)}, [&](Morsel morsel) {
      std::fill(numbers + morsel.begin, numbers + morsel.end, 1u);
    });
    found.numbers.seal();
  }
  joined.kind = Kind::kNumbers;
  joined.dtype = TypeId::kInt32;
  joined.can_miss |= missed;
  joined.top = static_cast<uint64_t>(std::max<int64_t>(found.count - missed, 1) - 1);
  joined.joined = std::move(inner);
  joined.joined_keys = std::move(found.keys);
  joined.column = Column(TypeId::kInt32, rows, std::move(found.numbers),
                         realigned_validity(nullable), nullable.null_count());
  return joined;
}

// Adds a field to the normalized keys of a block; `code(i)` of its row i.
template <class Out, class Code>
void NormalizedKeys::put(const Field& field, int64_t row, int64_t count, Out* normalized_keys,
                         bool first, uint8_t* dropped, Code&& code) const {
  const int shift = field.shift & 63;  // of a field without bits the code is 0
  if (!field.can_miss || field.column.validity() == nullptr) {
    if (first)
      for (int64_t i = 0; i < count; ++i) normalized_keys[i] = static_cast<Out>(code(i) << shift);
    else
      for (int64_t i = 0; i < count; ++i) normalized_keys[i] |= static_cast<Out>(code(i) << shift);
    return;
  }
  const uint8_t* valid = field.column.validity();
  const int64_t offset = field.column.offset() + row;
  for (int64_t at = 0; at < count; at += 64) {
    const int64_t end = std::min<int64_t>(count, at + 64);
    const uint64_t word = load_bits(valid, offset + at, end - at);
    for (int64_t i = at; i < end; ++i) {
      const bool there = (word >> (i - at)) & 1;
      const auto value = static_cast<Out>((there ? code(i) : field.top + 1) << shift);
      normalized_keys[i] = first ? value : normalized_keys[i] | value;
      if (options_.drop_missing) dropped[i] |= !there;
    }
  }
}

template <class Out>
void NormalizedKeys::read_as(int64_t row, int64_t count, Out* normalized_keys) const {
  uint8_t dropped[kBlockRows];
  if (has_missing_) std::fill_n(dropped, count, uint8_t{0});
  if (fields_.empty()) std::fill_n(normalized_keys, count, Out{0});
  for (size_t k = 0; k < fields_.size(); ++k) {
    const Field& field = fields_[k];
    const Column& column = field.column;
    const bool first = k == 0;
    const auto add = [&](auto&& code) {
      put(field, row, count, normalized_keys, first, dropped, code);
    };
    switch (field.kind) {
      case Kind::kBool: {
        const uint8_t* bits = column.bits();
        add([&](int64_t i) { return uint64_t{get_bit(bits, column.offset() + row + i)}; });
        break;
      }
      case Kind::kInteger:
        visit_real(column.dtype().storage(), [&]<class T>(std::type_identity<T>) {
          const T* values = column.values_buffer().as<T>() + column.offset() + row;
          add([&](int64_t i) { return static_cast<uint64_t>(values[i]) - field.least; });
        });
        break;
      case Kind::kFloating:
        visit_floating(column.dtype(), [&]<class T>(std::type_identity<T>) {
          const T* values = column.values_buffer().as<T>() + column.offset() + row;
          if (options_.drop_missing)
            for (int64_t i = 0; i < count; ++i) dropped[i] |= values[i] != values[i];
          add([&](int64_t i) { return word_of_float(values[i]); });
        });
        break;
      case Kind::kText: {
        uint64_t codes[kBlockRows];
        cpu::text_numbers(column.values<StringView>().data() + row, count, field.texts.bytes,
                          field.texts.size_bits, field.least, codes);
        add([&](int64_t i) { return codes[i]; });
        break;
      }
      case Kind::kNumbers: {
        const uint32_t* codes = column.values_buffer().as<uint32_t>() + column.offset() + row;
        if (const uint32_t* turn = field.turn ? field.turn.as<uint32_t>() : nullptr)
          add([&](int64_t i) { return uint64_t{turn[codes[i]]}; });
        else
          add([&](int64_t i) { return uint64_t{codes[i]}; });
        if (options_.drop_missing && field.joined && field.can_miss) {
          const auto gone = static_cast<uint32_t>(field.top + 1);
          for (int64_t i = 0; i < count; ++i) dropped[i] |= codes[i] == gone;
        }
        break;
      }
    }
  }
  if (!has_missing_) return;
  const auto missing = static_cast<Out>(missing_);
  for (int64_t i = 0; i < count; ++i)
    normalized_keys[i] = dropped[i] ? missing : normalized_keys[i];
}

void NormalizedKeys::read(int64_t row, int64_t count, uint64_t* normalized_keys) const {
  read_as(row, count, normalized_keys);
}

void NormalizedKeys::read(int64_t row, int64_t count, uint32_t* normalized_keys) const {
  read_as(row, count, normalized_keys);
}

Buffer NormalizedKeys::to_buffer(int64_t first_row, int64_t rows) const {
  Buffer normalized_keys = Buffer::allocate_temporary(8 * rows);
  if (rows == 0) return normalized_keys;
  uint64_t* const out = normalized_keys.mutable_as<uint64_t>();
  std::vector<BufferAccess> all = accesses();
  for (BufferAccess& access : all) access.first_bit += first_row * access.step_bits;
  all.push_back(writes(normalized_keys, 8));
  parallel_morsels(rows, all, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows)
      read(first_row + row, std::min(kBlockRows, morsel.end - row), out + row);
  });
  normalized_keys.seal();
  return normalized_keys;
}

std::vector<BufferAccess> NormalizedKeys::accesses() const {
  std::vector<BufferAccess> result;
  for (const Field& field : fields_) result.push_back(reads(field.column));
  return result;
}

namespace {

// The codes of one field in a buffer of normalized keys, and what is made of them.
class FieldCodes {
 public:
  FieldCodes(const Buffer& normalized_keys, int64_t rows, int shift, uint64_t last,
             std::optional<uint64_t> missing)
      : normalized_keys_(normalized_keys),
        rows_(rows),
        code_{normalized_keys.as<uint64_t>(), shift & 63,
              last == 0 ? 0 : ~uint64_t{0} >> (64 - bits_of(last)), missing.has_value(),
              missing.value_or(0)} {}

  // A bit for each row that is not missing.
  Buffer validity() const {
    return bits([](const Code& code, int64_t row) { return !code.is_missing(row); });
  }

  // A bit for each row of code 1.
  Buffer ones() const {
    return bits(
        [](const Code& code, int64_t row) { return !code.is_missing(row) && code[row] == 1; });
  }

  // value(code) of each row, a zero where it is missing.
  template <class T, class F>
  Buffer values(F&& value) const {
    Buffer values = Buffer::allocate_spillable(rows_ * static_cast<int64_t>(sizeof(T)));
    if (rows_ == 0) return values;
    T* const out = values.mutable_as<T>();
    const std::vector<BufferAccess> accesses{reads_keys(), writes(values, sizeof(T))};
    parallel_morsels(rows_, accesses, [&, code = code_](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = code.is_missing(row) ? T{} : static_cast<T>(value(code[row]));
    });
    return values;
  }

 private:
  struct Code {
    const uint64_t* normalized_keys;
    int shift;
    uint64_t mask;
    bool can_miss;
    uint64_t missing;

    uint64_t operator[](int64_t row) const { return (normalized_keys[row] >> shift) & mask; }

    bool is_missing(int64_t row) const { return can_miss && (*this)[row] == missing; }
  };

  BufferAccess reads_keys() const { return {&normalized_keys_, 0, 64, 64, rows_}; }

  template <class F>
  Buffer bits(F&& bit) const {
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows_));
    if (rows_ == 0) return bits;
    auto* const out = bits.mutable_as<uint8_t>();
    parallel_morsels(rows_, {reads_keys()}, [&, code = code_](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) set_bit(out, row, bit(code, row));
    });
    return bits;
  }

  const Buffer& normalized_keys_;
  int64_t rows_;
  Code code_;
};

}  // namespace

Column NormalizedKeys::decode(int64_t index, const Buffer& normalized_keys, int64_t rows) const {
  const Given& given = given_[static_cast<size_t>(index)];
  Column last = decode_part(given.first + given.parts - 1, normalized_keys, rows);
  if (!given.dtype.is_decimal()) return last;
  return decimals_of_words(
      given.parts == 2 ? decode_part(given.first, normalized_keys, rows) : Column(), last,
      given.dtype);
}

Column NormalizedKeys::decode_part(int64_t index, const Buffer& normalized_keys,
                                   int64_t rows) const {
  // Joined fields stand for several columns each, from the left.
  for (const Field& field : fields_) {
    const int64_t columns =
        field.joined ? static_cast<int64_t>(field.joined->num_columns()) : int64_t{1};
    if (index < columns) return decode_field(field, index, normalized_keys, rows);
    index -= columns;
  }
  throw_error<InternalError>("normalized_keys", "no such key");
}

int64_t NormalizedKeys::num_columns() const {
  int64_t columns = 0;
  for (const Field& field : fields_) columns += field.joined ? field.joined->num_columns() : 1;
  return columns;
}

Column NormalizedKeys::decode_field(const Field& field, int64_t index,
                                    const Buffer& normalized_keys, int64_t rows) const {
  const FieldCodes codes(normalized_keys, rows, field.shift, field.last(),
                         field.can_miss ? std::optional(field.top + 1) : std::nullopt);
  Buffer validity;
  if (field.can_miss && !options_.drop_missing && rows > 0) validity = codes.validity();
  const int64_t unknown = validity ? -1 : 0;
  if (field.joined) {
    const auto* known = field.joined_keys.as<uint64_t>();
    const Buffer inner = codes.values<uint64_t>([&](uint64_t code) { return known[code]; });
    inner.seal();
    Column column = field.joined->decode_part(index, inner, rows);
    return validity ? column.with_rows(rows, column.values_buffer(), validity, -1) : column;
  }
  switch (field.kind) {
    case Kind::kBool:
      return Column(field.dtype, rows, codes.ones(), std::move(validity), unknown);
    case Kind::kInteger:
      return visit_real(field.dtype.storage(), [&]<class T>(std::type_identity<T>) {
        Buffer values = codes.values<T>([&](uint64_t code) { return code + field.least; });
        return Column(field.dtype, rows, std::move(values), std::move(validity), unknown);
      });
    case Kind::kFloating:
      return visit_floating(field.dtype, [&]<class T>(std::type_identity<T>) {
        Buffer values = codes.values<T>(
            [](uint64_t code) { return value_of_ordered_word<T>(static_cast<WordOf<T>>(code)); });
        return Column(field.dtype, rows, std::move(values), std::move(validity), unknown);
      });
    case Kind::kText: {
      Buffer values = codes.values<StringView>(
          [&](uint64_t code) { return field.texts.text(code + field.least); });
      return Column::strings(rows, std::move(values), {}, std::move(validity), unknown);
    }
    case Kind::kNumbers:
      break;
  }
  if (field.dtype.is_string() && !field.column.dtype().is_category()) {
    const auto* texts = field.entries.values<StringView>().data();
    Buffer values = codes.values<StringView>([&](uint64_t code) { return texts[code]; });
    return field.entries.with_rows(rows, std::move(values), std::move(validity), unknown);
  }
  const uint32_t* back = field.turn_back ? field.turn_back.as<uint32_t>() : nullptr;
  Buffer values =
      codes.values<int32_t>([&](uint64_t code) { return back ? uint64_t{back[code]} : code; });
  const Column made = Column::categories(rows, std::move(values), field.column.dictionary(),
                                         std::move(validity), unknown);
  return field.dtype.is_string() ? dictionary_decode(made) : made;
}

}  // namespace hr
