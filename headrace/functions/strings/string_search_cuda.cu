// SPDX-License-Identifier: Apache-2.0
// Tests, lengths and slices of strings on a CUDA device.
#include "headrace/functions/strings/string_rows_device.h"
#include "headrace/functions/strings/string_search_kernels.h"

namespace hr::cuda {

namespace {

template <bool passes(std::string_view, std::string_view)>
struct PartRows {
  DeviceStrings strings;
  Pattern part;

  __device__ bool is_valid(int64_t row) const { return strings.is_valid(row); }
  __device__ bool test(int64_t row) const { return passes(strings[row], part); }
};

struct CodeRows {
  const int32_t* codes;
  const uint8_t* validity;
  int64_t offset;
  const uint8_t* bits;  // of each code

  __device__ bool is_valid(int64_t row) const {
    const int64_t at = offset + row;
    return !validity || (validity[at >> 3] >> (at & 7) & 1);
  }

  __device__ bool test(int64_t row) const { return bits[codes[row] >> 3] >> (codes[row] & 7) & 1; }
};

struct SliceOf {
  int64_t begin;
  int64_t end;

  __device__ std::string_view operator()(std::string_view text) const {
    return slice_of(text, begin, end);
  }
};

__global__ void __launch_bounds__(kStringThreads)
    length_kernel(DeviceStrings in, int64_t rows, int32_t* __restrict__ out,
                  unsigned* __restrict__ validity) {
  const int64_t row = int64_t{blockIdx.x} * kStringThreads + threadIdx.x;
  const bool valid = row < rows && in.is_valid(row);
  if (validity) {
    const unsigned there = __ballot_sync(~0u, valid);
    if (threadIdx.x % 32 == 0 && row < rows) validity[row / 32] = there;
  }
  if (row < rows) out[row] = valid ? characters_of(in[row]) : 0;
}

}  // namespace

Column test_text(TextTest test, const Column& column, std::string_view part) {
  DeviceCall call("str", column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  const Pattern pattern = pattern_of(call, part, tables);
  const auto run = [&](const auto& rows) {
    return test_string_rows(call, column.place(), rows, column.num_rows(), column.null_count());
  };
  if (test == TextTest::kContains) return run(PartRows<contains_part>{strings, pattern});
  if (test == TextTest::kStartsWith) return run(PartRows<starts_with_part>{strings, pattern});
  return run(PartRows<ends_with_part>{strings, pattern});
}

Column test_codes(const Column& column, const Buffer& bits) {
  DeviceCall call("str", column.place());
  call.reads(column.values_buffer());
  if (column.null_count() > 0) call.reads(column.validity_buffer());
  const Buffer table = call.table(bits.data(), bits.size_bytes());
  const CodeRows rows{column.values_buffer().as<int32_t>() + column.offset(),
                      column.null_count() > 0 ? column.validity_buffer().as<uint8_t>() : nullptr,
                      column.offset(), table.as<uint8_t>()};
  return test_string_rows(call, column.place(), rows, column.num_rows(), column.null_count());
}

Column slice_text(const Column& column, int64_t begin, int64_t end) {
  DeviceCall call("str", column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  return string_pieces(call, column, strings, SliceOf{begin, end});
}

Column text_length(const Column& column) {
  DeviceCall call("str", column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  const int64_t rows = column.num_rows();
  const bool has_nulls = column.null_count() > 0;
  const Buffer lengths = allocate_result(4 * rows, column.place());
  const Buffer validity =
      has_nulls ? allocate_result(round_up(bitmap_bytes(rows), 4), column.place()) : Buffer();
  if (rows > 0)
    length_kernel<<<blocks_of(rows, kStringThreads), kStringThreads, 0,
                    static_cast<cudaStream_t>(call.stream())>>>(
        strings, rows, call.writes_as<int32_t>(lengths),
        has_nulls ? call.writes_as<unsigned>(validity) : nullptr);
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt32, rows, lengths, validity, column.null_count());
}

}  // namespace hr::cuda
