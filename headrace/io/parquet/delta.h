// SPDX-License-Identifier: Apache-2.0
// DELTA_BINARY_PACKED: integers as packed differences.
#pragma once
#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// A cursor over borrowed bytes; sums wrap as the format has it. What it cannot read throws
/// Refusal.
class DeltaReader {
 public:
  explicit DeltaReader(std::string_view bytes);
  DeltaReader() = default;

  /// Integers in all, as the bytes say.
  int64_t count() const { return count_; }

  void read(int64_t count, int64_t* out);

  /// The bytes behind the integers; all of them have been read.
  std::string_view rest() const;

  /// The same before any of them is read, by the widths of the blocks.
  std::string_view behind() const;

 private:
  uint64_t varint();
  void next_block();
  int width() const;
  void next_step(int64_t* out);

  static constexpr int64_t kStep = 32;  // integers that are unpacked at once

  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  int64_t count_ = 0;
  int64_t given_ = 0;
  uint64_t last_ = 0;
  int64_t per_miniblock_ = 0;
  int64_t miniblocks_ = 0;
  uint64_t least_ = 0;               // of the block's differences
  const uint8_t* widths_ = nullptr;  // of the block's miniblocks
  int64_t miniblock_ = 0;            // the current one
  int64_t left_in_miniblock_ = 0;    // not yet unpacked
  int64_t step_[kStep];              // unpacked sums
  int64_t step_at_ = kStep;
};

}  // namespace hr::parquet
