// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/pages.h"

#include "headrace/exec/interrupt.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#ifdef HR_WITH_ZLIB
#include <zlib.h>
#endif

namespace hr::parquet {

namespace {

constexpr int64_t kHeaderBytes = 512;                 // most headers are shorter
constexpr int64_t kLongestHeader = int64_t{1} << 24;  // they may have statistics
constexpr int64_t kLarge = int64_t{1} << 16;          // a page worth unpacking with another
constexpr int64_t kForgotten = 100;  // bytes of a header that old writers did not count

void check_sum([[maybe_unused]] uint32_t expected, [[maybe_unused]] std::string_view bytes) {
#ifdef HR_WITH_ZLIB
  if (crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != expected)
    damaged("the checksum of a page is wrong");
#endif
}

}  // namespace

PageStream::PageStream(const ByteSource& source, const ColumnChunk& chunk, int64_t read_bytes,
                       PageMemory memory)
    : source_(source),
      codec_(chunk.codec),
      unpacker_(chunk.codec),
      read_bytes_(read_bytes),
      at_(chunk.begin()),
      window_(std::move(memory.window)),
      unpacked_(std::move(memory.unpacked)) {
  const int64_t size = source.known_size();
  if (at_ > size || chunk.compressed_bytes > size - at_) damaged("a column lies behind the file");
  end_ = std::min(at_ + chunk.compressed_bytes + kForgotten, size);
}

// The next `size` bytes, or as many as there are.
std::string_view PageStream::peek(int64_t size) {
  const int64_t there = filled_ - begin_;
  if (there < size && at_ < end_) {
    const int64_t ahead = std::min(read_bytes_, until_ - at_ + there);
    const int64_t room = std::min(std::max(size, ahead), there + end_ - at_);
    if (room > window_.size_bytes()) {
      Buffer larger = Buffer::allocate(room);
      if (there > 0)
        std::memcpy(larger.mutable_data(), window_.data() + begin_, static_cast<size_t>(there));
      window_ = std::move(larger);
    } else if (there > 0) {
      std::memmove(window_.mutable_data(), window_.data() + begin_, static_cast<size_t>(there));
    }
    begin_ = 0;
    const int64_t more = std::min(room - there, end_ - at_);
    source_.read(at_, window_.mutable_as<char>() + there, more);
    at_ += more;
    filled_ = there + more;
  }
  return {window_.as<char>() + begin_, static_cast<size_t>(std::min(size, filled_ - begin_))};
}

PageHeader PageStream::next_header() {
  for (int64_t size = kHeaderBytes;; size *= 8) {
    const std::string_view bytes = peek(size);
    int64_t used = 0;
    try {
      const PageHeader header = parse_page_header(bytes, used);
      begin_ += used;
      return header;
    } catch (const Refusal&) {
      if (static_cast<int64_t>(bytes.size()) < size || size > kLongestHeader) throw;
    }
  }
}

PageStream::Packed PageStream::packed(const PageHeader& header, std::string_view bytes,
                                      int64_t at) {
  Packed page{.bytes = bytes, .size = header.uncompressed_bytes, .at = at};
  if (header.kind == PageKind::kDataV2) {
    const int64_t levels = header.definition_bytes + header.repetition_bytes;
    page.levels = bytes.substr(0, static_cast<size_t>(levels));
    page.bytes.remove_prefix(static_cast<size_t>(levels));
    page.size -= levels;
  }
  return page;
}

char* PageStream::room(const Packed& page) {
  if (page.size > most_unpacked(codec_, std::ssize(page.bytes)))
    damaged("a page says that it is larger than its bytes can be");
  if (!unpacked_ || unpacked_.size_bytes() < page.size + kUnpackSlack)
    unpacked_ = Buffer::allocate(page.size + kUnpackSlack);
  return unpacked_.mutable_as<char>();
}

std::string_view PageStream::unpack(const Packed& page) {
  if (std::exchange(ahead_, -1) != page.at) unpacker_.unpack(page.bytes, room(page), page.size);
  return {unpacked_.as<char>(), static_cast<size_t>(page.size)};
}

// The next page if it is large and packed by Snappy. Nothing is passed.
std::optional<PageStream::Packed> PageStream::next_large() {
  if (codec_ != Codec::kSnappy || (filled_ == begin_ && at_ == end_)) return {};
  const int64_t begin = at();
  const PageHeader header = next_header();
  const int64_t used = at() - begin;
  begin_ -= used;
  const bool is_data = header.kind == PageKind::kData || header.kind == PageKind::kDataV2;
  // What was hardly packed is quickly copied.
  if (!is_data || !header.is_compressed || header.uncompressed_bytes < kLarge ||
      header.compressed_bytes > header.uncompressed_bytes / 8 * 7)
    return {};
  const std::string_view bytes = peek(used + header.compressed_bytes);
  if (std::ssize(bytes) < used + header.compressed_bytes) return {};
  return packed(header, bytes.substr(static_cast<size_t>(used)), begin + used);
}

void PageStream::unpack_together(PageStream& a, PageStream& b) {
  try {
    const std::optional<Packed> first = a.next_large();
    const std::optional<Packed> second = first ? b.next_large() : std::nullopt;
    if (!second) return;
    if (unpack_snappy({first->bytes, a.room(*first), first->size},
                      {second->bytes, b.room(*second), second->size})) {
      a.ahead_ = first->at;
      b.ahead_ = second->at;
    }
  } catch (const Refusal&) {  // met again by who reads the page
  }
}

bool PageStream::next(Page& page) {
  if (filled_ == begin_ && at_ == end_) return false;
  page.header = next_header();
  return true;
}

void PageStream::skip(const Page& page) {
  begin_ += page.header.compressed_bytes;
  if (begin_ <= filled_) return;
  at_ += begin_ - filled_;
  begin_ = filled_ = 0;
  if (at_ > end_) damaged("a page is longer than its column");
}

void PageStream::seek(int64_t offset) {
  const int64_t ahead = at_ - offset;  // of what was read, from there on
  if (ahead >= 0 && ahead <= filled_ - begin_) {
    begin_ = filled_ - ahead;
    return;
  }
  at_ = offset;
  begin_ = filled_ = 0;
  if (at_ > end_) damaged("a page lies behind its column");
}

void PageStream::load(Page& page) {
  look_for_interrupt();  // a row group may be all of a large file
  const PageHeader& header = page.header;
  const int64_t begin = at();
  const std::string_view bytes = peek(header.compressed_bytes);
  if (std::ssize(bytes) < header.compressed_bytes) damaged("a page is longer than its column");
  begin_ += header.compressed_bytes;
  if (header.checksum) check_sum(*header.checksum, bytes);
  const Packed stored = packed(header, bytes, begin);
  page.levels = stored.levels;
  if (codec_ != Codec::kNone && header.is_compressed) {
    page.bytes = unpack(stored);
  } else {
    if (std::ssize(stored.bytes) != stored.size) damaged("a page has two different sizes");
    page.bytes = stored.bytes;
  }
  last_ = page.bytes;
}

Buffer PageStream::take() {
  if (last_.data() == unpacked_.as<char>() && unpacked_) return std::move(unpacked_);
  Buffer copy = Buffer::allocate(static_cast<int64_t>(last_.size()));
  if (!last_.empty()) std::memcpy(copy.mutable_data(), last_.data(), last_.size());
  return copy;
}

}  // namespace hr::parquet
