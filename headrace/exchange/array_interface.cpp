// SPDX-License-Identifier: Apache-2.0
// The words of NumPy's array interface and of the buffer protocol.
#include "headrace/exchange/array_interface.h"

#include "headrace/base/error.h"
#include "headrace/exchange/protocol.h"

#include <bit>
#include <string>

namespace hr {

static_assert(std::endian::native == std::endian::little, "typestr and Arrow formats assume it");

namespace {

struct Words {
  Dtype dtype;
  const char* typestr;
  const char* format;
};

constexpr Words kWords[] = {{TypeId::kBool, "|b1", "?"},        {TypeId::kInt8, "|i1", "b"},
                            {TypeId::kInt16, "<i2", "h"},       {TypeId::kInt32, "<i4", "i"},
                            {TypeId::kInt64, "<i8", "l"},       {TypeId::kUInt8, "|u1", "B"},
                            {TypeId::kUInt16, "<u2", "H"},      {TypeId::kUInt32, "<u4", "I"},
                            {TypeId::kUInt64, "<u8", "L"},      {TypeId::kFloat32, "<f4", "f"},
                            {TypeId::kFloat64, "<f8", "d"},     {TypeId::kComplex64, "<c8", "Zf"},
                            {TypeId::kComplex128, "<c16", "Zd"}};
// The buffer protocol has no times.
constexpr Words kTimes[] = {{Dtype::timestamp(TimeUnit::kSecond), "<M8[s]", nullptr},
                            {Dtype::timestamp(TimeUnit::kMilli), "<M8[ms]", nullptr},
                            {Dtype::timestamp(TimeUnit::kMicro), "<M8[us]", nullptr},
                            {Dtype::timestamp(TimeUnit::kNano), "<M8[ns]", nullptr},
                            {Dtype::duration(TimeUnit::kSecond), "<m8[s]", nullptr},
                            {Dtype::duration(TimeUnit::kMilli), "<m8[ms]", nullptr},
                            {Dtype::duration(TimeUnit::kMicro), "<m8[us]", nullptr},
                            {Dtype::duration(TimeUnit::kNano), "<m8[ns]", nullptr}};

const Words& words_of(Dtype dtype) {
  for (const Words& words : kWords)
    if (words.dtype == dtype) return words;
  for (const Words& words : kTimes)
    if (words.dtype == dtype) return words;
  throw_error<ExchangeError>("array_interface", "the dtype cannot be an array of numbers",
                             {{"dtype", dtype.name()}}, "use to_list(), to_arrow() or to_numpy()");
}

std::string_view remedy(char kind) {
  switch (kind) {
    case 'O':
      return "pass a list, or give the array a dtype with astype";
    case 'U':
    case 'S':
    case 'T':
      return "make a Series of the strings: Series(x.tolist())";
    case 'M':
      return "use astype('datetime64[s]'), or [ms], [us] or [ns]";
    case 'm':
      return "use astype('timedelta64[s]'), or [ms], [us] or [ns]";
    case 'f':
      return "use astype('float32') or astype('float64')";
    case 'V':
      return "pass the fields one by one";
    default:
      return "use astype with one of bool, int8 to int64, uint8 to uint64, float32, float64";
  }
}

[[noreturn]] void refuse(std::string_view op, std::string_view word, std::string_view fix) {
  throw_error<UnsupportedError>(op, "unsupported dtype", {{"dtype", word}}, fix);
}

}  // namespace

const char* to_typestr(Dtype dtype) {
  return words_of(dtype).typestr;
}

const char* to_buffer_format(Dtype dtype) {
  const Words& words = words_of(dtype);
  if (!words.format)
    throw_error<ExchangeError>("buffer", "the buffer protocol does not support times",
                               {{"dtype", dtype.name()}}, "use to_numpy() or to_arrow()");
  return words.format;
}

Dtype from_typestr(std::string_view op, std::string_view typestr) {
  if (typestr.size() >= 3) {
    const auto match = [&](const Words& words) {
      if (typestr.substr(1) != words.typestr + 1) return false;
      if (typestr[0] == '>')
        refuse(op, typestr, "swap the byte order first: x.astype(x.dtype.newbyteorder('='))");
      return true;
    };
    for (const Words& words : kWords)
      if (match(words)) return words.dtype;
    for (const Words& words : kTimes)
      if (match(words)) return words.dtype;
    refuse(op, typestr, remedy(typestr[1]));
  }
  refuse(op, typestr, remedy('?'));
}

Dtype from_buffer_format(std::string_view op, const char* format, int64_t item_bytes) {
  if (!format) return TypeId::kUInt8;
  std::string_view word = format;
  bool swapped = false;
  if (!word.empty() && std::string_view("@=<>!").find(word[0]) != std::string_view::npos) {
    swapped = word[0] == '>' || word[0] == '!';
    word.remove_prefix(1);
  }
  if (swapped && item_bytes > 1) refuse(op, format, "swap the byte order first");
  // C's long is 'l' here and 4 bytes in the standard sizes, so the width decides.
  const auto with_width = [&](TypeId one, TypeId two, TypeId four, TypeId eight) -> Dtype {
    switch (item_bytes) {
      case 1:
        return one;
      case 2:
        return two;
      case 4:
        return four;
      case 8:
        return eight;
      default:
        refuse(op, format, remedy('?'));
    }
  };
  if (word.size() == 1) switch (word[0]) {
      case '?':
        return TypeId::kBool;
      case 'b':
      case 'h':
      case 'i':
      case 'l':
      case 'q':
      case 'n':
        return with_width(TypeId::kInt8, TypeId::kInt16, TypeId::kInt32, TypeId::kInt64);
      case 'B':
      case 'H':
      case 'I':
      case 'L':
      case 'Q':
      case 'N':
        return with_width(TypeId::kUInt8, TypeId::kUInt16, TypeId::kUInt32, TypeId::kUInt64);
      case 'f':
        return TypeId::kFloat32;
      case 'd':
        return TypeId::kFloat64;
      case 'e':
        refuse(op, format, remedy('f'));
      default:
        refuse(op, format, remedy('?'));
    }
  if (word == "Zf") return TypeId::kComplex64;
  if (word == "Zd") return TypeId::kComplex128;
  refuse(op, format, remedy('?'));
}

}  // namespace hr
