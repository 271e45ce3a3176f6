// SPDX-License-Identifier: Apache-2.0
// Chunks of a column as one on a CUDA device: values by copies, bits shifted into place, views of
// strings with the numbers of their text buffers moved.
#include "headrace/algo/select/concat_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"

#include <utility>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

/// A thread a word of the result, of those with bits [begin, begin + count); words that another
/// chunk has begun are added to. Of no bitmap all bits are ones.
__global__ void bits_kernel(const uint8_t* __restrict__ bits, int64_t offset, int64_t begin,
                            int64_t count, unsigned* __restrict__ out) {
  const int64_t at = begin / 32 + int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at > (begin + count - 1) / 32) return;
  const int64_t first = at * 32 > begin ? at * 32 : begin;
  const int64_t last = (at + 1) * 32 < begin + count ? (at + 1) * 32 : begin + count;
  const int size = static_cast<int>(last - first);
  unsigned own = size == 32 ? ~0u : (1u << size) - 1;
  if (bits) {
    const int64_t from = offset + first - begin;
    uint64_t word = 0;
    for (int64_t byte = from / 8; byte <= (from + size - 1) / 8; ++byte)
      word |= uint64_t{bits[byte]} << (8 * (byte - from / 8));
    own &= static_cast<unsigned>(word >> (from % 8));
  }
  own <<= first % 32;
  out[at] = first % 32 == 0 ? own : out[at] | own;
}

__global__ void views_kernel(const StringView* __restrict__ in, int64_t count, unsigned texts,
                             StringView* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  StringView view = in[i];
  if (view.size > sizeof view.inlined) view.indirect.buffer += texts;
  out[i] = view;
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

void put_bits(DeviceCall& call, const Buffer* bitmap, int64_t offset, int64_t begin, int64_t count,
              const Buffer& out) {
  if (count == 0) return;
  if (bitmap) call.reads(*bitmap);
  const int64_t words = (begin + count - 1) / 32 - begin / 32 + 1;
  bits_kernel<<<blocks_of(words, kThreads), kThreads, 0, stream_of(call)>>>(
      bitmap ? bitmap->as<uint8_t>() : nullptr, offset, begin, count,
      call.writes_as<unsigned>(out));
}

void put_values(DeviceCall& call, const Column& chunk, unsigned texts, int64_t begin,
                const Buffer& out) {
  const int64_t width = chunk.dtype().size_bytes();
  const int64_t rows = chunk.num_rows();
  if (rows == 0) return;
  call.reads(chunk.values_buffer());
  const std::byte* const from = chunk.values_buffer().data() + chunk.offset() * width;
  std::byte* const to = call.writes(out) + begin * width;
  if (chunk.dtype().is_string() && texts > 0)
    views_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
        reinterpret_cast<const StringView*>(from), rows, texts, reinterpret_cast<StringView*>(to));
  else
    check_cuda("concat", cudaMemcpyAsync(to, from, static_cast<size_t>(rows * width),
                                         cudaMemcpyDeviceToDevice, stream_of(call)));
}

int64_t bytes_of(std::string_view op, Dtype dtype, int64_t rows) {
  return dtype.is_bool() ? round_up(bitmap_bytes(rows), 8)
                         : checked_multiply(op, rows, dtype.size_bytes());
}

}  // namespace

Column concatenate(std::string_view op, Dtype dtype, std::span<const Column> chunks) {
  int64_t rows = 0;
  int64_t nulls = 0;
  Place place;
  for (const Column& chunk : chunks) {
    rows = checked_add(op, rows, chunk.num_rows());
    nulls += chunk.null_count();
    if (chunk.num_rows() > 0 || chunk.place().is_gpu()) place = chunk.place();
  }
  DeviceCall call(op, place);
  const Buffer values = allocate_result(bytes_of(op, dtype, rows), place);
  const Buffer validity =
      nulls > 0 ? allocate_result(round_up(bitmap_bytes(rows), 8), place) : Buffer();
  std::vector<Buffer> text;
  int64_t begin = 0;
  for (const Column& chunk : chunks) {
    const int64_t count = chunk.num_rows();
    if (dtype.is_bool())
      put_bits(call, &chunk.values_buffer(), chunk.offset(), begin, count, values);
    else
      put_values(call, chunk, static_cast<unsigned>(text.size()), begin, values);
    if (nulls > 0)
      put_bits(call, chunk.null_count() > 0 ? &chunk.validity_buffer() : nullptr, chunk.offset(),
               begin, count, validity);
    if (dtype.is_string())
      text.insert(text.end(), chunk.text_buffers().begin(), chunk.text_buffers().end());
    begin += count;
  }
  call.finish(cudaGetLastError());
  if (dtype.is_string()) return Column::strings(rows, values, std::move(text), validity, nulls);
  if (dtype.is_category())
    return Column::categories(rows, values, chunks[0].dictionary(), validity, nulls);
  return Column(dtype, rows, values, validity, nulls);
}

Column null_rows(std::string_view op, const Column& like, int64_t rows) {
  const Place place = like.place();
  DeviceCall call(op, place);
  const int64_t bytes = bytes_of(op, like.dtype(), rows);
  const int64_t bitmap = round_up(bitmap_bytes(rows), 8);
  const Buffer values = allocate_result(bytes, place);
  const Buffer validity = allocate_result(bitmap, place);
  call.fill(call.writes(values), 0, bytes);
  call.fill(call.writes(validity), 0, bitmap);
  call.finish(cudaGetLastError());
  if (like.dtype().is_string()) return Column::strings(rows, values, {}, validity, rows);
  return like.with_rows(rows, values, validity, rows);
}

}  // namespace hr::cuda
