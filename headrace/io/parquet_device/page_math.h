// SPDX-License-Identifier: Apache-2.0
// Pages of flat columns from their bytes to rows, by blocks of threads. What contradicts the
// format, or what is not surely read as on the host, refuses the chunk: the host then reads it.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/data/column.h"
#include "headrace/io/parquet/schema.h"
#include "headrace/io/parquet_device/delta_block_math.h"
#include "headrace/io/parquet_device/hybrid_block_math.h"
#include "headrace/io/parquet_device/snappy_block_math.h"
#include "headrace/io/parquet_device/zstd_block_math.h"

#include <cstddef>

namespace hr::parquet {

/// How a page has its values.
enum class PageForm : uint8_t { kFixed, kBits, kBitRuns, kText, kCoded, kDelta };

/// How its bytes are packed.
enum class PagePacking : uint8_t { kNone, kSnappy, kZstd };

/// A column chunk, and where it goes. Addresses are the device's.
struct DeviceChunk {
  PhysicalType physical = PhysicalType::kInt32;
  Conversion conversion = Conversion::kNone;
  TypeId type = TypeId::kInt32;
  bool may_be_null = false;
  uint32_t stored_bytes = 0;  ///< 0 of strings and bools
  uint32_t width = 0;         ///< of a value of ours; 0 of bools
  uint64_t limit_low = 0;     ///< of decimals: the least number with too many digits
  uint64_t limit_high = 0;
  std::byte* values = nullptr;      ///< of the column's first row; of bools a bitmap of zeros
  uint32_t* validity = nullptr;     ///< a bitmap of zeros; null where nothing may be null
  std::byte* dictionary = nullptr;  ///< values as ours
  uint32_t dictionary_size = 0;
  uint32_t first_text = 0;             ///< the number of the dictionary's text; the pages' is next
  uint8_t* dictionary_text = nullptr;  ///< of strings: their bytes, which stay
  uint8_t* text = nullptr;
  uint32_t* refused = nullptr;
  unsigned long long* nulls = nullptr;  ///< of the column
};

struct DevicePage {
  uint32_t chunk = 0;
  uint32_t num_values = 0;  ///< nulls counted
  int64_t first_row = 0;    ///< of the column
  uint64_t packed = 0;  ///< where its bytes lie among those of the batch: levels of version 2 first
  uint32_t packed_bytes = 0;  ///< without these levels
  uint32_t level_bytes = 0;   ///< of version 2
  uint64_t unpacked = 0;      ///< where they go: in the batch's room, or in text that stays
  uint32_t unpacked_bytes = 0;
  PageForm form = PageForm::kFixed;
  bool is_dictionary = false;
  bool is_version_two = false;
  PagePacking packing = PagePacking::kNone;
  uint64_t zstd = 0;         ///< among the batch's words: what zstd_words counts
  uint64_t valid = 0;        ///< among the batch's words: a bitmap, and values before each word
  uint64_t dense = 0;        ///< the same: a number for each value that is there, of kDelta two
  uint32_t first_slice = 0;  ///< of the batch, for who writes rows
};

/// What is found out about a page.
struct PageValues {
  const uint8_t* bytes;  ///< of the values that are there
  uint32_t size;
  uint32_t count;
};

/// Pages that are read together.
struct PageBatch {
  const DevicePage* pages = nullptr;
  int64_t num_pages = 0;
  PageValues* values = nullptr;  ///< one per page
  const DeviceChunk* chunks = nullptr;
  const uint8_t* packed = nullptr;
  uint8_t* unpacked = nullptr;
  uint32_t* words = nullptr;
};

inline constexpr uint32_t kSliceRows = 4096;

/// Slices of a page: rows between multiples of `kSliceRows` of the column.
HR_BOTH inline uint32_t slices_of(const DevicePage& page) {
  if (page.is_dictionary || page.num_values == 0) return 0;
  return static_cast<uint32_t>((page.first_row + page.num_values - 1) / kSliceRows -
                               page.first_row / kSliceRows + 1);
}

HR_BOTH inline const uint8_t* packed_bytes(const PageBatch& batch, const DevicePage& page) {
  return batch.packed + page.packed + page.level_bytes;
}

/// Where the bytes of a page lie when it is unpacked.
HR_BOTH inline uint8_t* unpacked_bytes(const PageBatch& batch, const DevicePage& page) {
  const DeviceChunk& chunk = batch.chunks[page.chunk];
  if (chunk.conversion == Conversion::kText) {
    if (page.is_dictionary) return chunk.dictionary_text;
    if (page.form == PageForm::kText) return chunk.text + page.unpacked;
  }
  if (page.packing == PagePacking::kNone) return const_cast<uint8_t*>(packed_bytes(batch, page));
  return batch.unpacked + page.unpacked;
}

HR_BOTH inline bool is_refused(const DeviceChunk& chunk) {
  return *static_cast<volatile const uint32_t*>(chunk.refused) != 0;
}

/// The same rule as the host's `utf8_sequence`.
HR_BOTH inline bool is_utf8(const uint8_t* text, uint32_t size) {
  for (uint32_t i = 0; i < size;) {
    const uint32_t first = text[i];
    if (first < 0x80) {
      ++i;
      continue;
    }
    if (first < 0xC2 || first > 0xF4) return false;
    const uint32_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (size - i <= more) return false;
    const uint32_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const uint32_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[i + 1] < low || text[i + 1] > high) return false;
    for (uint32_t k = 2; k <= more; ++k)
      if (text[i + k] < 0x80 || text[i + k] > 0xBF) return false;
    i += more + 1;
  }
  return true;
}

/// A value of at most 16 bytes.
struct WideValue {
  uint64_t low = 0;
  uint64_t high = 0;
};

/// The same of eight bytes each, as far as these are ASCII; kReadSlack bytes behind it are
/// readable.
HR_BOTH inline bool is_text(const uint8_t* text, uint32_t size) {
  constexpr uint64_t kHigh = 0x8080808080808080;
  for (uint32_t i = 0; i < size; i += 8) {
    const uint32_t left = size - i;
    const uint64_t kept = left < 8 ? ~(~uint64_t{0} << 8 * left) : ~uint64_t{0};
    if ((load_eight(text + i) & kept & kHigh) != 0) return is_utf8(text + i, left);
  }
  return true;
}

/// The view of a string of which `text` has the bytes, from `offset` of its buffer on. False: it is
/// not UTF-8.
HR_BOTH inline bool view_of(const uint8_t* text, uint32_t size, uint32_t buffer, uint64_t offset,
                            WideValue& view) {
  if (offset > 0xFFFFFFFFu || !is_text(text, size)) return false;
  const uint64_t first = load_eight(text);
  if (size > 12) {
    view = {size | first << 32, buffer | offset << 32};
    return true;
  }
  const uint64_t low = size < 8 ? first & ~(~uint64_t{0} << 8 * size) : first;
  const uint64_t high = size > 8 ? load_four(text + 8) & low_bits(8 * (size - 8)) : 0;
  view = {size | low << 32, low >> 32 | high << 32};
  return true;
}

HR_BOTH inline uint64_t load_bytes(const uint8_t* from, uint32_t count) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < count; ++i) value |= uint64_t{from[i]} << 8 * i;
  return value;
}

HR_BOTH inline uint32_t float_bits_of_half(uint32_t half) {
  const uint32_t sign = (half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
  if (exponent == 31) return sign | 0x7F800000 | fraction << 13;
  if (exponent == 0) {
    if (fraction == 0) return sign;
    for (exponent = 1; (fraction & 0x400) == 0; --exponent) fraction <<= 1;
    fraction &= 0x3FF;
  }
  return sign | (exponent + 112) << 23 | fraction << 13;
}

/// A big-endian integer of at most 16 bytes, or an integer of the host's order; false: it has too
/// many digits.
HR_BOTH inline bool decimal_of(const DeviceChunk& chunk, const uint8_t* stored, WideValue& value) {
  if (chunk.physical == PhysicalType::kFixed) {
    if (chunk.stored_bytes > 16) return false;
    const uint64_t filler = (stored[0] & 128) != 0 ? ~uint64_t{0} : 0;
    value = {filler, filler};
    for (uint32_t i = 0; i < chunk.stored_bytes; ++i) {
      value.high = value.high << 8 | value.low >> 56;
      value.low = value.low << 8 | stored[i];
    }
  } else {
    value.low = chunk.stored_bytes == 4
                    ? static_cast<uint64_t>(static_cast<int32_t>(load_four(stored)))
                    : load_eight(stored);
    value.high = static_cast<int64_t>(value.low) < 0 ? ~uint64_t{0} : 0;
  }
  WideValue size = value;
  if (value.high >> 63) {
    size.low = ~value.low + 1;
    size.high = ~value.high + (size.low == 0);
  }
  return size.high < chunk.limit_high ||
         (size.high == chunk.limit_high && size.low < chunk.limit_low);
}

template <class To>
HR_BOTH bool narrow_to(int32_t stored, WideValue& value) {
  const auto fitted = static_cast<To>(stored);
  value.low = static_cast<uint64_t>(fitted);
  return stored == static_cast<int32_t>(fitted);
}

/// A stored value of a fixed width as one of ours; false: it does not fit.
HR_BOTH inline bool value_of(const DeviceChunk& chunk, const uint8_t* stored, WideValue& value) {
  switch (chunk.conversion) {
    case Conversion::kNone:
      value.low = chunk.stored_bytes == 8 ? load_eight(stored) : load_four(stored);
      return true;
    case Conversion::kNarrow: {
      const auto whole = static_cast<int32_t>(load_four(stored));
      if (chunk.type == TypeId::kInt8) return narrow_to<int8_t>(whole, value);
      if (chunk.type == TypeId::kUInt8) return narrow_to<uint8_t>(whole, value);
      if (chunk.type == TypeId::kInt16) return narrow_to<int16_t>(whole, value);
      return narrow_to<uint16_t>(whole, value);
    }
    case Conversion::kWiden:
      value.low = static_cast<uint64_t>(static_cast<int32_t>(load_four(stored)));
      return true;
    case Conversion::kSeconds: {
      const auto millis = static_cast<int64_t>(load_eight(stored));
      value.low = static_cast<uint64_t>(millis / 1000);
      return millis % 1000 == 0;
    }
    case Conversion::kHalf:
      value.low = float_bits_of_half(static_cast<uint32_t>(load_bytes(stored, 2)));
      return true;
    case Conversion::kDecimal:
      return decimal_of(chunk, stored, value);
    default:
      return false;
  }
}

/// Of a value's lowest bytes; `to` is aligned.
HR_BOTH inline void store_value(std::byte* to, uint32_t width, const WideValue& value) {
  switch (width) {
    case 1:
      *reinterpret_cast<uint8_t*>(to) = static_cast<uint8_t>(value.low);
      return;
    case 2:
      *reinterpret_cast<uint16_t*>(to) = static_cast<uint16_t>(value.low);
      return;
    case 4:
      *reinterpret_cast<uint32_t*>(to) = static_cast<uint32_t>(value.low);
      return;
    case 8:
      *reinterpret_cast<uint64_t*>(to) = value.low;
      return;
    default:
      reinterpret_cast<uint64_t*>(to)[0] = value.low;
      reinterpret_cast<uint64_t*>(to)[1] = value.high;
  }
}

HR_BOTH inline WideValue load_value(const std::byte* from, uint32_t width) {
  switch (width) {
    case 1:
      return {*reinterpret_cast<const uint8_t*>(from), 0};
    case 2:
      return {*reinterpret_cast<const uint16_t*>(from), 0};
    case 4:
      return {*reinterpret_cast<const uint32_t*>(from), 0};
    case 8:
      return {*reinterpret_cast<const uint64_t*>(from), 0};
    default:
      return {reinterpret_cast<const uint64_t*>(from)[0],
              reinterpret_cast<const uint64_t*>(from)[1]};
  }
}

/// Refuses the chunk of a page if `is_right` is false, which is the same for all threads.
template <class Block>
HR_BOTH void check_page(const Block& block, const DeviceChunk& chunk, bool is_right) {
  block.one([&] {
    if (!is_right) *chunk.refused = 1;
  });
}

/// Words that a page needs while it is unpacked from zstd; their place is a multiple of four.
HR_BOTH inline uint64_t zstd_words(uint32_t unpacked) {
  return (uint64_t{unpacked} + kReadSlack + 15) / 16 * 4 + 2 * uint64_t{most_sequences(unpacked)};
}

template <class Block>
HR_BOTH void unpack_zstd_page(const Block& block, ZstdWindow& window, const PageBatch& batch,
                              const DevicePage& page) {
  uint32_t* const words = batch.words + page.zstd;
  const uint32_t most = most_sequences(page.unpacked_bytes);
  const uint64_t behind = zstd_words(page.unpacked_bytes) - 2 * uint64_t{most};
  const ZstdRoom room{reinterpret_cast<uint8_t*>(words),
                      reinterpret_cast<uint64_t*>(words + behind), most};
  check_page(block, batch.chunks[page.chunk],
             unpack_zstd(block, window, room, packed_bytes(batch, page), page.packed_bytes,
                         unpacked_bytes(batch, page), page.unpacked_bytes));
}

/// Unpacks the bytes of a page, unless zstd did, to where they belong.
template <class Block>
HR_BOTH void unpack_page(const Block& block, SnappyWindow& window, const PageBatch& batch,
                         const DevicePage& page) {
  const DeviceChunk& chunk = batch.chunks[page.chunk];
  const uint8_t* const packed = packed_bytes(batch, page);
  uint8_t* const out = unpacked_bytes(batch, page);
  if (page.packing == PagePacking::kSnappy)
    check_page(block, chunk,
               unpack_snappy(block, window, packed, page.packed_bytes, out, page.unpacked_bytes));
  else if (page.packing == PagePacking::kNone && out != packed)
    block.copy(out, packed, page.unpacked_bytes);
}

/// What blocks of threads share that decode pages.
union PageWindow {
  ChainWindow chain;
  HybridRuns runs;
  DeltaSteps steps;
  uint32_t counts[1024];
};

/// Makes the values of a dictionary from its unpacked page.
template <class Block>
HR_BOTH void read_dictionary(const Block& block, PageWindow& window, const PageBatch& batch,
                             const DevicePage& page) {
  const DeviceChunk& chunk = batch.chunks[page.chunk];
  const uint8_t* const bytes = unpacked_bytes(batch, page);
  const uint32_t count = page.num_values, size = page.unpacked_bytes;
  uint32_t* const places = batch.words + page.dense;
  const bool is_text = chunk.conversion == Conversion::kText;
  if (is_text) {
    if (!find_strings(block, window.chain, bytes, size, count, places))
      return check_page(block, chunk, false);
  } else if (count > size / chunk.stored_bytes) {
    return check_page(block, chunk, false);
  }
  const bool is_wrong = block.any(count, [&](int64_t i) {
    WideValue value;
    bool fits;
    if (is_text) {
      const uint8_t* const at = bytes + places[i];
      fits = view_of(at + 4, load_four(at), chunk.first_text, places[i] + uint64_t{4}, value);
    } else {
      fits = value_of(chunk, bytes + i * chunk.stored_bytes, value);
    }
    store_value(chunk.dictionary + i * chunk.width, chunk.width, value);
    return !fits;
  });
  check_page(block, chunk, !is_wrong);
}

/// Finds which rows of a page are there, and of values that do not lie side by side the places.
template <class Block>
HR_BOTH bool begin_page(const Block& block, PageWindow& window, const PageBatch& batch,
                        const DevicePage& page, PageValues& values) {
  const DeviceChunk& chunk = batch.chunks[page.chunk];
  const uint8_t* bytes = unpacked_bytes(batch, page);
  uint32_t size = page.unpacked_bytes, there = page.num_values;
  if (chunk.may_be_null) {
    HybridBytes levels{batch.packed + page.packed, page.level_bytes, 1};
    if (!page.is_version_two) {
      if (size < 4) return false;
      levels = {bytes + 4, load_four(bytes), 1};
      if (levels.size > size - 4) return false;
      bytes += 4 + levels.size;
      size -= 4 + levels.size;
    }
    uint32_t* const valid = batch.words + page.valid;
    if (!read_bits(block, window.runs, levels, page.num_values, valid)) return false;
    const uint32_t num_words = (page.num_values + 31) / 32;
    uint32_t* const ranks = valid + num_words;
    there = 0;
    for (uint32_t begin = 0; begin < num_words; begin += 1024) {
      const uint32_t some = num_words - begin < 1024 ? num_words - begin : 1024;
      block.each(some, [&](int64_t i) {
        window.counts[i] = static_cast<uint32_t>(count_ones(valid[begin + i]));
      });
      const uint32_t all = block.scan(window.counts, static_cast<int>(some));
      block.each(some, [&](int64_t i) { ranks[begin + i] = there + window.counts[i]; });
      there += all;
    }
  }
  block.one([&] { values = {bytes, size, there}; });
  if (there == 0) return true;  // it need not have what comes before values then
  uint32_t* const dense = batch.words + page.dense;
  switch (page.form) {
    case PageForm::kFixed:
      return there <= size / chunk.stored_bytes;
    case PageForm::kBits:
      return there <= uint64_t{size} * 8;
    case PageForm::kText:
      return find_strings(block, window.chain, bytes, size, there, dense);
    case PageForm::kBitRuns:
      return size >= 4 && load_four(bytes) <= size - 4 &&
             read_bits(block, window.runs, {bytes + 4, load_four(bytes), 1}, there, dense);
    case PageForm::kCoded: {
      if (size == 0 || bytes[0] > 32) return false;
      const HybridBytes indices{bytes + 1, size - 1, bytes[0]};
      return read_integers(block, window.runs, indices, there, chunk.dictionary_size, dense);
    }
    case PageForm::kDelta:
      return read_delta(block, window.steps, {bytes, size}, there, dense);
  }
  return false;
}

/// A row of a page.
struct PageRow {
  bool is_valid = false;
  bool fits = true;
  WideValue value{};  ///< of bools 0 or 1
};

HR_BOTH inline PageRow read_row(const PageBatch& batch, const DevicePage& page,
                                const PageValues& values, uint32_t slot) {
  const DeviceChunk& chunk = batch.chunks[page.chunk];
  PageRow row;
  uint32_t at = slot;
  if (chunk.may_be_null) {
    const uint32_t* const valid = batch.words + page.valid;
    const uint32_t word = valid[slot / 32];
    if ((word >> slot % 32 & 1) == 0) return row;
    at = valid[(page.num_values + 31) / 32 + slot / 32] +
         static_cast<uint32_t>(count_ones(word & low_bits(slot % 32)));
  }
  row.is_valid = true;
  const uint32_t* const dense = batch.words + page.dense;
  switch (page.form) {
    case PageForm::kFixed:
      row.fits = value_of(chunk, values.bytes + uint64_t{at} * chunk.stored_bytes, row.value);
      break;
    case PageForm::kBits:
      row.value.low = values.bytes[at / 8] >> at % 8 & 1;
      break;
    case PageForm::kBitRuns:
      row.value.low = dense[at / 32] >> at % 32 & 1;
      break;
    case PageForm::kText: {
      const uint8_t* const text = values.bytes + dense[at];
      row.fits = view_of(text + 4, load_four(text), chunk.first_text + 1,
                         static_cast<uint64_t>(text - chunk.text) + 4, row.value);
      break;
    }
    case PageForm::kCoded:
      row.value = load_value(chunk.dictionary + uint64_t{dense[at]} * chunk.width, chunk.width);
      break;
    case PageForm::kDelta:
      row.fits =
          value_of(chunk, reinterpret_cast<const uint8_t*>(dense + 2 * uint64_t{at}), row.value);
      break;
  }
  return row;
}

}  // namespace hr::parquet
