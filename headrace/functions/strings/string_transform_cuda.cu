// SPDX-License-Identifier: Apache-2.0
// Strings without their ends, and in another case, on a CUDA device.
#include "headrace/functions/strings/string_rows_device.h"
#include "headrace/functions/strings/string_transform_kernels.h"

#include <string>

namespace hr::cuda {

namespace {

struct StripOf {
  StripEnds ends;
  const uint32_t* gone;
  uint32_t count;

  __device__ std::string_view operator()(std::string_view text) const {
    return stripped(text, ends.left, ends.right, [this](uint32_t code) {
      if (count == 0) return is_space(code);
      for (uint32_t i = 0; i < count; ++i)
        if (gone[i] == code) return true;
      return false;
    });
  }
};

struct Found {
  unsigned long long far_bytes;  // of strings that do not stand in their views
  unsigned others;               // not 0: there are other bytes than ASCII
};

__global__ void __launch_bounds__(kStringThreads)
    look_kernel(DeviceStrings in, int64_t rows, Found* found) {
  const int64_t row = int64_t{blockIdx.x} * kStringThreads + threadIdx.x;
  unsigned bytes = 0;
  unsigned high = 0;
  if (row < rows && in.is_valid(row)) {
    const std::string_view text = in[row];
    for (size_t i = 0; i < text.size(); ++i) high |= static_cast<uint8_t>(text[i]);
    if (text.size() > sizeof(StringView::inlined)) bytes = static_cast<unsigned>(text.size());
  }
  high = __any_sync(~0u, high >= 0x80);
  unsigned long long all = bytes;
  for (int half = 16; half > 0; half /= 2) all += __shfl_xor_sync(~0u, all, half);
  if (threadIdx.x % 32 != 0) return;
  if (high) found->others = 1;  // all write the same
  if (all > 0) atomicAdd(&found->far_bytes, all);
}

/// Four bytes: those of letters from `first` on get the other case.
__device__ uint32_t other_case(uint32_t bytes, uint8_t first) {
  uint32_t made = 0;
  for (int i = 0; i < 4; ++i) {
    const auto byte = static_cast<uint8_t>(bytes >> (8 * i));
    made |=
        uint32_t{static_cast<uint8_t>(byte ^ (static_cast<uint8_t>(byte - first) < 26 ? 0x20 : 0))}
        << (8 * i);
  }
  return made;
}

__global__ void __launch_bounds__(kStringThreads)
    case_bytes_kernel(const uint32_t* __restrict__ in, int64_t words, uint8_t first,
                      uint32_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kStringThreads + threadIdx.x;
  if (i < words) out[i] = other_case(in[i], first);
}

__global__ void case_tail_kernel(const uint8_t* in, int64_t begin, int64_t end, uint8_t first,
                                 uint8_t* out) {
  for (int64_t i = begin; i < end; ++i) out[i] = static_cast<uint8_t>(other_case(in[i], first));
}

__global__ void __launch_bounds__(kStringThreads)
    case_views_kernel(DeviceStrings in, int64_t rows, uint8_t first, uint4* __restrict__ out,
                      unsigned* __restrict__ validity) {
  const int64_t row = int64_t{blockIdx.x} * kStringThreads + threadIdx.x;
  const bool valid = row < rows && in.is_valid(row);
  if (validity) {
    const unsigned there = __ballot_sync(~0u, valid);
    if (threadIdx.x % 32 == 0 && row < rows) validity[row / 32] = there;
  }
  if (row >= rows) return;
  uint4 made{};
  if (valid) {
    const uint32_t* const words = in.view(row);
    const bool is_inline = words[0] <= sizeof(StringView::inlined);
    made = {words[0], other_case(words[1], first),
            is_inline ? other_case(words[2], first) : words[2],
            is_inline ? other_case(words[3], first) : words[3]};
  }
  out[row] = made;
}

int64_t text_bytes(const Column& column) {
  int64_t bytes = 0;
  for (const Buffer& text : column.text_buffers()) bytes += text.size_bytes();
  return bytes;
}

}  // namespace

Column strip_text(const Column& column, StripEnds ends, const std::vector<uint32_t>& gone) {
  DeviceCall call("str", column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  StripOf of{ends, nullptr, static_cast<uint32_t>(gone.size())};
  if (!gone.empty()) {
    tables.push_back(call.table(gone.data(), static_cast<int64_t>(4 * gone.size())));
    of.gone = tables.back().as<uint32_t>();
  }
  return string_pieces(call, column, strings, of);
}

std::string why_no_case_kernel(const Column& column) {
  const int64_t rows = column.num_rows();
  if (rows == 0) return {};
  DeviceCall call("str", column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  const Buffer room = call.scratch(sizeof(Found));
  call.fill(call.writes(room), 0, sizeof(Found));
  look_kernel<<<blocks_of(rows, kStringThreads), kStringThreads, 0,
                static_cast<cudaStream_t>(call.stream())>>>(strings, rows,
                                                            call.writes_as<Found>(room));
  call.finish(cudaGetLastError());
  Found found{};
  call.fetch(&found, room.data(), sizeof found);
  if (found.others != 0) return "the case of other letters than ASCII has no kernel for CUDA";
  // Each text buffer is changed as a whole.
  constexpr int64_t kSmall = 1 << 20;
  if (text_bytes(column) > 4 * static_cast<int64_t>(found.far_bytes) + kSmall)
    return "strings that use little of their text have no kernel for CUDA";
  return {};
}

Column change_case(LetterCase wanted, const Column& column) {
  const auto first = static_cast<uint8_t>(wanted == LetterCase::kUpper ? 'a' : 'A');
  const int64_t rows = column.num_rows();
  DeviceCall call("str", column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  std::vector<Buffer> texts;
  for (const Buffer& text : column.text_buffers()) {
    const int64_t bytes = text.size_bytes();
    Buffer made = allocate_result(bytes, column.place());
    // Buffers of a device begin at multiples of 4 bytes, but those of others may not.
    const bool is_aligned = reinterpret_cast<uintptr_t>(text.data()) % 4 == 0;
    const int64_t words = is_aligned ? bytes / 4 : 0;
    if (words > 0)
      case_bytes_kernel<<<blocks_of(words, kStringThreads), kStringThreads, 0, stream>>>(
          text.as<uint32_t>(), words, first, call.writes_as<uint32_t>(made));
    if (4 * words < bytes)
      case_tail_kernel<<<1, 1, 0, stream>>>(text.as<uint8_t>(), 4 * words, bytes, first,
                                            call.writes_as<uint8_t>(made));
    texts.push_back(std::move(made));
  }
  const bool has_nulls = column.null_count() > 0;
  const Buffer views = allocate_result(16 * rows, column.place());
  const Buffer validity =
      has_nulls ? allocate_result(round_up(bitmap_bytes(rows), 4), column.place()) : Buffer();
  if (rows > 0)
    case_views_kernel<<<blocks_of(rows, kStringThreads), kStringThreads, 0, stream>>>(
        strings, rows, first, call.writes_as<uint4>(views),
        has_nulls ? call.writes_as<unsigned>(validity) : nullptr);
  call.finish(cudaGetLastError());
  return Column::strings(rows, views, std::move(texts), validity, column.null_count());
}

}  // namespace hr::cuda
