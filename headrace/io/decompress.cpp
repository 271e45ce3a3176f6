// SPDX-License-Identifier: Apache-2.0
// Streaming decompression with zlib and zstd.
#include "headrace/io/decompress.h"

#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <limits>

#ifdef HR_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef HR_WITH_ZSTD
#include <zstd.h>
#endif

namespace hr {

namespace {

constexpr int64_t kInputBytes = int64_t{1} << 18;

[[noreturn]] void damaged(const std::string& op, std::string_view what, const std::string& name,
                          std::string_view fix) {
  throw InputError(error_message(op, what, {{"path", name}}, fix), name);
}

// Packed bytes in a counted buffer, refilled when they are used up.
struct Input {
  ReadBytes read;
  Buffer buffer = Buffer::allocate(kInputBytes);
  int64_t begin = 0;
  int64_t end = 0;
  bool over = false;

  // False at the end of the packed bytes.
  bool fill() {
    if (begin < end) return true;
    if (over) return false;
    begin = 0;
    end = read(buffer.mutable_as<char>(), kInputBytes);
    over = end == 0;
    return !over;
  }

  int64_t size() const { return end - begin; }

  const unsigned char* data() const { return buffer.as<unsigned char>() + begin; }
};

#ifdef HR_WITH_ZLIB

class GzipReader {
 public:
  GzipReader(std::string op, ReadBytes packed, std::string name)
      : op_(std::move(op)), name_(std::move(name)), input_{.read = std::move(packed)} {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK)
      throw_error<OutOfMemoryError>(op_, "zlib initialization failed", {{"path", name_}});
  }

  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  ~GzipReader() { inflateEnd(&stream_); }

  int64_t read(char* into, int64_t size) {
    int64_t done = 0;
    while (done < size) {
      if (between_members_ && !next_member()) break;
      if (!input_.fill())
        damaged(op_, "the gzip data ends early", name_, "fetch or write the file again");
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
        damaged(op_, "the gzip data is corrupt", name_, "fetch or write the file again");
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
        damaged(op_, "unexpected bytes follow the gzip data", name_, "cut them off");
      inflateReset(&stream_);
    }
    first_ = between_members_ = false;
    return true;
  }

  std::string op_;
  std::string name_;
  Input input_;
  z_stream stream_{};
  bool first_ = true;
  bool between_members_ = true;
};

#endif
#ifdef HR_WITH_ZSTD

class ZstdReader {
 public:
  ZstdReader(std::string op, ReadBytes packed, std::string name)
      : op_(std::move(op)),
        name_(std::move(name)),
        input_{.read = std::move(packed)},
        context_(ZSTD_createDCtx()) {
    if (!context_)
      throw_error<OutOfMemoryError>(op_, "zstd initialization failed", {{"path", name_}});
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
      if (ZSTD_isError(pending_))
        damaged(op_, "the zstd data is corrupt", name_, "fetch or write the file again");
      input_.begin += static_cast<int64_t>(in.pos);
      if (!more && out.pos == before && pending_ != 0)
        damaged(op_, "the zstd data ends early", name_, "fetch or write the file again");
    }
    return static_cast<int64_t>(out.pos);
  }

 private:
  std::string op_;
  std::string name_;
  Input input_;
  ZSTD_DCtx* context_;
  size_t pending_ = 0;
};

#endif

template <class Reader>
ReadBytes reader(std::string_view op, ReadBytes packed, std::string name) {
  auto shared = std::make_shared<Reader>(std::string(op), std::move(packed), std::move(name));
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
  constexpr std::string_view kNames[] = {"infer", "none", "gzip", "zstd"};
  return enum_from_name<Compression>("compression", "compression", name, kNames);
}

Compression detect_compression(std::string_view op, std::string_view head,
                               const std::string& name) {
  using namespace std::string_view_literals;
  if (head.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::kZstd;
  for (const auto& [magic, codec] :
       {std::pair("BZh"sv, "bzip2"sv), std::pair("\xfd\x37zXZ\0"sv, "xz"sv),
        std::pair("PK\x03\x04"sv, "zip"sv), std::pair("\x04\x22\x4d\x18"sv, "lz4"sv)})
    if (head.starts_with(magic))
      throw_error<UnsupportedError>(op, "unsupported compression",
                                    {{"compression", codec}, {"path", name}},
                                    "decompress the file first, or use gzip or zstd");
  return Compression::kNone;
}

ReadBytes decompress(std::string_view op, Compression compression, ReadBytes packed,
                     std::string name) {
  if (compression == Compression::kGzip) {
#ifdef HR_WITH_ZLIB
    return reader<GzipReader>(op, std::move(packed), std::move(name));
#else
    missing(op, "gzip (zlib)", name);
#endif
  }
  if (compression == Compression::kZstd) {
#ifdef HR_WITH_ZSTD
    return reader<ZstdReader>(op, std::move(packed), std::move(name));
#else
    missing(op, "zstd", name);
#endif
  }
  return packed;
}

}  // namespace hr
