// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/codecs.h"

#include "headrace/base/error.h"
#include "headrace/io/parquet/lz4.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"

#include <cstring>

#ifdef HR_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef HR_WITH_ZSTD
#include <zstd.h>
#endif
#ifdef HR_WITH_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif

namespace hr::parquet {

namespace {

constexpr std::string_view kNames[] = {"no compression", "snappy", "gzip", "lzo",
                                       "brotli",         "lz4",    "zstd", "lz4"};

std::string_view name_of(Codec codec) {
  return kNames[static_cast<size_t>(codec)];
}

bool has(Codec codec) {
  switch (codec) {
    case Codec::kGzip:
#ifdef HR_WITH_ZLIB
      return true;
#else
      return false;
#endif
    case Codec::kZstd:
#ifdef HR_WITH_ZSTD
      return true;
#else
      return false;
#endif
    case Codec::kBrotli:
#ifdef HR_WITH_BROTLI
      return true;
#else
      return false;
#endif
    default:
      return true;
  }
}

}  // namespace

// Of a codec that works for long on what it set up.
struct PageUnpacker::State {
#ifdef HR_WITH_ZLIB
  z_stream gzip{};
  bool has_gzip = false;
#endif
#ifdef HR_WITH_ZSTD
  ZSTD_DCtx* zstd = nullptr;
#endif

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
#ifdef HR_WITH_ZLIB
    if (has_gzip) inflateEnd(&gzip);
#endif
#ifdef HR_WITH_ZSTD
    ZSTD_freeDCtx(zstd);
#endif
  }

  // Members one after the other, each with the header of gzip or of zlib.
  bool unpack_gzip([[maybe_unused]] std::string_view packed, [[maybe_unused]] char* out,
                   [[maybe_unused]] int64_t size) {
#ifdef HR_WITH_ZLIB
    if (inflateReset2(&gzip, 15 + 32) != Z_OK) return false;
    gzip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    gzip.avail_in = static_cast<uInt>(packed.size());
    gzip.next_out = reinterpret_cast<Bytef*>(out);
    gzip.avail_out = static_cast<uInt>(size);
    for (;;) {
      const int code = inflate(&gzip, Z_FINISH);
      if (code != Z_STREAM_END) return false;
      if (gzip.avail_in == 0) return gzip.avail_out == 0;
      inflateReset(&gzip);
    }
#else
    return false;
#endif
  }
};

PageUnpacker::PageUnpacker(Codec codec) : codec_(codec), state_(std::make_unique<State>()) {
  if (codec == Codec::kLzo) unsupported("pages compressed by lzo cannot be read");
  if (!has(codec)) unsupported("this build does not include " + std::string(name_of(codec)));
#ifdef HR_WITH_ZLIB
  if (codec == Codec::kGzip) {
    state_->has_gzip = inflateInit2(&state_->gzip, 15 + 32) == Z_OK;
    if (!state_->has_gzip)
      throw_error<OutOfMemoryError>("read_parquet", "zlib initialization failed");
  }
#endif
#ifdef HR_WITH_ZSTD
  if (codec == Codec::kZstd) {
    state_->zstd = ZSTD_createDCtx();
    if (!state_->zstd) throw_error<OutOfMemoryError>("read_parquet", "zstd initialization failed");
  }
#endif
}

PageUnpacker::~PageUnpacker() = default;
PageUnpacker::PageUnpacker(PageUnpacker&&) noexcept = default;

void PageUnpacker::unpack(std::string_view packed, char* out, int64_t size) {
  if (size == 0 && packed.empty()) return;
  bool good = false;
  switch (codec_) {
    case Codec::kNone:
      good = static_cast<int64_t>(packed.size()) == size;
      if (good && size > 0) std::memcpy(out, packed.data(), packed.size());
      break;
    case Codec::kSnappy:
      good = unpack_snappy(packed, out, size);
      break;
    case Codec::kLz4:
      good = unpack_lz4_hadoop(packed, out, size);
      break;
    case Codec::kLz4Raw:
      good = unpack_lz4(packed, out, size);
      break;
    case Codec::kGzip:
      good = state_->unpack_gzip(packed, out, size);
      break;
    case Codec::kZstd:
#ifdef HR_WITH_ZSTD
      good = ZSTD_decompressDCtx(state_->zstd, out, static_cast<size_t>(size), packed.data(),
                                 packed.size()) == static_cast<size_t>(size);
#endif
      break;
    case Codec::kBrotli: {
#ifdef HR_WITH_BROTLI
      size_t unpacked = static_cast<size_t>(size);
      good = BrotliDecoderDecompress(packed.size(), reinterpret_cast<const uint8_t*>(packed.data()),
                                     &unpacked, reinterpret_cast<uint8_t*>(out)) ==
                 BROTLI_DECODER_RESULT_SUCCESS &&
             unpacked == static_cast<size_t>(size);
#endif
      break;
    }
    case Codec::kLzo:
      break;
  }
  if (!good) damaged("a page compressed by " + std::string(name_of(codec_)) + " is damaged");
}

int64_t most_unpacked(Codec codec, int64_t packed) {
  switch (codec) {
    case Codec::kNone:
      return packed;
    case Codec::kSnappy:
      return 64 * packed;
    case Codec::kGzip:
      return 1040 * packed;
    case Codec::kLz4:
    case Codec::kLz4Raw:
      return 256 * packed;
    case Codec::kZstd:
      return packed << 16;
    default:
      return packed << 17;
  }
}

bool can_pack(Codec codec) {
  return has(codec) && codec != Codec::kLzo && codec != Codec::kLz4;
}

CodecLevels levels_of(Codec codec) {
  switch (codec) {
    case Codec::kGzip:
      return {1, 9, 6};
    case Codec::kBrotli:
      return {0, 11, 3};
    case Codec::kZstd:
      return {1, 22, 1};
    default:
      return {};
  }
}

struct PagePacker::State {
#ifdef HR_WITH_ZLIB
  z_stream gzip{};
  bool has_gzip = false;
#endif
#ifdef HR_WITH_ZSTD
  ZSTD_CCtx* zstd = nullptr;
#endif

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
#ifdef HR_WITH_ZLIB
    if (has_gzip) deflateEnd(&gzip);
#endif
#ifdef HR_WITH_ZSTD
    ZSTD_freeCCtx(zstd);
#endif
  }
};

PagePacker::PagePacker(Codec codec, int level)
    : codec_(codec), level_(level), state_(std::make_unique<State>()) {
#ifdef HR_WITH_ZLIB
  if (codec == Codec::kGzip) {
    state_->has_gzip =
        deflateInit2(&state_->gzip, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!state_->has_gzip)
      throw_error<OutOfMemoryError>("to_parquet", "zlib initialization failed");
  }
#endif
#ifdef HR_WITH_ZSTD
  if (codec == Codec::kZstd) {
    state_->zstd = ZSTD_createCCtx();
    if (!state_->zstd) throw_error<OutOfMemoryError>("to_parquet", "zstd initialization failed");
  }
#endif
}

PagePacker::~PagePacker() = default;
PagePacker::PagePacker(PagePacker&&) noexcept = default;

int64_t PagePacker::most(int64_t size) const {
  const auto bytes = static_cast<size_t>(size);
  switch (codec_) {
    case Codec::kSnappy:
      return most_snappy(size);
    case Codec::kLz4Raw:
      return most_lz4(size);
#ifdef HR_WITH_ZLIB
    case Codec::kGzip:
      // For any state of a stream; the header and the trailer of gzip are longer than zlib's.
      return static_cast<int64_t>(deflateBound(nullptr, bytes)) + 16;
#endif
#ifdef HR_WITH_ZSTD
    case Codec::kZstd:
      return static_cast<int64_t>(ZSTD_compressBound(bytes));
#endif
#ifdef HR_WITH_BROTLI
    case Codec::kBrotli:
      return static_cast<int64_t>(BrotliEncoderMaxCompressedSize(bytes)) + 16;
#endif
    default:
      return static_cast<int64_t>(bytes);
  }
}

int64_t PagePacker::pack(std::string_view bytes, char* out) {
  [[maybe_unused]] const auto room = static_cast<size_t>(most(std::ssize(bytes)));
  switch (codec_) {
    case Codec::kSnappy:
      return pack_snappy(bytes, out);
    case Codec::kLz4Raw:
      return pack_lz4(bytes, out);
#ifdef HR_WITH_ZLIB
    case Codec::kGzip: {
      z_stream& gzip = state_->gzip;
      deflateReset(&gzip);
      gzip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      gzip.avail_in = static_cast<uInt>(bytes.size());
      gzip.next_out = reinterpret_cast<Bytef*>(out);
      gzip.avail_out = static_cast<uInt>(room);
      if (deflate(&gzip, Z_FINISH) != Z_STREAM_END) break;
      return static_cast<int64_t>(room - gzip.avail_out);
    }
#endif
#ifdef HR_WITH_ZSTD
    case Codec::kZstd: {
      const size_t size =
          ZSTD_compressCCtx(state_->zstd, out, room, bytes.data(), bytes.size(), level_);
      if (ZSTD_isError(size)) break;
      return static_cast<int64_t>(size);
    }
#endif
#ifdef HR_WITH_BROTLI
    case Codec::kBrotli: {
      size_t size = room;
      if (!BrotliEncoderCompress(level_, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, bytes.size(),
                                 reinterpret_cast<const uint8_t*>(bytes.data()), &size,
                                 reinterpret_cast<uint8_t*>(out)))
        break;
      return static_cast<int64_t>(size);
    }
#endif
    case Codec::kNone:
      if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
      return std::ssize(bytes);
    default:
      break;
  }
  throw_error<OutOfMemoryError>("to_parquet", "a page cannot be compressed",
                                {{"compression", name_of(codec_)}});
}

}  // namespace hr::parquet
