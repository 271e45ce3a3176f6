// SPDX-License-Identifier: Apache-2.0
// One string at a time: comparisons, tests and pieces of it, for the CPU and for kernels.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/functions/strings/characters.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr {

/// Whether `part`, of no more bytes, stands in `text` from byte `at` on.
HR_BOTH inline bool has_part_at(std::string_view text, size_t at, std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i)
    if (text[at + i] != part[i]) return false;
  return true;
}

HR_BOTH inline bool starts_with_part(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && has_part_at(text, 0, part);
}

HR_BOTH inline bool ends_with_part(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && has_part_at(text, text.size() - part.size(), part);
}

HR_BOTH inline bool contains_part(std::string_view text, std::string_view part) {
  for (size_t at = 0; at + part.size() <= text.size(); ++at)
    if (has_part_at(text, at, part)) return true;
  return false;
}

/// By bytes: negative, 0 or positive.
HR_BOTH inline int order_of(std::string_view a, std::string_view b) {
  const size_t shared = a.size() < b.size() ? a.size() : b.size();
  for (size_t i = 0; i < shared; ++i)
    if (a[i] != b[i]) return static_cast<uint8_t>(a[i]) < static_cast<uint8_t>(b[i]) ? -1 : 1;
  return a.size() < b.size() ? -1 : a.size() > b.size();
}

/// Characters as Python counts them.
HR_BOTH inline int32_t characters_of(std::string_view text) {
  int32_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) count += starts_character(text[i]);
  return count;
}

// The byte where character `count` begins, or that many before the end.
HR_BOTH inline size_t byte_of(std::string_view text, int64_t count) {
  if (count >= 0) {
    size_t at = 0;
    while (count-- > 0 && at < text.size()) at = next_character(text, at);
    return at;
  }
  size_t at = text.size();
  while (count < 0 && at > 0)
    if (starts_character(text[--at])) ++count;
  return at;
}

/// Characters [begin, end), negative ones from the end.
HR_BOTH inline std::string_view slice_of(std::string_view text, int64_t begin, int64_t end) {
  const size_t first = byte_of(text, begin);
  const size_t last = byte_of(text, end);
  return {text.data() + first, last > first ? last - first : 0};
}

/// Without the characters at its ends for which `is_gone` holds.
template <class F>
HR_BOTH inline std::string_view stripped(std::string_view text, bool left, bool right,
                                         const F& is_gone) {
  size_t begin = 0;
  size_t end = text.size();
  while (left && begin < end) {
    const Character each = character_at(text, begin);
    if (!is_gone(each.code)) break;
    begin += each.bytes;
  }
  while (right && end > begin) {
    const Character each = character_before(text, end);
    if (!is_gone(each.code)) break;
    end -= each.bytes;
  }
  return {text.data() + begin, end > begin ? end - begin : 0};
}

/// The view of `part`, which is a piece of the text that `whole` is the view of.
HR_BOTH inline StringView view_of_part(const StringView& whole, std::string_view text,
                                       std::string_view part) {
  StringView view{};
  view.size = static_cast<uint32_t>(part.size());
  if (part.size() <= sizeof view.inlined) {
    std::memcpy(view.inlined, part.data(), part.size());
    return view;
  }
  std::memcpy(view.indirect.prefix, part.data(), sizeof view.indirect.prefix);
  view.indirect.buffer = whole.indirect.buffer;
  view.indirect.offset = whole.indirect.offset + static_cast<uint32_t>(part.data() - text.data());
  return view;
}

}  // namespace hr
