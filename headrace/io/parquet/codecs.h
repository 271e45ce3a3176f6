// SPDX-License-Identifier: Apache-2.0
// Pages packed and unpacked by each of Parquet's codecs.
#pragma once
#include "headrace/io/parquet/metadata.h"

#include <memory>
#include <string_view>

namespace hr::parquet {

/// The most bytes that `packed` bytes of a codec can stand for: a page that claims more is damaged,
/// and nothing is allocated for it. Of brotli, which has no such limit, 2^17 times as many.
int64_t most_unpacked(Codec codec, int64_t packed);

/// Unpacks pages, one after the other, for one thread.
class PageUnpacker {
 public:
  /// Throws Refusal for a codec that this build or Headrace lacks.
  explicit PageUnpacker(Codec codec);
  ~PageUnpacker();
  PageUnpacker(PageUnpacker&&) noexcept;

  /// Fills exactly `size` bytes at `out`, behind which kUnpackSlack more are writable. Throws
  /// Refusal when `packed` is damaged or holds another number of bytes.
  void unpack(std::string_view packed, char* out, int64_t size);

 private:
  struct State;
  Codec codec_;
  std::unique_ptr<State> state_;
};

/// Whether this build can pack pages by a codec: kLzo never, and kLz4 stands for kLz4Raw.
bool can_pack(Codec codec);

/// The levels of a codec from the fastest on; none for codecs without levels.
struct CodecLevels {
  int least = 0;
  int most = 0;
  int usual = 0;
};
CodecLevels levels_of(Codec codec);

/// Packs pages, one after the other, for one thread.
class PagePacker {
 public:
  /// `codec`: one that can pack; `level`: one of its own.
  PagePacker(Codec codec, int level);
  ~PagePacker();
  PagePacker(PagePacker&&) noexcept;

  /// The most bytes that `size` bytes become.
  int64_t most(int64_t size) const;

  /// Packs to `out`, which has room for the most; gives the number of bytes.
  int64_t pack(std::string_view bytes, char* out);

 private:
  struct State;
  Codec codec_;
  int level_;
  std::unique_ptr<State> state_;
};

}  // namespace hr::parquet
