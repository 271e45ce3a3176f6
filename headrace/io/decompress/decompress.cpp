// SPDX-License-Identifier: Apache-2.0
// Streaming decompression with zlib, zstd, liblzma, and our own bzip2 and LZ4.
#include "headrace/io/decompress/decompress.h"

#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/io/decompress/bzip2.h"
#include "headrace/io/decompress/lz4_frame.h"
#include "headrace/io/decompress/packed_input.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#ifdef HR_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef HR_WITH_ZSTD
#include <zstd.h>
#endif
#ifdef HR_WITH_LZMA
#include <lzma.h>
#endif

namespace hr {

namespace {

#ifdef HR_WITH_ZLIB

class GzipReader {
 public:
  explicit GzipReader(PackedInput packed) : input_(std::move(packed)) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK)
      throw_error<OutOfMemoryError>(input_.op, "zlib initialization failed",
                                    {{"path", input_.name}});
  }

  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  ~GzipReader() { inflateEnd(&stream_); }

  int64_t read(char* into, int64_t size) {
    int64_t done = 0;
    while (done < size) {
      if (between_members_ && !next_member()) break;
      if (!input_.fill()) input_.damaged("the gzip data ends early");
      stream_.next_in = const_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(input_.size());
      stream_.next_out = reinterpret_cast<Bytef*>(into + done);
      const auto room = static_cast<uInt>(std::min<int64_t>(size - done, int64_t{1} << 30));
      stream_.avail_out = room;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      input_.begin = input_.end - stream_.avail_in;
      done += room - stream_.avail_out;
      if (code == Z_STREAM_END)
        between_members_ = true;
      else if (code != Z_OK && code != Z_BUF_ERROR)
        input_.damaged("the gzip data is corrupt");
    }
    return done;
  }

 private:
  // Moves to the next member; zeros after the last one are padding.
  bool next_member() {
    if (!first_) {
      while (input_.fill() && *input_.data() == 0) ++input_.begin;
      if (!input_.fill()) return false;
      if (*input_.data() != 0x1f)
        input_.damaged("unexpected bytes follow the gzip data", "cut them off");
      inflateReset(&stream_);
    }
    first_ = between_members_ = false;
    return true;
  }

  PackedInput input_;
  z_stream stream_{};
  bool first_ = true;
  bool between_members_ = true;
};

#endif
#ifdef HR_WITH_ZSTD

class ZstdReader {
 public:
  explicit ZstdReader(PackedInput packed) : input_(std::move(packed)), context_(ZSTD_createDCtx()) {
    if (!context_)
      throw_error<OutOfMemoryError>(input_.op, "zstd initialization failed",
                                    {{"path", input_.name}});
  }

  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;

  ~ZstdReader() { ZSTD_freeDCtx(context_); }

  int64_t read(char* into, int64_t size) {
    ZSTD_outBuffer out{into, static_cast<size_t>(size), 0};
    while (out.pos < out.size) {
      // Once the input is over, what the decoder still holds comes out with empty input.
      const bool more = input_.fill();
      if (!more && pending_ == 0) break;
      ZSTD_inBuffer in{input_.data(), static_cast<size_t>(input_.size()), 0};
      const size_t before = out.pos;
      pending_ = ZSTD_decompressStream(context_, &out, &in);
      if (ZSTD_isError(pending_)) input_.damaged("the zstd data is corrupt");
      head_.append(static_cast<const char*>(in.src),
                   std::min<size_t>(in.pos, kHeadBytes - head_.size()));
      frame_bytes_ += out.pos - before;
      if (pending_ == 0) end_frame();
      input_.begin += static_cast<int64_t>(in.pos);
      if (!more && out.pos == before && pending_ != 0) input_.damaged("the zstd data ends early");
    }
    return static_cast<int64_t>(out.pos);
  }

 private:
  static constexpr size_t kHeadBytes = 18;  // the longest head of a frame

  // libzstd compares the size that a frame declares only where it has all of the frame at once.
  void end_frame() {
    const unsigned long long declared = ZSTD_getFrameContentSize(head_.data(), head_.size());
    const bool is_known =
        declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != ZSTD_CONTENTSIZE_ERROR;
    if (is_known && declared != frame_bytes_) input_.damaged("the zstd data is corrupt");
    head_.clear();
    frame_bytes_ = 0;
  }

  PackedInput input_;
  ZSTD_DCtx* context_;
  size_t pending_ = 0;
  std::string head_{};  // of the frame
  uint64_t frame_bytes_ = 0;
};

#endif

#ifdef HR_WITH_LZMA

// What a library allocates, in counted buffers: a file says how much that is. Nothing is thrown
// through the library: it is told that there is no memory.
class CountedAllocations {
 public:
  CountedAllocations() = default;
  CountedAllocations(const CountedAllocations&) = delete;
  CountedAllocations& operator=(const CountedAllocations&) = delete;

  void* allocate(size_t count, size_t size) noexcept {
    try {
      Buffer buffer = Buffer::allocate(static_cast<int64_t>(std::max<size_t>(count * size, 1)));
      void* const at = buffer.mutable_data();
      buffers_.emplace(at, std::move(buffer));
      return at;
    } catch (...) {
      failure_ = std::current_exception();
      return nullptr;
    }
  }

  void release(void* at) noexcept { buffers_.erase(at); }

  // Throws what an allocation threw, if one did.
  void check() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::unordered_map<void*, Buffer> buffers_{};
  std::exception_ptr failure_{};
};

class XzReader {
 public:
  explicit XzReader(PackedInput packed) : input_(std::move(packed)) {
    allocator_.opaque = &memory_;
    allocator_.alloc = [](void* memory, size_t count, size_t size) {
      return static_cast<CountedAllocations*>(memory)->allocate(count, size);
    };
    allocator_.free = [](void* memory, void* at) {
      if (at) static_cast<CountedAllocations*>(memory)->release(at);
    };
    stream_.allocator = &allocator_;
    if (lzma_stream_decoder(&stream_, std::numeric_limits<uint64_t>::max(), LZMA_CONCATENATED) !=
        LZMA_OK)
      memory_.check();
  }

  XzReader(const XzReader&) = delete;
  XzReader& operator=(const XzReader&) = delete;

  ~XzReader() { lzma_end(&stream_); }

  int64_t read(char* into, int64_t size) {
    stream_.next_out = reinterpret_cast<uint8_t*>(into);
    stream_.avail_out = static_cast<size_t>(size);
    while (stream_.avail_out > 0 && !is_over_) {
      const bool more = input_.fill();
      stream_.next_in = input_.data();
      stream_.avail_in = static_cast<size_t>(input_.size());
      const lzma_ret code = lzma_code(&stream_, more ? LZMA_RUN : LZMA_FINISH);
      input_.begin = input_.end - static_cast<int64_t>(stream_.avail_in);
      if (code == LZMA_MEM_ERROR) memory_.check();
      if (code == LZMA_STREAM_END)
        is_over_ = true;
      else if (code == LZMA_BUF_ERROR && !more)
        input_.damaged("the xz data ends early");
      else if (code != LZMA_OK)
        input_.damaged("the xz data is corrupt");
    }
    return size - static_cast<int64_t>(stream_.avail_out);
  }

 private:
  PackedInput input_;
  CountedAllocations memory_{};
  lzma_allocator allocator_{};
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_over_ = false;
};

#endif

template <class Reader>
ReadBytes reader(PackedInput packed) {
  auto shared = std::make_shared<Reader>(std::move(packed));
  return [shared](char* into, int64_t size) { return shared->read(into, size); };
}

[[noreturn]] [[maybe_unused]] void missing(std::string_view op, std::string_view codec,
                                           const std::string& name) {
  throw_error<UnsupportedError>(op, "this build does not include " + std::string(codec),
                                {{"path", name}},
                                "decompress the file first, or build with its library");
}

}  // namespace

Compression compression_from_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"infer", "none", "gzip", "zstd", "bz2", "xz", "lz4"};
  return enum_from_name<Compression>("compression", "compression", name, kNames);
}

Compression detect_compression(std::string_view op, std::string_view head,
                               const std::string& name) {
  using namespace std::string_view_literals;
  if (head.starts_with("PK\x03\x04"sv))
    throw_error<UnsupportedError>(op, "unsupported compression",
                                  {{"compression", "zip"}, {"path", name}},
                                  "unpack the file first, or use gzip, zstd, bz2, xz or lz4");
  constexpr std::pair<std::string_view, Compression> kMagics[] = {
      {"\x1f\x8b"sv, Compression::kGzip},    {"\x28\xb5\x2f\xfd"sv, Compression::kZstd},
      {"\xfd\x37zXZ\0"sv, Compression::kXz}, {"\x04\x22\x4d\x18"sv, Compression::kLz4},
      {"BZh"sv, Compression::kBzip2},
  };
  for (const auto& [magic, codec] : kMagics)
    if (head.starts_with(magic)) return codec;
  return Compression::kNone;
}

ReadBytes decompress(std::string_view op, Compression compression, ReadBytes packed,
                     std::string name) {
  if (compression == Compression::kNone) return packed;
  PackedInput input{.op = std::string(op), .name = std::move(name), .read = std::move(packed)};
  switch (compression) {
    case Compression::kLz4:
      return read_lz4_frames(std::move(input));
    case Compression::kGzip:
#ifdef HR_WITH_ZLIB
      return reader<GzipReader>(std::move(input));
#else
      missing(op, "gzip (zlib)", input.name);
#endif
    case Compression::kZstd:
#ifdef HR_WITH_ZSTD
      return reader<ZstdReader>(std::move(input));
#else
      missing(op, "zstd", input.name);
#endif
    case Compression::kBzip2:
      return read_bzip2(std::move(input));
    case Compression::kXz:
#ifdef HR_WITH_LZMA
      return reader<XzReader>(std::move(input));
#else
      missing(op, "xz (liblzma)", input.name);
#endif
    default:
      throw_error<InternalError>(op, "a codec that is not known here");
  }
}

}  // namespace hr
