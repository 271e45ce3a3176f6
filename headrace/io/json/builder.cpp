// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/json/builder.h"

#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/checked.h"

#include <algorithm>

namespace hr::json {

namespace {

constexpr int64_t kFirstRows = 64;
constexpr int64_t kMostFields = int64_t{1} << 16;

Buffer larger(const Buffer& old, int64_t used, int64_t bytes) {
  Buffer buffer = Buffer::allocate(bytes);
  char* const to = buffer.mutable_as<char>();
  if (used > 0) std::memcpy(to, old.data(), static_cast<size_t>(used));
  std::memset(to + used, 0, static_cast<size_t>(bytes - used));
  return buffer;
}

}  // namespace

std::string_view plural_of(Kind kind) {
  constexpr std::string_view kWords[] = {"nulls",   "bools", "numbers", "numbers",
                                         "strings", "times", "arrays",  "objects"};
  return kWords[static_cast<size_t>(kind)];
}

void TimeGuess::look(const char* text, int64_t size) {
  if (!possible) return;
  possible = false;
  if (size < 10 || size > 32) return;
  char room[96] = {};
  std::memcpy(room, text, static_cast<size_t>(size));
  const IsoTime when = parse_iso_time(room, room + size);
  if (when.end != room + size) return;
  possible = true;
  int64_t fits;
  (when.has_time ? time : day) = true;
  nanos |= when.nanos % 1000 != 0;
  far |= !fit_time(when, TimeUnit::kNano, &fits);
}

Dtype TimeGuess::dtype() const {
  if (!possible || (!day && !time) || (nanos && far)) return TypeId::kString;
  if (time) return Dtype::timestamp(nanos ? TimeUnit::kNano : TimeUnit::kMicro);
  return TypeId::kDate;
}

Builder& Fields::add(std::string_view name) {
  if (std::ssize(names) >= kMostFields)
    throw_error<UnsupportedError>("read_json", "objects have too many different keys",
                                  {{"most", kMostFields}},
                                  "read the objects as strings: dtypes={name: 'string'}");
  places.emplace(std::string(name), static_cast<uint32_t>(names.size()));
  names.emplace_back(name);
  is_plain.push_back(std::none_of(name.begin(), name.end(), [](char c) {
    return c == '"' || c == '\\' || static_cast<uint8_t>(c) < 0x20;
  }));
  builders.push_back(std::make_unique<Builder>());
  builders.back()->skipped = adds_skipped;
  return *builders.back();
}

Builder* Fields::find(std::string_view name) const {
  const auto at = places.find(name);
  return at == places.end() ? nullptr : builders[at->second].get();
}

void Fields::see(size_t ordinal, uint32_t place) {
  // Of rows that are hardly alike, an order longer than they are is of no use.
  if (ordinal < order.size())
    order[ordinal] = place;
  else if (ordinal == order.size())
    order.push_back(place);
  if (builders[place]->is_seen) return;
  builders[place]->is_seen = true;
  seen.push_back(place);
}

void Builder::grow(int64_t least) {
  const int64_t more = round_up(std::max({least, 2 * capacity, kFirstRows}), 64);
  if (const int64_t width = width_of(kind); width > 0) {
    values_buffer = larger(values_buffer, rows * width, checked_multiply("read_json", more, width));
    values = values_buffer.mutable_as<char>();
  }
  if (nulls) {
    nulls_buffer = larger(nulls_buffer, capacity / 8, more / 8);
    nulls = nulls_buffer.mutable_as<uint64_t>();
  }
  capacity = more;
}

void Builder::append_nulls(int64_t count) {
  if (count == 0) return;
  if (rows + count > capacity) grow(rows + count);
  if (!nulls) {
    nulls_buffer = Buffer::allocate_zeroed(capacity / 8);
    nulls = nulls_buffer.mutable_as<uint64_t>();
  }
  for (int64_t row = rows; row < rows + count; ++row) nulls[row >> 6] |= uint64_t{1} << (row & 63);
  if (const int64_t width = width_of(kind); width > 0)
    std::memset(values + rows * width, 0, static_cast<size_t>(count * width));
  null_count += count;
  rows += count;
}

std::optional<int64_t> Builder::time_of(const char* text, int64_t size) const {
  constexpr int64_t kMost = 64;
  char room[2 * kMost] = {};
  if (size > kMost) return std::nullopt;
  std::memcpy(room, text, static_cast<size_t>(size));
  const char* const end = room + size;
  IsoTime when = parse_iso_time(room, end);
  if (!when.end || (!zone && when.end != end) || (zone && !to_instant(*zone, when, end)))
    return std::nullopt;
  int64_t value = when.days;
  if (asked->is_date() ? when.has_time : !fit_time(when, asked->unit(), &value))
    return std::nullopt;
  return value;
}

bool Builder::become(Kind wanted) {
  if (kind == wanted) return true;
  if (kind == Kind::kNull) {
    kind = wanted;
    values_buffer = {};
    values = nullptr;
    if (const int64_t width = width_of(kind); width > 0 && capacity > 0) {
      values_buffer = Buffer::allocate_zeroed(capacity * width);
      values = values_buffer.mutable_as<char>();
    }
    return true;
  }
  if (kind == Kind::kFloat && wanted == Kind::kInteger) return true;
  if (kind != Kind::kInteger || wanted != Kind::kFloat) return false;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t whole;
    std::memcpy(&whole, values + 8 * row, 8);
    const double value =
        large ? static_cast<double>(static_cast<uint64_t>(whole)) : static_cast<double>(whole);
    std::memcpy(values + 8 * row, &value, 8);
  }
  kind = Kind::kFloat;
  return true;
}

std::unique_ptr<Builder> Builder::prototype() const {
  auto made = std::make_unique<Builder>();
  made->kind = kind;
  made->fixed = kind != Kind::kNull || asked;
  made->skipped = skipped;
  made->asked = asked;
  made->zone = zone;
  made->fields.adds_skipped = fields.adds_skipped;
  if (items) made->items = items->prototype();
  for (size_t f = 0; f < fields.names.size(); ++f) {
    made->fields.add(fields.names[f]);
    made->fields.builders.back() = fields.builders[f]->prototype();
  }
  return made;
}

}  // namespace hr::json
