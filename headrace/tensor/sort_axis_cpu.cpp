// SPDX-License-Identifier: Apache-2.0
// Sorts of lines by keys of bits, and binary search in one line.
#include "headrace/exec/workers.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/tensor/sort_axis_kernels.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

namespace hr::cpu {

namespace {

constexpr int64_t kTaskValues = int64_t{1} << 14;
// From here on a pass for each byte that differs is better than passes for the first ones and
// comparisons of what these leave equal.
constexpr int64_t kRadixLength = 768;
constexpr int64_t kFewValues = 48;  // passes do not pay
constexpr int kFirstBits = 24;      // of passes over short lines

// NaN is the largest value.
template <class T>
bool is_less(T a, T b) {
  return a < b || (b != b && a == a);
}

template <class F>
void visit_values(Dtype dtype, F&& f) {
  if (dtype.is_bool()) return f(std::type_identity<uint8_t>{});
  visit_real(dtype, f);
}

template <int64_t width>
struct BitsOfWidth {
  using Type = uint64_t;
};

template <>
struct BitsOfWidth<1> {
  using Type = uint8_t;
};

template <>
struct BitsOfWidth<2> {
  using Type = uint16_t;
};

template <>
struct BitsOfWidth<4> {
  using Type = uint32_t;
};

template <class T>
using Bits = typename BitsOfWidth<sizeof(T)>::Type;

template <class T>
constexpr auto kSign = static_cast<Bits<T>>(Bits<T>{1} << (8 * sizeof(T) - 1));

// Unsigned integers in the order of the values; -0.0 before 0.0.
template <class T>
Bits<T> key_of(T value) {
  const auto bits = std::bit_cast<Bits<T>>(value);
  if constexpr (std::is_floating_point_v<T>)
    return bits & kSign<T> ? static_cast<Bits<T>>(~bits) : static_cast<Bits<T>>(bits | kSign<T>);
  if constexpr (std::is_signed_v<T>) return static_cast<Bits<T>>(bits ^ kSign<T>);
  return bits;
}

template <class T>
T value_of(Bits<T> key) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(key & kSign<T> ? static_cast<Bits<T>>(key ^ kSign<T>)
                                           : static_cast<Bits<T>>(~key));
  if constexpr (std::is_signed_v<T>) return std::bit_cast<T>(static_cast<Bits<T>>(key ^ kSign<T>));
  return std::bit_cast<T>(key);
}

// The same for values that are equal: zeros of both signs, all NaN.
template <class T>
Bits<T> equal_key_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return static_cast<Bits<T>>(~Bits<T>{0});
    return key_of(value + T{0});
  }
  return key_of(value);
}

template <class Key>
struct Item {
  Key key;
  int64_t place;
};

template <class Key>
Key key_in(Key key) {
  return key;
}

template <class Key>
Key key_in(const Item<Key>& item) {
  return item.key;
}

// Stable, by bytes from the lowest; `spare` has room for all. Where they end up is returned.
template <class T>
T* radix_sort(T* items, T* spare, int64_t count) {
  using Key = decltype(key_in(*items));
  int64_t counts[sizeof(Key)][256] = {};
  for (int64_t i = 0; i < count; ++i)
    for (size_t byte = 0; byte < sizeof(Key); ++byte)
      ++counts[byte][(key_in(items[i]) >> (8 * byte)) & 255];
  for (size_t byte = 0; byte < sizeof(Key); ++byte) {
    int64_t* const bucket = counts[byte];
    const auto digit = [byte](const T& item) { return (key_in(item) >> (8 * byte)) & 255; };
    if (bucket[digit(items[0])] == count) continue;  // all have the same
    int64_t begin = 0;
    for (int d = 0; d < 256; ++d) begin += std::exchange(bucket[d], begin);
    for (int64_t i = 0; i < count; ++i) spare[bucket[digit(items[i])]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

// How many of the last bits differ among the words.
template <class Word>
int differing_bits(const Word* words, int64_t count) {
  Word differing = 0;
  for (int64_t i = 1; i < count; ++i)
    differing = static_cast<Word>(differing | (words[i] ^ words[0]));
  return static_cast<int>(std::bit_width(differing));
}

// Fewer than kRadixLength words, of which the last `bits` bits differ: passes for the first of
// these leave most in order. `spare` has room for all. Where they end up is returned.
template <class Word>
Word* sort_few(Word* words, Word* spare, int64_t count, int bits) {
  if (count < kFewValues || bits == 0) {
    std::sort(words, words + count);
    return words;
  }
  constexpr int kPasses = kFirstBits / 8;
  const int passes = std::min(kPasses, (bits + 7) / 8);
  int shifts[kPasses];
  for (int pass = 0; pass < passes; ++pass) shifts[pass] = std::max(0, bits - 8 * (pass + 1));
  uint16_t counts[kPasses][256] = {};
  for (int64_t i = 0; i < count; ++i)
    for (int pass = 0; pass < passes; ++pass) ++counts[pass][(words[i] >> shifts[pass]) & 255];
  for (int pass = passes; pass-- > 0;) {
    uint16_t* const bucket = counts[pass];
    uint16_t begin = 0;
    for (int d = 0; d < 256; ++d) {
      const uint16_t size = bucket[d];
      bucket[d] = begin;
      begin = static_cast<uint16_t>(begin + size);
    }
    for (int64_t i = 0; i < count; ++i)
      spare[bucket[(words[i] >> shifts[pass]) & 255]++] = words[i];
    std::swap(words, spare);
  }
  const int rest = shifts[passes - 1];
  for (int64_t begin = 0, end = 1; rest > 0 && begin < count; begin = end++) {
    while (end < count && (words[end] >> rest) == (words[begin] >> rest)) ++end;
    if (end - begin > 1) std::sort(words + begin, words + end);
  }
  return words;
}

// `f(line, scratch)` for each line; each task has `bytes` of scratch.
template <class F>
void for_each_line(int64_t lines, int64_t length, int64_t bytes, F&& f) {
  const int64_t step = std::max<int64_t>(1, kTaskValues / std::max<int64_t>(1, length));
  parallel_for((lines + step - 1) / step, [&](int64_t task) {
    Buffer scratch = Buffer::allocate(std::max<int64_t>(bytes, 1));
    const int64_t end = std::min(lines, (task + 1) * step);
    for (int64_t line = task * step; line < end; ++line) f(line, scratch.mutable_data());
  });
}

template <class T>
void sort_line(T* begin, T* end, bool descending, std::byte* scratch) {
  T *first = begin, *last = end;
  if constexpr (std::is_floating_point_v<T>) {
    if (descending)
      first = std::stable_partition(begin, end, [](T x) { return x != x; });
    else
      last = std::stable_partition(begin, end, [](T x) { return x == x; });
  }
  const int64_t count = last - first;
  if (count < 2) return;
  auto* keys = reinterpret_cast<Bits<T>*>(scratch);
  for (int64_t i = 0; i < count; ++i) keys[i] = key_of(first[i]);
  if (count < kRadixLength)
    keys = sort_few(keys, keys + count, count, differing_bits(keys, count));
  else
    keys = radix_sort(keys, keys + count, count);
  for (int64_t i = 0; i < count; ++i) first[i] = value_of<T>(keys[descending ? count - 1 - i : i]);
}

template <class T>
Bits<T> order_key_of(T value, bool descending) {
  const Bits<T> key = equal_key_of(value);
  return descending ? static_cast<Bits<T>>(~key) : key;
}

// Words of a key and a position behind it; of a key too long for that its first bits.
template <class T>
void argsort_few(const T* values, int64_t count, bool descending, std::byte* scratch,
                 int64_t* places) {
  auto* words = reinterpret_cast<uint64_t*>(scratch);
  for (int64_t i = 0; i < count; ++i) words[i] = order_key_of(values[i], descending);
  const int bits = differing_bits(words, count);
  const int place_bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count)));
  const int cut = std::max(0, bits + place_bits - 64);
  const uint64_t differing = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (int64_t i = 0; i < count; ++i)
    words[i] = (words[i] & differing) >> cut << place_bits | static_cast<uint64_t>(i);
  words = sort_few(words, words + count, count, bits - cut + place_bits);
  const uint64_t place = (uint64_t{1} << place_bits) - 1;
  for (int64_t i = 0; i < count; ++i) places[i] = static_cast<int64_t>(words[i] & place);
  for (int64_t begin = 0, end = 1; cut > 0 && begin < count; begin = end++) {
    while (end < count && (words[end] >> place_bits) == (words[begin] >> place_bits)) ++end;
    if (end - begin > 1)
      std::sort(places + begin, places + end, [&](int64_t a, int64_t b) {
        const Bits<T> left = order_key_of(values[a], descending);
        const Bits<T> right = order_key_of(values[b], descending);
        return left < right || (left == right && a < b);
      });
  }
}

template <class T>
void argsort_line(const T* values, int64_t count, bool descending, std::byte* scratch,
                  int64_t* places) {
  if (count < kRadixLength) return argsort_few(values, count, descending, scratch, places);
  using Key = Bits<T>;
  auto* items = reinterpret_cast<Item<Key>*>(scratch);
  for (int64_t i = 0; i < count; ++i) items[i] = {order_key_of(values[i], descending), i};
  items = radix_sort(items, items + count, count);
  for (int64_t i = 0; i < count; ++i) places[i] = items[i].place;
}

}  // namespace

void sort_lines(Dtype dtype, std::byte* values, int64_t lines, int64_t length, bool descending) {
  visit_values(dtype, [&]<class T>(std::type_identity<T>) {
    const auto bytes = 2 * length * static_cast<int64_t>(sizeof(T));
    for_each_line(lines, length, bytes, [&](int64_t line, std::byte* scratch) {
      T* const begin = reinterpret_cast<T*>(values) + line * length;
      sort_line(begin, begin + length, descending, scratch);
    });
  });
}

void argsort_lines(Dtype dtype, const std::byte* values, int64_t lines, int64_t length,
                   bool descending, int64_t* positions) {
  visit_values(dtype, [&]<class T>(std::type_identity<T>) {
    const auto bytes = 2 * length * static_cast<int64_t>(sizeof(Item<Bits<T>>));
    for_each_line(lines, length, bytes, [&](int64_t line, std::byte* scratch) {
      argsort_line(reinterpret_cast<const T*>(values) + line * length, length, descending, scratch,
                   positions + line * length);
    });
  });
}

void search_line(Dtype dtype, const std::byte* line, int64_t length, const std::byte* values,
                 int64_t count, bool right, int64_t* positions) {
  visit_values(dtype, [&]<class T>(std::type_identity<T>) {
    const T* begin = reinterpret_cast<const T*>(line);
    const T* value = reinterpret_cast<const T*>(values);
    const auto less = [](T a, T b) { return is_less(a, b); };
    parallel_morsels(count, [&](Morsel morsel) {
      for (int64_t k = morsel.begin; k < morsel.end; ++k)
        positions[k] = (right ? std::upper_bound(begin, begin + length, value[k], less)
                              : std::lower_bound(begin, begin + length, value[k], less)) -
                       begin;
    });
  });
}

}  // namespace hr::cpu
