// SPDX-License-Identifier: Apache-2.0
// Kernels that parse lines of text on a CUDA device, and those that mend and close up what they
// gave.
#pragma once
#include "headrace/data/device.h"
#include "headrace/io/csv_device_reader_math.h"

#include <cstdint>

namespace hr {

/// What kernels count as blocks of text go by.
struct LineCounts {
  int64_t lines = 0;
  int64_t refused = 0;  ///< of them, listed as far as there is room
  int32_t special = 0;  ///< 1: there are quotes or comments
};

/// A line that the host must read.
struct RefusedLine {
  int64_t slot;   ///< lines before it
  int64_t begin;  ///< offset in the whole text
  int64_t size;   ///< without its end
};

inline constexpr int64_t kMostRefused = int64_t{1} << 16;

/// Text of a block on a device begins at a multiple of this many bytes, and as many may be read
/// after its end.
inline constexpr int64_t kLineTile = int64_t{1} << 14;

/// Where lines go; all of it lies on the device.
struct LineTargets {
  LineSyntax syntax{};
  int quote = -1;
  int comment = -1;
  int num_fields = 0;
  int64_t slots = 0;                  ///< later lines are checked and not kept
  const LineField* fields = nullptr;  ///< num_fields of them
  const uint64_t* fives = nullptr;
  LineCounts* counts = nullptr;
  RefusedLine* refused = nullptr;  ///< kMostRefused of them
  int64_t* tiles = nullptr;        ///< room for one number a tile of a block, and one
};

namespace cuda {

/// Queues the parse of `size` bytes of whole lines, which stand at `offset` of the whole text.
void parse_lines(const DeviceCall& call, const LineTargets& targets, const char* text, int64_t size,
                 int64_t offset);

/// Puts `count` values of `width` bytes into the slots that `slots` lists.
void patch_values(const DeviceCall& call, std::byte* values, const int64_t* slots,
                  const std::byte* from, int64_t count, int64_t width);
/// The same for bits; `from` has a byte for each.
void patch_bits(const DeviceCall& call, std::byte* bits, const int64_t* slots, const uint8_t* from,
                int64_t count);

/// The first `rows` values without those in the slots that `gone` lists in order.
void close_values(const DeviceCall& call, const std::byte* from, const int64_t* gone,
                  int64_t num_gone, int64_t rows, int64_t width, std::byte* to);
/// The same for bits, with zeros behind them; adds the number of ones to `*ones`.
void close_bits(const DeviceCall& call, const std::byte* from, const int64_t* gone,
                int64_t num_gone, int64_t rows, std::byte* to, unsigned long long* ones);

}  // namespace cuda

}  // namespace hr
