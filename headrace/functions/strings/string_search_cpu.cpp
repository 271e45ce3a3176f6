// SPDX-License-Identifier: Apache-2.0
// Search in strings on the CPU.
#define HWY_TARGET_INCLUDE "headrace/functions/strings/string_search_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/functions/strings/string_search_kernels.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

size_t find_by_byte(std::string_view text, std::string_view part) {
  return text.find(part);
}

#if HWY_TARGET == HWY_SCALAR
size_t find_text(std::string_view text, std::string_view part) {
  return find_by_byte(text, part);
}
#else
namespace hn = hwy::HWY_NAMESPACE;

// At least a vector of places where the part may begin, by three of its bytes; the last places are
// compared twice.
template <class D>
size_t find_at_places(D d, std::string_view text, std::string_view part, size_t places) {
  const size_t lanes = hn::Lanes(d);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto first = hn::Set(d, static_cast<uint8_t>(part.front()));
  const size_t middle = part.size() / 2;
  const auto inner = hn::Set(d, static_cast<uint8_t>(part[middle]));
  const auto last = hn::Set(d, static_cast<uint8_t>(part.back()));
  for (size_t at = 0;; at = std::min(at + lanes, places - lanes)) {
    const auto same = hn::And(hn::And(hn::Eq(hn::LoadU(d, bytes + at), first),
                                      hn::Eq(hn::LoadU(d, bytes + at + part.size() - 1), last)),
                              hn::Eq(hn::LoadU(d, bytes + at + middle), inner));
    uint8_t mask[16] = {};  // at least 8 bytes are written
    hn::StoreMaskBits(d, same, mask);
    uint64_t hits;
    std::memcpy(&hits, mask, sizeof hits);
    for (; hits; hits &= hits - 1) {
      const size_t place = at + static_cast<size_t>(std::countr_zero(hits));
      if (std::memcmp(text.data() + place, part.data(), part.size()) == 0) return place;
    }
    if (at + lanes == places) return std::string_view::npos;
  }
}

template <class T>
uint64_t read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A string of 1 to 16 bytes, followed by zeros; reads no other byte.
void load_short(std::string_view text, uint64_t (&words)[2]) {
  const char* const data = text.data();
  const size_t size = text.size(), behind = 8 * (size & 7);
  if (size >= 8) {
    words[0] = read<uint64_t>(data);
    words[1] = size == 8 ? 0 : read<uint64_t>(data + size - 8) >> (size == 16 ? 0 : 64 - behind);
    return;
  }
  words[1] = 0;
  if (size >= 4)
    words[0] = read<uint32_t>(data) | read<uint32_t>(data + size - 4) << (behind - 32);
  else
    words[0] = read<uint8_t>(data) | read<uint8_t>(data + size / 2) << (8 * (size / 2)) |
               read<uint8_t>(data + size - 1) << (behind - 8);
}

// The part in a string of at most 16 bytes, which one vector holds.
template <class D>
size_t find_in_short(D d, std::string_view text, std::string_view part) {
  uint64_t words[2];
  load_short(text, words);
  const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(words));
  const auto places_of = [&](char byte) {
    uint8_t mask[8] = {};
    hn::StoreMaskBits(d, hn::Eq(bytes, hn::Set(d, static_cast<uint8_t>(byte))), mask);
    return read<uint32_t>(reinterpret_cast<const char*>(mask));
  };
  const uint64_t places = (uint64_t{1} << (text.size() - part.size() + 1)) - 1;
  uint64_t hits = places_of(part.front()) & (places_of(part.back()) >> (part.size() - 1)) & places;
  for (; hits; hits &= hits - 1) {
    const auto place = static_cast<size_t>(std::countr_zero(hits));
    if (part.size() <= 2 || std::memcmp(text.data() + place, part.data(), part.size()) == 0)
      return place;
  }
  return std::string_view::npos;
}

size_t find_text(std::string_view text, std::string_view part) {
  if (part.size() > text.size()) return std::string_view::npos;
  if (part.empty()) return 0;
  const hn::CappedTag<uint8_t, 16> one;
  if (text.size() <= 16 && hn::Lanes(one) == 16) return find_in_short(one, text, part);
  const size_t places = text.size() - part.size() + 1;
  const hn::CappedTag<uint8_t, 64> widest;  // where many strings are one text
  if (places >= 4 * hn::Lanes(widest)) return find_at_places(widest, text, part, places);
  const hn::CappedTag<uint8_t, 32> wide;
  if (places >= hn::Lanes(wide)) return find_at_places(wide, text, part, places);
  const hn::CappedTag<uint8_t, 16> narrow;
  if (places >= hn::Lanes(narrow)) return find_at_places(narrow, text, part, places);
  return find_by_byte(text, part);
}
#endif

}  // namespace

cpu::FindText text_search() {
  return &find_text;
}

}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

FindText find_text() {
  return HR_SIMD(text_search)();
}

}  // namespace hr::cpu
#endif
