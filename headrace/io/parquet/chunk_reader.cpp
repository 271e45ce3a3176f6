// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/chunk_reader.h"

#include "headrace/algo/bits/bitmap_writer.h"
#include "headrace/algo/select/concat.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/utf8.h"
#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/convert.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace hr::parquet {

namespace {

constexpr const char* kOp = "read_parquet";

// Bitmaps are read in whole words.
int64_t word_bytes(int64_t bits) {
  return divide_up(bits, 64) * 8;
}

StringView view_of(std::string_view text, uint32_t buffer, uint64_t offset) {
  StringView view{};
  view.size = static_cast<uint32_t>(text.size());
  if (text.size() <= sizeof view.inlined) {
    if (!text.empty()) std::memcpy(view.inlined, text.data(), text.size());
    return view;
  }
  if (offset > UINT32_MAX) unsupported("a row group has more than 4 GiB of text in a column");
  std::memcpy(view.indirect.prefix, text.data(), sizeof view.indirect.prefix);
  view.indirect.buffer = buffer;
  view.indirect.offset = static_cast<uint32_t>(offset);
  return view;
}

// What a string of at most 12 bytes has of eight and of four more, by its size.
struct InlineMask {
  uint64_t first;
  uint32_t last;
};

constexpr std::array<InlineMask, 13> kInlineMasks = [] {
  std::array<InlineMask, 13> masks{};
  for (uint32_t size = 0; size < masks.size(); ++size) {
    masks[size].first = size < 8 ? (uint64_t{1} << 8 * size) - 1 : ~uint64_t{0};
    const uint32_t rest = size < 8 ? 0 : size - 8;
    masks[size].last = static_cast<uint32_t>((uint64_t{1} << 8 * rest) - 1);
  }
  return masks;
}();

// Writes the view of a string of at most 12 bytes, of which 12 can be read: as two words, since
// what was stored in parts is slow to load as a whole.
void put_inline_view(const char* text, uint32_t size, std::byte* out) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t first;
  uint32_t last;
  std::memcpy(&first, text, sizeof first);
  std::memcpy(&last, text + 8, sizeof last);
  first &= kInlineMasks[size].first;
  last &= kInlineMasks[size].last;
  const uint64_t low = size | first << 32, high = first >> 32 | uint64_t{last} << 32;
  std::memcpy(out, &low, sizeof low);
  std::memcpy(out + 8, &high, sizeof high);
}

// Strings of a block mostly lie side by side, with their sizes between them, which are ASCII as
// well.
void check_utf8(const std::string_view* texts, int64_t count) {
  if (count == 0) return;
  const char* const begin = texts[0].data();
  const char* const end = texts[count - 1].data() + texts[count - 1].size();
  if (begin && begin <= end && is_ascii({begin, static_cast<size_t>(end - begin)})) return;
  for (int64_t i = 0; i < count; ++i)
    if (!is_valid_utf8(texts[i]))
      damaged("byte " + std::to_string(valid_utf8_bytes(texts[i])) +
              " of a string is not UTF-8: '" + printable(texts[i]) + "'");
}

// The bits that a level up to `most` takes.
int level_bits(int most) {
  return std::bit_width(static_cast<unsigned>(most));
}

// The levels of version 1 that a page begins with, behind their size; what follows stays.
std::string_view take_levels(std::string_view& bytes, Encoding encoding) {
  if (encoding != Encoding::kRle) unsupported("levels that are packed as by the first writers");
  uint32_t size;
  if (bytes.size() < 4) damaged("the levels of a page are cut off");
  std::memcpy(&size, bytes.data(), 4);
  if (size > bytes.size() - 4) damaged("the levels of a page are longer than the page");
  const std::string_view levels = bytes.substr(4, size);
  bytes.remove_prefix(4 + size_t{size});
  return levels;
}

// Both kinds of levels of a page, and the values behind them.
struct Parts {
  Parts(const Leaf& leaf, const Page& page) : values(page.bytes) {
    const PageHeader& header = page.header;
    if (header.kind == PageKind::kDataV2) {
      repetition = page.levels.substr(0, static_cast<size_t>(header.repetition_bytes));
      definition = page.levels.substr(static_cast<size_t>(header.repetition_bytes));
      return;
    }
    if (leaf.max_repetition > 0) repetition = take_levels(values, header.repetition_encoding);
    if (leaf.max_definition > 0) definition = take_levels(values, header.definition_encoding);
  }

  std::string_view repetition{};
  std::string_view definition{};
  std::string_view values;
};

bool may_be_null(const Leaf& leaf) {
  const int items = leaf.lists.empty() ? 0 : leaf.lists.back().item;
  return leaf.max_definition > items;
}

}  // namespace

FlatRows::FlatRows(const Leaf& leaf, int64_t rows) {
  if (leaf.dtype.is_bool())
    values = Buffer::allocate_zeroed(word_bytes(rows));
  else
    values = Buffer::allocate_spillable(checked_multiply(kOp, rows, leaf.dtype.size_bytes()));
  if (may_be_null(leaf)) validity = Buffer::allocate_zeroed(word_bytes(rows));
}

RowsTarget FlatRows::target(int64_t row) {
  RowsTarget to{.row = row};
  if (values) to.values = values.mutable_data();
  if (validity) to.validity = validity.mutable_data();
  return to;
}

Column FlatRows::finish(const Leaf& leaf, int64_t rows, int64_t nulls, std::vector<Buffer> text) {
  values.seal();
  Buffer valid = nulls > 0 ? std::move(validity) : Buffer();
  if (leaf.dtype.is_string())
    return Column::strings(rows, std::move(values), std::move(text), std::move(valid), nulls);
  return Column(leaf.dtype, rows, std::move(values), std::move(valid), nulls);
}

ChunkReader::ChunkReader(const ByteSource& source, const Leaf& leaf, const ColumnChunk& chunk,
                         int64_t rows, int64_t read_bytes, uint32_t first_text, PageMemory memory)
    : leaf_(leaf),
      pages_(source, chunk, read_bytes,
             {.window = std::move(memory.window), .unpacked = std::move(memory.unpacked)}),
      rows_(rows),
      rows_left_(rows),
      entries_left_(chunk.num_values),
      first_text_(first_text) {
  dictionary_ = std::move(memory.dictionary);
  if (chunk.type != leaf.physical) damaged("a column has another type than the schema says");
  if (leaf.max_repetition == 0 && chunk.num_values != rows)
    damaged("a column has other values than its row group has rows");
}

PageMemory ChunkReader::take_memory() && {
  PageMemory memory = std::move(pages_).take_memory();
  memory.dictionary = std::move(dictionary_);
  return memory;
}

void ChunkReader::set_places(std::vector<PagePlace> places) {
  places_ = std::move(places);
  if (places_.empty() || places_[0].offset == pages_.at()) return;
  // What lies before the data: the dictionary.
  pages_.read_until(places_[0].offset);
  while (pages_.at() < places_[0].offset) {
    Page page;
    if (!pages_.next(page)) damaged("a page index has a page outside of its column");
    if (page.header.kind == PageKind::kData || page.header.kind == PageKind::kDataV2)
      damaged("a page index leaves a page out");
    load_page(page);
  }
}

int64_t ChunkReader::end_of(size_t place) const {
  return place + 1 < places_.size() ? places_[place + 1].first_row : rows_;
}

// Moves past pages of which no row of the next `count` is picked, by their places, to one that has
// some or that goes on behind these rows; gives the number of rows that were passed. The picked
// pages behind that one are read with it.
int64_t ChunkReader::jump(int64_t count, const uint8_t* mask, int64_t first) {
  const int64_t begin = row(), end = begin + count;
  while (place_ < places_.size() && places_[place_].first_row < begin) ++place_;
  if (place_ == places_.size() || places_[place_].first_row != begin)
    damaged("the pages of a column are others than its page index says");
  const auto has_wanted = [&](size_t p) {
    const int64_t from = places_[p].first_row, to = std::min(end_of(p), end);
    return mask ? count_bits(mask, first + from - begin, to - from) > 0 : false;
  };
  while (place_ < places_.size() && end_of(place_) <= end && !has_wanted(place_)) ++place_;
  if (place_ == places_.size()) {
    rows_left_ = 0;
    return rows_ - begin;
  }
  size_t last = place_;
  while (last + 1 < places_.size() && places_[last + 1].first_row < end && has_wanted(last + 1))
    ++last;
  pages_.seek(places_[place_].offset);
  pages_.read_until(places_[last].offset + places_[last].bytes);
  rows_left_ = rows_ - places_[place_].first_row;
  return row() - begin;
}

// Lets the pages of the next `count` rows be read together, and no others.
void ChunkReader::read_ahead(int64_t count) {
  if (places_.empty()) return;
  const int64_t end = row() + count;
  const auto behind =
      std::partition_point(places_.begin(), places_.end(),
                           [end](const PagePlace& place) { return place.first_row < end; });
  if (behind == places_.begin()) return;
  const PagePlace& last = *std::prev(behind);
  pages_.read_until(last.offset + last.bytes);
}

void ChunkReader::next_page() {
  Page page;
  if (!pages_.next(page)) damaged("a column has fewer values than its row group has rows");
  load_page(page);
}

// Leaves `slots_` as it is for pages that are no data.
void ChunkReader::load_page(Page& page) {
  pages_.load(page);
  if (page.header.kind == PageKind::kDictionary) return load_dictionary(page);
  if (page.header.kind == PageKind::kIndex) return;
  slot_ = 0;
  if (leaf_.max_repetition > 0 || leaf_.keeps_levels)
    list_levels(page);
  else
    flat_levels(page);
}

// Moves past pages of which no row is picked, and begins the next one, unless all `count` rows are
// over; gives the number of rows that were passed.
int64_t ChunkReader::skip_pages(int64_t count, const uint8_t* mask, int64_t first) {
  int64_t passed = 0;
  while (slot_ == slots_ && passed < count) {
    if (!places_.empty()) passed += jump(count - passed, mask, first + passed);
    if (passed == count) break;
    Page page;
    if (!pages_.next(page)) damaged("a column has fewer values than its row group has rows");
    const int64_t rows = page.header.num_values;
    const bool is_data =
        page.header.kind == PageKind::kData || page.header.kind == PageKind::kDataV2;
    if (!places_.empty() && (!is_data || rows != end_of(place_) - places_[place_].first_row))
      damaged("the pages of a column are others than its page index says");
    if (places_.empty() && is_data && rows <= std::min(count - passed, rows_left_) &&
        (!mask || count_bits(mask, first + passed, rows) == 0)) {
      pages_.skip(page);
      rows_left_ -= rows;
      passed += rows;
    } else {
      load_page(page);
    }
  }
  return passed;
}

void ChunkReader::flat_levels(const Page& page) {
  const Parts parts(leaf_, page);
  slots_ = page.header.num_values;
  if (slots_ > rows_left_) damaged("a column has more values than its row group has rows");
  rows_left_ -= slots_;
  all_valid_ = true;
  if (leaf_.max_definition > 0) {
    valid_ = Buffer::allocate_zeroed(word_bytes(slots_));
    HybridReader levels(parts.definition, 1);
    if (slots_ > 0)
      all_valid_ = levels.read_bits(slots_, valid_.mutable_as<uint64_t>(), 0) == slots_;
  }
  begin_values(page.header, parts.values);
}

// Adds the levels to those of the pages before; the slots of this one are the items of its lists.
void ChunkReader::list_levels(const Page& page) {
  const Parts parts(leaf_, page);
  const int64_t entries = page.header.num_values;
  if (entries > entries_left_) damaged("a column has more values than it says");
  entries_left_ -= entries;
  HybridReader repetition(parts.repetition, level_bits(leaf_.max_repetition));
  HybridReader definition(parts.definition, level_bits(leaf_.max_definition));
  valid_ = Buffer::allocate_zeroed(word_bytes(entries));
  slots_ = 0;
  int64_t valid = 0;
  const auto item = leaf_.lists.empty() ? 0u : static_cast<uint32_t>(leaf_.lists.back().item);
  std::array<uint32_t, kBlock> reps{}, defs{};
  for (int64_t done = 0; done < entries;) {
    const int64_t some = std::min(entries - done, kBlock);
    if (leaf_.max_repetition > 0) repetition.read(some, reps.data());
    if (leaf_.max_definition > 0) definition.read(some, defs.data());
    char* const out = levels_.reserve(2 * some);
    for (int64_t i = 0; i < some; ++i) {
      const uint32_t r = reps[static_cast<size_t>(i)], d = defs[static_cast<size_t>(i)];
      if (r > static_cast<uint32_t>(leaf_.max_repetition) ||
          d > static_cast<uint32_t>(leaf_.max_definition))
        damaged("a level is out of range");
      if (r == 0 && --rows_left_ < 0) damaged("a column has more rows than its row group");
      out[2 * i] = static_cast<char>(r);
      out[2 * i + 1] = static_cast<char>(d);
      if (d < item) continue;
      if (d == static_cast<uint32_t>(leaf_.max_definition)) {
        set_bit(valid_.mutable_as<uint8_t>(), slots_, true);
        ++valid;
      }
      ++slots_;
    }
    levels_.advance(2 * some);
    done += some;
  }
  all_valid_ = valid == slots_;
  begin_values(page.header, parts.values);
}

void ChunkReader::begin_values(const PageHeader& header, std::string_view bytes) {
  values_ = nullptr;
  is_coded_ =
      header.encoding == Encoding::kRleDictionary || header.encoding == Encoding::kPlainDictionary;
  // A page without values need not have what comes before them.
  if (slots_ == 0 || (!all_valid_ && count_bits(valid_.as<uint8_t>(), 0, slots_) == 0)) return;
  if (!is_coded_) {
    values_ = read_values(leaf_, header.encoding, bytes, header.num_values);
    return;
  }
  if (!has_dictionary_) damaged("a column has indices and no dictionary");
  if (bytes.empty()) damaged("a page is cut off");
  indices_ = HybridReader(bytes.substr(1), static_cast<uint8_t>(bytes[0]));
}

void ChunkReader::load_dictionary(const Page& page) {
  if (has_dictionary_) damaged("a column has two dictionaries");
  const int64_t count = page.header.num_values;
  const int64_t least = std::max<int64_t>(leaf_.stored_bytes, 4);
  if ((page.header.encoding != Encoding::kPlain &&
       page.header.encoding != Encoding::kPlainDictionary) ||
      leaf_.physical == PhysicalType::kBoolean)
    damaged("a dictionary has an encoding that dictionaries do not have");
  const int64_t each = leaf_.stored_bytes > 0 ? leaf_.stored_bytes : least;
  if (count > static_cast<int64_t>(page.bytes.size()) / each)
    damaged("a dictionary has fewer values than it says");
  if (leaf_.conversion == Conversion::kNull && count > 0)
    damaged("a column of nulls has a dictionary with values");
  has_dictionary_ = true;
  dictionary_size_ = count;
  if (leaf_.conversion == Conversion::kNull) return;
  if (const int64_t bytes = count * leaf_.dtype.size_bytes();
      !dictionary_ || dictionary_.size_bytes() < bytes)
    dictionary_ = Buffer::allocate(bytes);
  std::byte* const out = count > 0 ? dictionary_.mutable_data() : nullptr;
  values_ = read_values(leaf_, Encoding::kPlain, page.bytes, count);
  if (leaf_.conversion == Conversion::kText) {
    // Views into the page itself, which stays.
    std::array<std::string_view, kBlock> texts;
    const char* const readable = page.bytes.data() + page.bytes.size();
    bool is_far = false;
    for (int64_t done = 0; done < count;) {
      const int64_t some = std::min(count - done, kBlock);
      values_->texts(some, texts.data());
      check_utf8(texts.data(), some);
      for (int64_t i = 0; i < some; ++i) {
        const std::string_view text = texts[static_cast<size_t>(i)];
        std::byte* const to = out + 16 * (done + i);
        if (text.size() <= 12 && readable - text.data() >= 12) {
          put_inline_view(text.data(), static_cast<uint32_t>(text.size()), to);
          continue;
        }
        const StringView view =
            view_of(text, first_text_, static_cast<uint64_t>(text.data() - page.bytes.data()));
        is_far |= view.size > sizeof view.inlined;
        std::memcpy(to, &view, sizeof view);
      }
      done += some;
    }
    if (is_far) dictionary_text_ = pages_.take();
  } else if (leaf_.conversion == Conversion::kUuid) {
    RowsTarget own;
    read_encoded(count, out, own);
    for (int64_t i = 0; i < count; ++i) {  // they number the target's text
      auto* const view = reinterpret_cast<StringView*>(out) + i;
      view->indirect.buffer = first_text_;
    }
    dictionary_text_ = own.text.finish();
  } else {
    RowsTarget none;
    read_encoded(count, out, none);
  }
  values_ = nullptr;
}

void ChunkReader::read(int64_t count, RowsTarget& to) {
  while (count > 0) {
    if (slot_ == slots_) {
      read_ahead(count);
      next_page();
      continue;
    }
    const int64_t some = std::min(count, slots_ - slot_);
    read_slots(some, to);
    count -= some;
  }
}

void ChunkReader::read(int64_t count, const FlatRows& rows, RowsTarget& to) {
  const int64_t width = leaf_.dtype.is_bool() ? 0 : leaf_.dtype.size_bytes();
  while (count > 0) {
    const int64_t some = std::min(count, kPinnedRows);
    const Pin pin{{&rows.values, to.row * width, (to.row + some) * width, true}};
    read(some, to);
    count -= some;
  }
}

void ChunkReader::read_slots(int64_t count, RowsTarget& to) {
  const uint8_t* const valid = all_valid_ ? nullptr : valid_.as<uint8_t>();
  const int64_t dense = valid ? count_bits(valid, slot_, count) : count;
  if (to.validity) {
    const BitmapWriter validity(to.validity);
    if (valid)
      put_bits(validity, to.row, valid, slot_, count);
    else
      put_ones(validity, to.row, count);
  } else if (dense < count) {
    damaged("a column without nulls has a null");
  }
  if (leaf_.dtype.is_bool()) {
    read_bools(count, to);
  } else {
    const int64_t width = leaf_.dtype.size_bytes();
    std::byte* const out = to.values + to.row * width;
    read_dense(dense, out, to);
    if (dense < count) spread(out, width, valid, slot_, count, dense);
  }
  to.nulls += count - dense;
  to.row += count;
  slot_ += count;
}

// Rows of a bitmap; those of nulls stay zero.
void ChunkReader::read_bools(int64_t count, RowsTarget& to) {
  const BitmapWriter out(to.values);
  const uint8_t* const valid = all_valid_ ? nullptr : valid_.as<uint8_t>();
  BlockBits dense;
  for (int64_t done = 0; done < count;) {
    const int64_t some = std::min(count - done, kBlock);
    const int64_t there = valid ? count_bits(valid, slot_ + done, some) : some;
    const uint8_t* const bits = bool_block(there, dense);
    if (!valid) {
      put_bits(out, to.row + done, bits, 0, some);
    } else {
      for (int64_t i = 0, next = 0; i < some; ++i)
        if (get_bit(valid, slot_ + done + i))
          out.put(to.row + done + i, get_bit(bits, next++) ? 1 : 0, 1);
    }
    done += some;
  }
}

const uint8_t* ChunkReader::bool_block(int64_t count, BlockBits& bits) {
  bits.fill(0);
  if (count > 0) {
    if (!values_) damaged("the values of a page have another form than its column");
    values_->bits(count, bits.data());
  }
  return reinterpret_cast<const uint8_t*>(bits.data());
}

void ChunkReader::read_dense(int64_t count, std::byte* out, RowsTarget& to) {
  if (count == 0) return;
  if (leaf_.conversion == Conversion::kNull) damaged("a column of nulls has a value");
  if (is_coded_)
    read_indices(count, out);
  else
    read_encoded(count, out, to);
}

void ChunkReader::read_indices(int64_t count, std::byte* out) {
  const int64_t width = leaf_.dtype.size_bytes();
  std::array<uint32_t, kBlock> indices;
  for (int64_t done = 0; done < count;) {
    const int64_t some = std::min(count - done, kBlock);
    indices_.read(some, indices.data());
    put_indices(indices.data(), some, out + done * width);
    done += some;
  }
}

// Values that are in no dictionary.
void ChunkReader::read_encoded(int64_t count, std::byte* out, RowsTarget& to) {
  if (leaf_.conversion == Conversion::kNone) return values_->fixed(count, out);
  const bool is_text =
      leaf_.conversion == Conversion::kText && leaf_.physical == PhysicalType::kByteArray;
  const int64_t width = leaf_.dtype.size_bytes();
  std::array<std::string_view, kBlock> texts;
  for (int64_t done = 0; done < count;) {
    int64_t some = std::min(count - done, kBlock);
    if (const int64_t put = is_text ? values_->short_views(some, out + done * width) : 0; put > 0) {
      some = put;
    } else if (leaf_.physical == PhysicalType::kByteArray) {
      values_->texts(some, texts.data());
      put_texts(texts.data(), some, out + done * width, to);
    } else {
      std::byte* const block = stored_block();
      values_->fixed(some, block);
      put_fixed(block, some, out + done * width, to);
    }
    done += some;
  }
}

void ChunkReader::put_indices(const uint32_t* indices, int64_t count, std::byte* out) {
  if (cpu::greatest(indices, count) >= dictionary_size_)
    damaged("an index lies outside of its dictionary");
  cpu::gather(dictionary_.data(), leaf_.dtype.size_bytes(), indices, count, out);
}

std::byte* ChunkReader::stored_block() {
  if (!stored_) stored_ = Buffer::allocate(kBlock * leaf_.stored_bytes);
  return stored_.mutable_data();
}

void ChunkReader::put_fixed(const std::byte* stored, int64_t count, std::byte* out,
                            RowsTarget& to) {
  if (leaf_.conversion != Conversion::kUuid) return convert(leaf_, stored, count, out);
  char* const text = to.text.reserve(count * kUuidCharacters);
  for (int64_t i = 0; i < count; ++i) {
    format_uuid(stored + 16 * i, text + kUuidCharacters * i);
    const StringView view = view_of({text + kUuidCharacters * i, kUuidCharacters}, first_text_ + 1,
                                    static_cast<uint64_t>(to.text.size() + kUuidCharacters * i));
    std::memcpy(out + 16 * i, &view, sizeof view);
  }
  to.text.advance(count * kUuidCharacters);
}

void ChunkReader::put_texts(const std::string_view* texts, int64_t count, std::byte* out,
                            RowsTarget& to) {
  if (count == 0) return;
  if (leaf_.conversion == Conversion::kDecimal) {
    for (int64_t i = 0; i < count; ++i) decimal_of_bytes(texts[i], out + 16 * i);
    return check_digits(leaf_.dtype, out, count);
  }
  check_utf8(texts, count);
  if (leaf_.conversion == Conversion::kCategory) {
    for (int64_t i = 0; i < count; ++i) {
      const int32_t code = categories_.add(texts[i]);
      std::memcpy(out + 4 * i, &code, sizeof code);
    }
    return;
  }
  const char* const readable = texts[count - 1].data() + texts[count - 1].size();  // in order
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view text = texts[i];
    std::byte* const view_at = out + 16 * i;
    if (text.size() <= 12 && readable - text.data() >= 12) {
      put_inline_view(text.data(), static_cast<uint32_t>(text.size()), view_at);
      continue;
    }
    const StringView view = view_of(text, first_text_ + 1, static_cast<uint64_t>(to.text.size()));
    if (view.size > sizeof view.inlined) to.text.append(text);
    std::memcpy(view_at, &view, sizeof view);
  }
}

Column ChunkReader::flat_column(int64_t slots, FlatRows rows, int64_t nulls, ByteBuffer text) {
  if (leaf_.conversion != Conversion::kCategory)
    return rows.finish(leaf_, slots, nulls, {dictionary_text_, text.finish()});
  rows.values.seal();
  return Column(TypeId::kInt32, slots, std::move(rows.values),
                nulls > 0 ? std::move(rows.validity) : Buffer(), nulls);
}

Column ChunkReader::read_dictionary() {
  Page page;
  if (!pages_.next(page) || page.header.kind != PageKind::kDictionary)
    damaged("a column has no dictionary where it says");
  load_page(page);
  const int64_t values = dictionary_size_, rows = values + 1;
  Buffer made = Buffer::allocate_zeroed(rows * leaf_.dtype.size_bytes());
  Buffer valid = Buffer::allocate_zeroed(word_bytes(rows));
  put_ones(BitmapWriter(valid.mutable_data()), 0, values);
  if (values > 0)
    std::memcpy(made.mutable_data(), dictionary_.data(),
                static_cast<size_t>(values * leaf_.dtype.size_bytes()));
  if (leaf_.conversion == Conversion::kCategory)
    return Column::categories(rows, std::move(made), categories_.finish(leaf_.is_ordered),
                              std::move(valid), 1);
  if (leaf_.dtype.is_string())
    return Column::strings(rows, std::move(made), {dictionary_text_}, std::move(valid), 1);
  return Column(leaf_.dtype, rows, std::move(made), std::move(valid), 1);
}

Column ChunkReader::read_all() {
  const int64_t rows = rows_left_;
  FlatRows made(leaf_, rows);
  RowsTarget to = made.target(0);
  read(rows, made, to);
  const Column codes = flat_column(rows, std::move(made), to.nulls, std::move(to.text));
  if (leaf_.conversion != Conversion::kCategory) return codes;
  return Column::categories(rows, codes.values_buffer(), categories_.finish(leaf_.is_ordered),
                            codes.validity_buffer(), codes.null_count());
}

Column ChunkReader::read_items() {
  std::vector<Column> parts;
  while (entries_left_ > 0) {
    next_page();
    if (slots_ == 0) continue;
    FlatRows made(leaf_, slots_);
    RowsTarget to = made.target(0);
    {
      const Pin pin{{&made.values, 0, made.values.size_bytes(), true}};
      read_slots(slots_, to);
    }
    parts.push_back(flat_column(to.row, std::move(made), to.nulls, std::move(to.text)));
  }
  if (rows_left_ != 0) damaged("a column has fewer rows than its row group");
  const bool is_coded = leaf_.conversion == Conversion::kCategory;
  const Dtype dtype = is_coded ? Dtype(TypeId::kInt32) : leaf_.dtype;
  Column items = parts.empty() ? Column(dtype, 0, {}) : concatenate(kOp, dtype, parts);
  if (is_coded)
    items = Column::categories(items.num_rows(), items.values_buffer(),
                               categories_.finish(leaf_.is_ordered), items.validity_buffer(),
                               items.null_count());
  return items;
}

}  // namespace hr::parquet
