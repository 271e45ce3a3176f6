// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/ipc/strings.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/utf8.h"
#include "headrace/exchange/string_views.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hr::ipc {

namespace {

constexpr int64_t kPartRows = int64_t{1} << 14;  // whose offsets, text and views the caches hold
// Of views: 2^14 at a time take 26.5 ms for 6 million, 2^16 25.4, 2^18 24 to 34.
constexpr int64_t kPartViews = int64_t{1} << 16;
constexpr int64_t kPartBytes = int64_t{1} << 22;
constexpr int64_t kShortBytes = sizeof(StringView::inlined);
constexpr int64_t kViewBytes = sizeof(StringView);
constexpr int64_t kReadAhead = 16;  // bytes behind text, for loads of whole views

std::string_view text_of(const Buffer& bytes) {
  return {bytes.as<char>(), static_cast<size_t>(bytes.size_bytes())};
}

bool is_packed(const Batch& batch) {
  return batch.codec != BodyCodec::kNone;
}

}  // namespace

bool StringReading::can_read(const Field& field, const std::vector<Batch>& batches,
                             const std::vector<FieldPlace>& places) {
  if (field.dictionary || (field.format != "u" && field.format != "U" && field.format != "vu"))
    return false;
  if (field.layout == Layout::kViews) return true;
  for (size_t b = 0; b < batches.size(); ++b)
    if (is_packed(batches[b]) ||
        buffer_bytes(batches[b], places[b].buffer + 2) > std::numeric_limits<uint32_t>::max())
      return field.layout == Layout::kOffsets32;
  return true;
}

StringReading::StringReading(std::string_view op, const ByteSource& text, const Field& field,
                             const std::vector<Batch>& batches, std::vector<FieldPlace> places,
                             int64_t rows, ScratchPool<BodyMemory>& memories)
    : op_(op),
      text_(text),
      field_(field),
      batches_(batches),
      places_(std::move(places)),
      rows_(rows),
      memories_(memories) {
  int64_t row = 0;
  const int64_t width = field.layout == Layout::kOffsets64 ? 8 : 4;
  for (size_t b = 0; b < batches.size(); ++b) {
    const int64_t count = batches[b].length;
    first_row_.push_back(row);
    row += count;
    first_text_.push_back(texts_.size());
    const int64_t texts = field.layout == Layout::kViews ? views_of(places_[b], batches[b]) : 1;
    for (int64_t i = 0; i < texts; ++i) texts_.push_back(std::make_unique<Text>());
    place_texts(b);
    check_buffer(batches[b], places_[b].buffer + 1,
                 field.layout == Layout::kViews ? checked_multiply(op, count, kViewBytes)
                 : count == 0                   ? 0
                                                : checked_multiply(op, count + 1, width));
  }
  if (stores_.size() > std::numeric_limits<uint32_t>::max())
    throw Damage("a column has an impossible number of buffers of strings");
  if (field.layout != Layout::kViews)
    record_copy(op, "string offsets become views", rows * kViewBytes, false);
  views_ = Buffer::allocate_spillable(checked_multiply(op, rows, kViewBytes));
}

// One after the other in one buffer, of which views can reach 4 GiB: writers make buffers of 32
// KiB, which would be too small to leave memory. Unpacked text is stored as it comes.
void StringReading::place_texts(size_t batch) {
  int64_t used = std::numeric_limits<int64_t>::max();
  for (size_t t = first_text_[batch]; t < texts_.size(); ++t) {
    const int64_t size =
        is_packed(batches_[batch])
            ? std::numeric_limits<uint32_t>::max()
            : buffer_bytes(batches_[batch], places_[batch].buffer + 2 + (t - first_text_[batch]));
    if (used > std::numeric_limits<uint32_t>::max() - size) {
      stores_.push_back(std::make_unique<Store>());
      used = 0;
    }
    texts_[t]->store = stores_.size() - 1;
    texts_[t]->begin = used;
    texts_[t]->size = size;
    used += size;
  }
}

void StringReading::plan(std::vector<BatchTask>& first, std::vector<BatchTask>& second) {
  for (size_t b = 0; b < batches_.size(); ++b) {
    if (batches_[b].length == 0) continue;
    if (field_.layout == Layout::kOffsets32) plan_offsets<int32_t>(b, first);
    if (field_.layout == Layout::kOffsets64) plan_offsets<int64_t>(b, first);
    if (field_.layout == Layout::kViews) plan_views(b, first, second);
  }
}

Column StringReading::finish(Buffer validity) {
  views_.seal();
  std::vector<Buffer> texts;
  const bool has_text =
      std::ranges::any_of(stores_, [](const auto& store) { return bool(store->bytes); });
  for (const auto& store : stores_) {
    if (!has_text) break;
    if (store->bytes) store->bytes.seal();
    texts.push_back(store->bytes ? store->bytes : Buffer::allocate(0));
  }
  const int64_t nulls = validity ? -1 : 0;
  return Column::strings(rows_, std::move(views_), std::move(texts), std::move(validity), nulls);
}

Buffer StringReading::validity_of(size_t batch, int64_t begin, int64_t rows) const {
  const Batch& of = batches_[batch];
  const FieldNode& node = of.nodes[places_[batch].node];
  if (node.null_count == 0) return {};
  if (is_packed(of)) return read_buffer(text_, of, places_[batch].buffer, bitmap_bytes(of.length));
  Buffer bits = Buffer::allocate(bitmap_bytes(rows));
  read_plain(text_, of, places_[batch].buffer, begin / 8, bits.mutable_as<char>(),
             bits.size_bytes());
  return bits;
}

void StringReading::keep(Store& store, int64_t size, int64_t begin, std::string_view part) {
  char* out;
  {
    const std::lock_guard lock(store.mutex);
    if (!store.bytes) store.bytes = Buffer::allocate_spillable(size);
    out = store.bytes.mutable_as<char>();
  }
  const Pin pin{{&store.bytes, begin, begin + std::ssize(part), true}};
  std::memcpy(out + begin, part.data(), part.size());
}

// ---- offsets
// -------------------------------------------------------------------------------------
template <class Offset>
void StringReading::plan_offsets(size_t batch, std::vector<BatchTask>& tasks) {
  if (is_packed(batches_[batch])) {
    tasks.push_back({batch, [this, batch] {
                       memories_.lend(
                           [&](BodyMemory& memory) { read_packed_offsets<Offset>(batch, memory); });
                     }});
    return;
  }
  const int64_t rows = batches_[batch].length;
  const int64_t size = buffer_bytes(batches_[batch], places_[batch].buffer + 2);
  // Where most are longer than a view holds, text is read to its place at once.
  Store& store = *stores_[batch];
  store.is_placed = size / kShortBytes > rows;
  if (store.is_placed) store.bytes = Buffer::allocate_spillable(size);
  for (int64_t begin = 0; begin < rows; begin += kPartRows)
    tasks.push_back({batch, [this, batch, begin, count = std::min(kPartRows, rows - begin)] {
                       read_offsets<Offset>(batch, begin, count);
                     }});
}

template <class Offset>
void StringReading::read_offsets(size_t batch, int64_t begin, int64_t rows) {
  constexpr int64_t kWidth = sizeof(Offset);
  const Batch& of = batches_[batch];
  const FieldPlace& place = places_[batch];
  Buffer offsets = Buffer::allocate((rows + 1) * kWidth);
  read_plain(text_, of, place.buffer + 1, begin * kWidth, offsets.mutable_as<char>(),
             offsets.size_bytes());
  const Offset* const at = offsets.as<Offset>();
  const int64_t from = at[0], to = at[rows], held = buffer_bytes(of, place.buffer + 2);
  if (from < 0 || to < from || to > held)
    throw Damage("the offsets of a string column are not increasing");
  Store& store = *stores_[batch];  // one a batch
  const auto number = static_cast<uint32_t>(batch);
  StringView* const views = views_at(batch, begin);
  const Buffer validity = validity_of(batch, begin, rows);
  const uint8_t* const bits = validity ? validity.as<uint8_t>() : nullptr;
  const TextOrigin origin{op_, field_.name, begin};
  const int64_t at_view = (first_row_[batch] + begin) * kViewBytes;
  const PinnedRange wanted{&views_, at_view, at_view + rows * kViewBytes, true};
  if (store.is_placed) {
    char* const out = store.bytes.mutable_as<char>() + from;
    const Pin pin{wanted, {&store.bytes, from, to, true}};
    read_plain(text_, of, place.buffer + 2, from, out, to - from);
    write_views(origin, rows, at, TextPiece{out, from, to - from, to - from, number}, bits, 0,
                views);
    return;
  }
  Buffer part = Buffer::allocate(to - from + kReadAhead);
  read_plain(text_, of, place.buffer + 2, from, part.mutable_as<char>(), to - from);
  const TextPiece piece{part.as<char>(), from, to - from, part.size_bytes(), number};
  bool has_long;
  {
    const Pin pin{wanted};
    has_long = write_views(origin, rows, at, piece, bits, 0, views);
  }
  if (has_long) keep(store, held, from, {part.as<char>(), static_cast<size_t>(to - from)});
}

template <class Offset>
void StringReading::read_packed_offsets(size_t batch, BodyMemory& memory) {
  const Batch& of = batches_[batch];
  const FieldPlace& place = places_[batch];
  const int64_t rows = of.length, width = sizeof(Offset);
  const auto* const at = reinterpret_cast<const Offset*>(
      unpack_buffer(text_, of, place.buffer + 1, (rows + 1) * width, memory.offsets, memory)
          .data());
  if (at[rows] < 0) throw Damage("an offset of a string is negative");
  const std::string_view bytes =
      unpack_buffer(text_, of, place.buffer + 2, at[rows], memory.text, memory);
  const Buffer validity = validity_of(batch, 0, rows);
  const auto number = static_cast<uint32_t>(batch);
  const int64_t size = std::ssize(bytes);
  const int64_t readable = size > 0 ? memory.text.size_bytes() : 0;
  const TextPiece piece{bytes.data(), 0, size, readable, number};
  const int64_t at_view = first_row_[batch] * kViewBytes;
  bool has_long;
  {
    const Pin pin{{&views_, at_view, at_view + rows * kViewBytes, true}};
    has_long = write_views(TextOrigin{op_, field_.name, 0}, rows, at, piece,
                           validity ? validity.as<uint8_t>() : nullptr, 0, views_at(batch, 0));
  }
  if (has_long) {
    memory.text.shrink(size);
    stores_[batch]->bytes = std::move(memory.text);
  }
}

// ---- views
// ---------------------------------------------------------------------------------------
void StringReading::plan_views(size_t batch, std::vector<BatchTask>& first,
                               std::vector<BatchTask>& second) {
  const Batch& of = batches_[batch];
  for (size_t t = first_text_[batch]; t < end_of_texts(batch); ++t) {
    Store& store = *stores_[texts_[t]->store];
    if (!is_packed(of) && !store.bytes) {
      size_t last = t;
      while (last + 1 < end_of_texts(batch) && texts_[last + 1]->store == texts_[t]->store) ++last;
      const int64_t size = texts_[last]->begin + texts_[last]->size;
      if (size > 0) store.bytes = Buffer::allocate_spillable(size);
    }
    const int64_t step = is_packed(of) ? texts_[t]->size : kPartBytes;
    for (int64_t begin = 0; begin < texts_[t]->size; begin += step)
      first.push_back(
          {batch, [this, batch, t, begin, count = std::min(step, texts_[t]->size - begin)] {
             read_text(batch, t, begin, count);
           }});
  }
  const int64_t step = is_packed(of) ? of.length : kPartViews;
  for (int64_t begin = 0; begin < of.length; begin += step)
    second.push_back({batch, [this, batch, begin, count = std::min(step, of.length - begin)] {
                        read_views(batch, begin, count);
                      }});
}

void StringReading::read_text(size_t batch, size_t number, int64_t begin, int64_t size) {
  Text& text = *texts_[number];
  Store& store = *stores_[text.store];
  const size_t buffer = places_[batch].buffer + 2 + (number - first_text_[batch]);
  if (is_packed(batches_[batch])) {
    store.bytes = read_buffer(text_, batches_[batch], buffer, 0);
    text.size = store.bytes ? store.bytes.size_bytes() : 0;
    if (store.bytes && !is_ascii(text_of(store.bytes))) text.is_ascii = false;
    return;
  }
  const int64_t at = text.begin + begin;
  char* const out = store.bytes.mutable_as<char>() + at;
  const Pin pin{{&store.bytes, at, at + size, true}};
  read_plain(text_, batches_[batch], buffer, begin, out, size);
  if (!is_ascii({out, static_cast<size_t>(size)})) text.is_ascii = false;
}

void StringReading::read_views(size_t batch, int64_t begin, int64_t rows) {
  const Batch& of = batches_[batch];
  const FieldPlace& place = places_[batch];
  std::vector<ViewedText> texts;
  for (size_t t = first_text_[batch]; t < end_of_texts(batch); ++t) {
    const Text& text = *texts_[t];
    const Buffer& bytes = stores_[text.store]->bytes;
    const auto size = static_cast<size_t>(bytes ? text.size : 0);
    texts.push_back({{size > 0 ? bytes.as<char>() + text.begin : nullptr, size},
                     text.is_ascii,
                     static_cast<uint32_t>(text.store),
                     static_cast<uint32_t>(text.begin)});
  }
  const Buffer validity = validity_of(batch, begin, rows);
  StringView* const views = views_at(batch, begin);
  const int64_t at_view = (first_row_[batch] + begin) * kViewBytes;
  const Pin pin{{&views_, at_view, at_view + rows * kViewBytes, true}};
  auto* const out = reinterpret_cast<char*>(views);
  if (is_packed(of)) {
    memories_.lend([&](BodyMemory& memory) {
      unpack_buffer(text_, of, place.buffer + 1, out, rows * kViewBytes, memory);
    });
  } else {
    read_plain(text_, of, place.buffer + 1, begin * kViewBytes, out, rows * kViewBytes);
  }
  mend_views(TextOrigin{op_, field_.name, begin}, rows, texts,
             validity ? validity.as<uint8_t>() : nullptr, 0, views);
}

}  // namespace hr::ipc
