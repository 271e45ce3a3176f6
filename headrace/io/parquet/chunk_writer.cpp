// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/chunk_writer.h"

#include "headrace/base/error.h"
#include "headrace/io/parquet/bloom_filter.h"
#include "headrace/io/parquet/codecs.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#ifdef HR_WITH_ZLIB
#include <zlib.h>
#endif

namespace hr::parquet {

namespace {

constexpr int64_t kPageBytes = int64_t{1} << 20;  // about, before they are compressed
// What compression has to save of strings without what they repeat: the matches that are left are
// short, and unpacking them took as long as all else.
constexpr double kFrontCodedWorth = 0.25;

uint32_t check_sum([[maybe_unused]] std::string_view bytes) {
#ifdef HR_WITH_ZLIB
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
#else
  throw_error<UnsupportedError>("to_parquet", "this build does not include zlib", {},
                                "leave write_page_checksum out");
#endif
}

class ChunkMaker {
 public:
  ChunkMaker(const LeafRows& rows, ValueWriter& values, const ChunkOptions& options,
             ByteBuffer& out)
      : rows_(rows), values_(values), options_(options), out_(out), begin_(out.size()) {}

  WrittenChunk run() {
    chunk_.num_values = rows_.entries;
    chunk_.encoding = values_.encoding();
    const auto wide = static_cast<int64_t>(kPageBytes / std::max(values_.bytes_per_value(), 1.0));
    page_rows_ = std::clamp<int64_t>(wide, 1, options_.page_rows);
    make_dictionary();
    LeafRows::Piece piece = make_page();
    choose_codec(piece);
    if (values_.num_entries() > 0) put_dictionary();
    for (;;) {
      put_page(piece);
      if (entry_ == rows_.entries) break;
      raw_.clear();
      piece = make_page();
    }
    chunk_.bytes = out_.size() - begin_;
    return std::move(chunk_);
  }

 private:
  void make_dictionary() {
    if (values_.num_entries() > 0) values_.append_dictionary(dictionary_);
  }

  // The next page, before it is compressed.
  LeafRows::Piece make_page() {
    const LeafRows::Piece piece = rows_.piece(entry_, page_rows_);
    rows_.append_levels(entry_, piece.entries, raw_);
    values_.append(value_, value_ + piece.values, raw_);
    return piece;
  }

  // By the dictionary and the first page, which stand for all.
  void choose_codec(const LeafRows::Piece& first) {
    if (options_.codec == Codec::kNone) return;
    packer_ = std::make_unique<PagePacker>(options_.codec, options_.level);
    const double pages = static_cast<double>(rows_.entries) /
                         static_cast<double>(std::max<int64_t>(first.entries, 1));
    const auto saved = [&](const ByteBuffer& bytes) {
      return static_cast<double>(bytes.size() - std::ssize(pack(bytes.view())));
    };
    const double all =
        static_cast<double>(dictionary_.size()) + pages * static_cast<double>(raw_.size());
    const bool is_front_coded = values_.encoding() == Encoding::kDeltaByteArray;
    const double worth =
        is_front_coded ? std::max(options_.worth, kFrontCodedWorth) : options_.worth;
    if (saved(dictionary_) + pages * saved(raw_) < worth * all)
      packer_ = nullptr;
    else
      chunk_.codec = options_.codec;
  }

  std::string_view pack(std::string_view bytes) {
    if (!packer_) return bytes;
    packed_.clear();
    packed_.advance(packer_->pack(bytes, packed_.reserve(packer_->most(std::ssize(bytes)))));
    return packed_.view();
  }

  void put_dictionary() {
    PageHeader header;
    header.kind = PageKind::kDictionary;
    header.num_values = values_.num_entries();
    put(header, dictionary_.view());
    chunk_.dictionary_bytes = out_.size() - begin_;
    dictionary_ = {};
  }

  void put_page(const LeafRows::Piece& piece) {
    WrittenPage page{.begin = out_.size() - begin_,
                     .first_row = row_,
                     .nulls = piece.entries - piece.values,
                     .has_values = piece.values > 0};
    PageHeader header;
    header.num_values = piece.entries;
    header.encoding = values_.encoding();
    put(header, raw_.view());
    page.bytes = out_.size() - begin_ - page.begin;
    if (page.has_values) page.bounds = values_.bounds(value_, value_ + piece.values);
    add_to_bounds(page);
    entry_ += piece.entries;
    row_ += piece.rows;
    value_ += piece.values;
    chunk_.nulls += page.nulls;
    chunk_.pages.push_back(std::move(page));
  }

  void put(PageHeader& header, std::string_view bytes) {
    constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int32_t>::max());
    const std::string_view packed = pack(bytes);
    if (bytes.size() > kMost || packed.size() > kMost)
      throw_error<UnsupportedError>("to_parquet", "a page of a column would exceed 2 GiB",
                                    {{"bytes", bytes.size()}}, "split its longest values");
    header.uncompressed_bytes = std::ssize(bytes);
    header.compressed_bytes = std::ssize(packed);
    if (options_.has_checksums) header.checksum = check_sum(packed);
    const std::string head = write_page_header(header);
    out_.append(head);
    out_.append(packed);
    chunk_.unpacked_bytes += std::ssize(head) + std::ssize(bytes);
  }

  void add_to_bounds(const WrittenPage& page) {
    if (!page.has_values) return;
    if (!page.bounds) {
      is_bounded_ = false;
      chunk_.bounds.reset();
      return;
    }
    if (!is_bounded_) return;
    if (!chunk_.bounds) {
      chunk_.bounds = page.bounds;
      chunk_.is_ascending = true;
      last_ = *page.bounds;
      return;
    }
    ValueBounds& all = *chunk_.bounds;
    all.is_exact &= page.bounds->is_exact;
    if (values_.is_less(page.bounds->least, all.least)) all.least = page.bounds->least;
    if (values_.is_less(all.most, page.bounds->most)) all.most = page.bounds->most;
    if (values_.is_less(page.bounds->least, last_.least) ||
        values_.is_less(page.bounds->most, last_.most))
      chunk_.is_ascending = false;
    last_ = *page.bounds;
  }

  const LeafRows& rows_;
  ValueWriter& values_;
  const ChunkOptions& options_;
  ByteBuffer& out_;
  int64_t begin_;
  int64_t page_rows_ = 1;
  int64_t entry_ = 0;
  int64_t row_ = 0;
  int64_t value_ = 0;
  ByteBuffer dictionary_{};
  ByteBuffer raw_{};
  ByteBuffer packed_{};
  std::unique_ptr<PagePacker> packer_{};
  bool is_bounded_ = true;
  ValueBounds last_{};
  WrittenChunk chunk_{};
};

}  // namespace

WrittenChunk write_chunk(const Column& column, const WrittenLeaf& leaf, int64_t first, int64_t rows,
                         const ChunkOptions& options, ByteBuffer& out) {
  const LeafRows leaf_rows(column, leaf, first, rows);
  const std::unique_ptr<ValueWriter> values = write_values(leaf_rows.values, options.front_codes);
  const double guess = values->bytes_per_value() * static_cast<double>(leaf_rows.values.num_rows());
  out.reserve(static_cast<int64_t>(guess) + rows / 8 + (int64_t{1} << 12));
  WrittenChunk chunk = ChunkMaker(leaf_rows, *values, options, out).run();
  if (!options.has_filter || values->num_hashes() == 0) return chunk;
  BloomFilter filter(values->num_hashes());
  values->add_to(filter);
  const std::string head = write_filter_header(std::ssize(filter.bytes()));
  out.append(head);
  out.append(filter.bytes());
  chunk.filter_bytes = std::ssize(head) + std::ssize(filter.bytes());
  return chunk;
}

}  // namespace hr::parquet
