// SPDX-License-Identifier: Apache-2.0
// What the values of one column have been so far, and the dtype that holds them.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/io/csv_syntax.h"
#include "headrace/io/parse_number_math.h"

#include <string_view>

namespace hr {

struct CsvGuess {
  bool boolean = false;
  bool integer = false;
  bool negative = false;
  bool large = false;  // an integer that only uint64 holds
  bool floating = false;
  bool day = false;
  bool time = false;   // with a time of day
  bool nanos = false;  // finer than microseconds
  bool far = false;    // further than 64 bits of nanoseconds reach
  bool text = false;
  bool word = false;    // one of those that the options give for bools
  bool unlike = false;  // none of those

  void look(const CsvSyntax& syntax, const CsvField& field) {
    const char *begin = field.begin, *end = field.end;
    while (begin < end && syntax.is_blank(*begin)) ++begin;
    while (begin < end && syntax.is_blank(end[-1])) --end;
    const bool has_words = !syntax.true_words.empty() || !syntax.false_words.empty();
    if ((text && !has_words) || syntax.is_null(begin, end)) return;
    if (has_words) {
      // A word may look like a number or be any text: it is a bool where all values are.
      const bool is_word = syntax.bool_of({begin, static_cast<size_t>(end - begin)}) >= 0;
      (is_word ? word : unlike) = true;
    }
    if (begin == end) {
      text = true;
      return;
    }
    double number;
    if (const IntegerText whole = parse_integer(begin); whole.end == end) {
      int64_t fits;
      integer = true;
      negative |= whole.negative && whole.magnitude != 0;
      if (!fit_integer(whole, &fits)) (whole.overflow || whole.negative ? floating : large) = true;
    } else if (parse_float(begin, end, &number) == end) {
      floating = true;
    } else if (parse_bool({begin, static_cast<size_t>(end - begin)}) >= 0) {
      boolean = true;
    } else if (const IsoTime when = parse_iso_time(begin, end); when.end == end) {
      int64_t fits;
      (when.has_time ? time : day) = true;
      nanos |= when.nanos % 1000 != 0;
      far |= !fit_time(when, TimeUnit::kNano, &fits);
    } else {
      text = true;
    }
  }

  void join(const CsvGuess& other) {
    boolean |= other.boolean;
    integer |= other.integer;
    negative |= other.negative;
    large |= other.large;
    floating |= other.floating;
    day |= other.day;
    time |= other.time;
    nanos |= other.nanos;
    far |= other.far;
    text |= other.text;
    word |= other.word;
    unlike |= other.unlike;
  }

  Dtype dtype() const {
    if (word && !unlike) return TypeId::kBool;
    const bool number = integer || floating;
    if (text || boolean + number + (day || time) > 1 || (nanos && far)) return TypeId::kString;
    if (time) return Dtype::timestamp(nanos ? TimeUnit::kNano : TimeUnit::kMicro);
    if (day) return TypeId::kDate;
    if (boolean) return TypeId::kBool;
    if (floating || (large && negative) || !number) return TypeId::kFloat64;
    return large ? TypeId::kUInt64 : TypeId::kInt64;
  }
};

}  // namespace hr
