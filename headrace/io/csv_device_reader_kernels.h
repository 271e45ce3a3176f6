// SPDX-License-Identifier: Apache-2.0
// Kernels that parse lines of text on a CUDA device, and those that mend and close up what they
// gave.
#pragma once
#include "headrace/data/device.h"
#include "headrace/io/csv_device_reader_kernels_math.h"

#include <cstdint>

namespace hr {

/// Whether there are quotes in some text, and whether their number is odd.
struct QuoteCount {
  bool any = false;
  bool odd = false;
};

namespace cpu {

QuoteCount count_quotes(const char* text, int64_t size, uint8_t quote);

}  // namespace cpu

namespace cuda {

/// Queues the parse of a block of whole lines, which stands at `offset` of the whole text and
/// begins at a multiple of 64 bytes.
void parse_lines(const DeviceCall& call, const LineTargets& targets, const LineText& text,
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

/// Rows whose text `gather_text` copies together.
inline constexpr int64_t kTextRows = 4096;

/// Counts the bytes that views of `rows` strings point to, in parts of kTextRows rows: what is
/// before each part in `parts`, all of them in `*total`.
void count_text(const DeviceCall& call, const std::byte* views, int64_t rows, int64_t* parts,
                int64_t* total);
/// Copies that text to `to`, in the order of the rows, and turns the views to it as their text 0.
void gather_text(const DeviceCall& call, std::byte* views, int64_t rows, const int64_t* parts,
                 const char* const* text, char* to);

}  // namespace cuda

}  // namespace hr
