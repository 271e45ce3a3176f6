// SPDX-License-Identifier: Apache-2.0
// Builder: the values of one key in one piece of the text, of a kind that widens as they come.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hr::json {

/// What JSON calls a value, numbers apart by what holds them. kTime is asked for, never inferred.
enum class Kind : uint8_t {
  kNull,
  kBool,
  kInteger,
  kFloat,
  kString,
  kTime,
  kList,
  kStruct,
};

/// "numbers", for messages.
std::string_view plural_of(Kind kind);

inline bool is_number(Kind kind) {
  return kind == Kind::kInteger || kind == Kind::kFloat;
}

/// Values of these kinds have no dtype together.
inline bool clash(Kind a, Kind b) {
  return a != b && a != Kind::kNull && b != Kind::kNull && !(is_number(a) && is_number(b));
}

/// What all strings so far have been.
struct TimeGuess {
  bool possible = true;
  bool day = false;
  bool time = false;
  bool nanos = false;  ///< finer than microseconds
  bool far = false;    ///< further than 64 bits of nanoseconds reach

  void look(const char* text, int64_t size);

  void join(const TimeGuess& other) {
    possible &= other.possible;
    day |= other.day;
    time |= other.time;
    nanos |= other.nanos;
    far |= other.far;
  }

  /// String unless all of them are dates or times.
  Dtype dtype() const;
};

struct Builder;

/// The members of objects, in the order in which their keys are first seen.
struct Fields {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::vector<std::string> names{};
  std::vector<bool> is_plain{};  ///< the key stands in the text as it is, without escapes
  std::vector<std::unique_ptr<Builder>> builders{};
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> places{};
  std::vector<uint32_t> order{};  ///< of the last object: what the next one is expected to have
  std::vector<uint32_t> seen{};   ///< those that an object has, in that order
  bool adds_skipped = false;      ///< keys that are not given are not wanted

  Builder& add(std::string_view name);
  Builder* find(std::string_view name) const;
  /// Notes that an object has a member as its `ordinal`-th.
  void see(size_t ordinal, uint32_t place);
};

struct Builder {
  Kind kind = Kind::kNull;
  /// Values of another kind came; they count as null here.
  bool mixed = false;
  /// The kind is given: a value of another one makes its row bad.
  bool fixed = false;
  bool is_seen = false;
  /// Not wanted: values are checked and dropped.
  bool skipped = false;
  /// A dtype that was asked for; strings keep other values as their text.
  std::optional<Dtype> asked{};
  std::shared_ptr<const TimezoneRules> zone{};

  bool negative = false;  ///< an integer below 0
  bool large = false;     ///< an integer that only uint64 holds
  TimeGuess times{};

  int64_t rows = 0;  ///< may be fewer than the piece has: the rest is null
  int64_t null_count = 0;
  int64_t capacity = 0;
  char* values = nullptr;
  uint64_t* nulls = nullptr;  ///< a bitmap of the nulls among the first `capacity` rows
  Buffer values_buffer{};
  Buffer nulls_buffer{};

  std::unique_ptr<Builder> items{};  ///< of lists
  Fields fields{};                   ///< of objects

  /// Bytes of one value of a kind; 0 for none.
  static int64_t width_of(Kind kind) {
    switch (kind) {
      case Kind::kNull:
      case Kind::kStruct:
        return 0;
      case Kind::kBool:
        return 1;
      case Kind::kString:
      case Kind::kList:
        return sizeof(StringView);
      default:
        return 8;
    }
  }

  template <class T>
  void append(T value) {
    if (rows == capacity) [[unlikely]]
      grow(rows + 1);
    std::memcpy(values + rows * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    ++rows;
  }

  /// The time or day that a string says, in the dtype that was asked for; nothing where it does
  /// not.
  std::optional<int64_t> time_of(const char* text, int64_t size) const;

  /// Nulls up to row `row`; nothing if it has as many.
  void pad(int64_t row) {
    if (rows < row) [[unlikely]]
      append_nulls(row - rows);
  }

  void append_nulls(int64_t count);

  /// Gives a builder of nulls its kind, of integers that of floats; false when values of the two
  /// have no dtype together.
  bool become(Kind wanted);

  /// One more object, whose members are in the fields.
  void append_object() {
    if (rows == capacity) grow(rows + 1);
    ++rows;
  }

  void grow(int64_t least);

  /// A builder without rows of the same kinds, dtypes and keys, all of them fixed.
  std::unique_ptr<Builder> prototype() const;
};

}  // namespace hr::json
