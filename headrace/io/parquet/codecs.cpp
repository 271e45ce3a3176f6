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

}  // namespace hr::parquet
