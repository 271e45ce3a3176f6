// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet_device/page_plan.h"

#include "headrace/base/checked.h"
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/pages.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"

#include <algorithm>
#include <cstring>

namespace hr::parquet {

namespace {

constexpr int64_t kHeaderBytes = 512;
constexpr int64_t kPartBytes = int64_t{512} << 10;    // that a worker reads at once
constexpr int64_t kMostZstdBytes = int64_t{8} << 20;  // of a page: one block of threads has it
constexpr int64_t kMostUnpackedBytes = int64_t{256} << 20;
constexpr int64_t kMostWords = int64_t{128} << 20;  // of 4 bytes

int64_t aligned(int64_t bytes) {
  return divide_up(bytes, 16) * 16;
}

bool is_unpacked_here(const PlannedPage& page) {
  return page.is_packed && page.page.packing == PagePacking::kNone;
}

bool is_coded(Encoding encoding) {
  return encoding == Encoding::kRleDictionary || encoding == Encoding::kPlainDictionary;
}

PageForm form_of(const Leaf& leaf, Encoding encoding) {
  const bool is_bool = leaf.physical == PhysicalType::kBoolean;
  if (is_coded(encoding) && !is_bool) return PageForm::kCoded;
  if (encoding == Encoding::kRle && is_bool) return PageForm::kBitRuns;
  const bool is_integer =
      leaf.physical == PhysicalType::kInt32 || leaf.physical == PhysicalType::kInt64;
  if (encoding == Encoding::kDeltaBinaryPacked && is_integer) return PageForm::kDelta;
  if (encoding != Encoding::kPlain)
    unsupported("an encoding has no kernel: encoding=" +
                std::to_string(static_cast<int>(encoding)));
  if (is_bool) return PageForm::kBits;
  return leaf.physical == PhysicalType::kByteArray ? PageForm::kText : PageForm::kFixed;
}

// The page behind a header; its bytes begin at `offset`.
PlannedPage planned(const ChunkSource& of, const PageHeader& header, int64_t offset,
                    ChunkPlan& plan) {
  if (header.checksum) unsupported("pages have checksums");
  PlannedPage made{.offset = offset, .bytes = header.compressed_bytes};
  DevicePage& page = made.page;
  int64_t packed = header.compressed_bytes, unpacked = header.uncompressed_bytes;
  page.is_version_two = header.kind == PageKind::kDataV2;
  if (page.is_version_two) {
    if (header.repetition_bytes > 0 || header.definition_bytes > std::min(packed, unpacked))
      damaged("the levels of a page are longer than the page");
    page.level_bytes = static_cast<uint32_t>(header.definition_bytes);
    packed -= header.definition_bytes;
    unpacked -= header.definition_bytes;
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (packed > kMost || unpacked > kMost || header.num_values > kMost)
    unsupported("a page has 2 GiB or more");
  const Codec codec = of.chunk->codec;
  made.is_packed = codec != Codec::kNone && header.is_compressed;
  if (made.is_packed ? unpacked > most_unpacked(codec, packed) : packed != unpacked)
    damaged("a page says that it is larger than its bytes can be");
  if (made.is_packed && codec == Codec::kSnappy) page.packing = PagePacking::kSnappy;
  const bool is_longer = packed > 2 * unpacked + 4096;  // many blocks of nothing
  if (made.is_packed && codec == Codec::kZstd && unpacked <= kMostZstdBytes && !is_longer)
    page.packing = PagePacking::kZstd;
  plan.is_unpacked_here |= is_unpacked_here(made);
  page.packed_bytes = static_cast<uint32_t>(is_unpacked_here(made) ? unpacked : packed);
  page.unpacked_bytes = static_cast<uint32_t>(unpacked);
  page.num_values = static_cast<uint32_t>(header.num_values);
  return made;
}

void add_dictionary(const ChunkSource& of, const PageHeader& header, int64_t offset,
                    ChunkPlan& plan) {
  const Leaf& leaf = *of.leaf;
  PlannedPage made = planned(of, header, offset, plan);
  const bool is_plain =
      header.encoding == Encoding::kPlain || header.encoding == Encoding::kPlainDictionary;
  if (!plan.pages.empty() || !is_plain || leaf.physical == PhysicalType::kBoolean)
    damaged("a dictionary stands where or as none does");
  const int64_t each = leaf.stored_bytes > 0 ? leaf.stored_bytes : 4;
  if (header.num_values > made.page.unpacked_bytes / each)
    damaged("a dictionary has fewer values than it says");
  made.page.is_dictionary = true;
  plan.dictionary_size = made.page.num_values;
  plan.dictionary_bytes = made.page.unpacked_bytes;
  plan.pages.push_back(made);
}

void add_data(const ChunkSource& of, const PageHeader& header, int64_t offset, int64_t row,
              ChunkPlan& plan) {
  const Leaf& leaf = *of.leaf;
  PlannedPage made = planned(of, header, offset, plan);
  DevicePage& page = made.page;
  if (leaf.max_definition > 0 && !page.is_version_two &&
      header.definition_encoding != Encoding::kRle)
    unsupported("levels that are packed as by the first writers");
  page.form = form_of(leaf, header.encoding);
  page.first_row = of.first_row + row;
  if (page.form == PageForm::kText) {
    page.unpacked = static_cast<uint64_t>(plan.text_bytes);
    plan.text_bytes += aligned(page.unpacked_bytes);
    if (plan.text_bytes > std::numeric_limits<uint32_t>::max())
      unsupported("a row group has more than 4 GiB of text in a column");
  }
  plan.pages.push_back(made);
}

// At most about these words are a page's own: of zstd, or of its rows.
int64_t words_of(const DevicePage& page) {
  const bool is_zstd = page.packing == PagePacking::kZstd;
  return (is_zstd ? static_cast<int64_t>(zstd_words(page.unpacked_bytes)) : 0) +
         3 * int64_t{page.num_values};
}

// Words that a page takes, and where they lie.
int64_t place_words(DevicePage& page, const DeviceChunk& chunk, int64_t at) {
  const int64_t rows = page.num_values, bits = divide_up(rows, 32);
  if (page.packing == PagePacking::kZstd) {
    at = divide_up(at, 4) * 4;
    page.zstd = static_cast<uint64_t>(at);
    at += static_cast<int64_t>(zstd_words(page.unpacked_bytes));
  }
  page.valid = static_cast<uint64_t>(at);
  if (chunk.may_be_null && !page.is_dictionary) at += 2 * bits;
  page.dense = static_cast<uint64_t>(at);
  if (page.is_dictionary) return at + (chunk.conversion == Conversion::kText ? rows : 0);
  if (page.form == PageForm::kCoded || page.form == PageForm::kText) return at + rows;
  if (page.form == PageForm::kDelta) return at + 2 * rows;
  return at + (page.form == PageForm::kBitRuns ? bits : 0);
}

// Rows need the dictionary of their chunk, and pages that take long to decode come before the last
// bytes are copied.
enum class PageTurn : uint8_t { kDictionary, kSlow, kQuick };

PageTurn turn_of(const DevicePage& page) {
  if (page.is_dictionary) return PageTurn::kDictionary;
  const bool has_copies =
      page.packing != PagePacking::kNone && page.packed_bytes < page.unpacked_bytes / 16 * 15;
  const bool is_serial = page.form == PageForm::kText || page.form == PageForm::kDelta;
  return has_copies || is_serial ? PageTurn::kSlow : PageTurn::kQuick;
}

class Batches {
 public:
  Batches(int64_t piece_bytes, int64_t batch_bytes)
      : plan_{.piece_bytes = piece_bytes}, batch_bytes_(batch_bytes) {}

  // Pages of one turn.
  void add(const ChunkSource& of, const ChunkPlan& chunk, uint32_t number, PageTurn turn) {
    const DeviceChunk there = device_chunk(of, chunk);
    for (const PlannedPage& planned : chunk.pages) {
      if (turn_of(planned.page) != turn) continue;
      const int64_t bytes = int64_t{planned.page.level_bytes} + planned.page.packed_bytes;
      const int64_t slack = is_unpacked_here(planned) ? kUnpackSlack : kReadSlack;
      BatchPlan& batch = batch_for(bytes, planned.page);
      DevicePage page = planned.page;
      page.chunk = number;
      int64_t to = aligned(batch.room_bytes);
      if (const int64_t rest = plan_.piece_bytes - to % plan_.piece_bytes; bytes + slack > rest)
        to += rest;
      page.packed = static_cast<uint64_t>(to);
      batch.room_bytes = to + bytes + slack;
      const bool stays =
          of.leaf->dtype.is_string() && (page.is_dictionary || page.form == PageForm::kText);
      batch.has_zstd |= page.packing == PagePacking::kZstd;
      if (page.packing != PagePacking::kNone && !stays) {
        page.unpacked = static_cast<uint64_t>(batch.unpacked_bytes);
        batch.unpacked_bytes += aligned(page.unpacked_bytes + kReadSlack);
      }
      batch.words = place_words(page, there, batch.words);
      page.first_slice = batch.slices;
      batch.slices += slices_of(page);
      add_reads(of, planned, static_cast<uint64_t>(to), batch);
      batch.pages.push_back(page);
    }
  }

  PagePlan finish() && {
    for (const BatchPlan& batch : plan_.batches)
      plan_.room_bytes = std::max(plan_.room_bytes, batch.room_bytes);
    return std::move(plan_);
  }

 private:
  BatchPlan& batch_for(int64_t bytes, const DevicePage& page) {
    if (plan_.batches.empty() ||
        (!plan_.batches.back().pages.empty() &&
         (plan_.batches.back().room_bytes + bytes > batch_bytes_ ||
          plan_.batches.back().unpacked_bytes + page.unpacked_bytes > kMostUnpackedBytes ||
          plan_.batches.back().words + words_of(page) > kMostWords)))
      plan_.batches.emplace_back();
    return plan_.batches.back();
  }

  static void add_reads(const ChunkSource& of, const PlannedPage& page, uint64_t to,
                        BatchPlan& batch) {
    if (is_unpacked_here(page)) {
      batch.reads.push_back({&of, page.offset, page.bytes, to, &page});
      return;
    }
    for (int64_t at = 0; at < page.bytes; at += kPartBytes)
      batch.reads.push_back({&of, page.offset + at, std::min(kPartBytes, page.bytes - at),
                             to + static_cast<uint64_t>(at), nullptr});
  }

  PagePlan plan_;
  int64_t batch_bytes_;
};

}  // namespace

std::string why_not_on_device(const Leaf& leaf) {
  switch (leaf.conversion) {
    case Conversion::kNone:
    case Conversion::kNarrow:
    case Conversion::kWiden:
    case Conversion::kSeconds:
    case Conversion::kHalf:
    case Conversion::kText:
    case Conversion::kBit:
      return {};
    case Conversion::kDecimal:
      if (leaf.physical != PhysicalType::kByteArray && leaf.stored_bytes <= 16) return {};
      return "decimals of any length have no kernel for CUDA";
    case Conversion::kInt96:
      return "timestamps of 96 bits have no kernel for CUDA";
    case Conversion::kUuid:
      return "UUIDs have no kernel for CUDA";
    default:
      return "columns of " + std::string(leaf.dtype.name()) + " have no kernel for CUDA";
  }
}

ChunkPlan plan_chunk(const ChunkSource& of) {
  ChunkPlan plan;
  try {
    if (of.chunk->type != of.leaf->physical || of.chunk->num_values != of.rows)
      damaged("a column is another than the footer says");
    PageUnpacker{of.chunk->codec};
    PageStream pages(*of.source, *of.chunk, kHeaderBytes);
    Page page;
    for (int64_t row = 0; row < of.rows;) {
      if (!pages.next(page)) damaged("a column has fewer values than its row group has rows");
      const PageHeader& header = page.header;
      const int64_t offset = pages.at();
      pages.skip(page);
      if (header.kind == PageKind::kIndex) continue;
      if (header.kind == PageKind::kDictionary) {
        add_dictionary(of, header, offset, plan);
        continue;
      }
      if (header.num_values > of.rows - row)
        damaged("a column has more values than its row group has rows");
      if (header.num_values > 0) add_data(of, header, offset, row, plan);
      row += header.num_values;
    }
  } catch (const Refusal& refusal) {
    plan.refusal = refusal.what();
  }
  return plan;
}

DeviceChunk device_chunk(const ChunkSource& of, const ChunkPlan& plan) {
  const Leaf& leaf = *of.leaf;
  DeviceChunk made{
      .physical = leaf.physical,
      .conversion = leaf.conversion,
      .type = leaf.dtype.id(),
      .may_be_null = leaf.max_definition > 0,
      .stored_bytes = static_cast<uint32_t>(leaf.stored_bytes),
      .width = static_cast<uint32_t>(leaf.dtype.is_bool() ? 0 : leaf.dtype.size_bytes()),
      .dictionary_size = plan.dictionary_size,
      .first_text = static_cast<uint32_t>(2 * of.group)};
  if (leaf.conversion == Conversion::kDecimal) {
    __extension__ unsigned __int128 limit = 1;
    for (int i = 0; i < leaf.dtype.precision(); ++i) limit *= 10;
    made.limit_low = static_cast<uint64_t>(limit);
    made.limit_high = static_cast<uint64_t>(limit >> 64);
  }
  return made;
}

PagePlan plan_pages(const std::vector<ChunkSource>& chunks, const std::vector<ChunkPlan>& plans,
                    int64_t piece_bytes, int64_t batch_bytes) {
  for (const ChunkPlan& plan : plans)
    for (const PlannedPage& page : plan.pages)
      piece_bytes = std::max(piece_bytes, aligned(int64_t{page.page.level_bytes} +
                                                  page.page.packed_bytes + kUnpackSlack));
  Batches batches(piece_bytes, batch_bytes);
  for (const PageTurn turn : {PageTurn::kDictionary, PageTurn::kSlow, PageTurn::kQuick})
    for (size_t c = 0; c < chunks.size(); ++c)
      if (plans[c].refusal.empty())
        batches.add(chunks[c], plans[c], static_cast<uint32_t>(c), turn);
  return std::move(batches).finish();
}

void read_page_bytes(const PageRead& read, char* into, UnpackRoom* room) {
  const ByteSource& source = *read.chunk->source;
  if (!read.unpack) return source.read(read.offset, into, read.bytes);
  const DevicePage& page = read.unpack->page;
  const Codec codec = read.chunk->chunk->codec;
  if (!room->unpacker || room->codec != codec) {
    room->unpacker.emplace(codec);
    room->codec = codec;
  }
  if (room->packed.size_bytes() < read.bytes) room->packed = Buffer::allocate(2 * read.bytes);
  source.read(read.offset, room->packed.mutable_as<char>(), read.bytes);
  std::memcpy(into, room->packed.data(), page.level_bytes);
  room->unpacker->unpack({room->packed.as<char>() + page.level_bytes,
                          static_cast<size_t>(read.bytes - page.level_bytes)},
                         into + page.level_bytes, page.unpacked_bytes);
}

}  // namespace hr::parquet
