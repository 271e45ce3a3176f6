// SPDX-License-Identifier: Apache-2.0
// Records become columns, a block of them after the other while it is in the cache.
#include "headrace/exchange/structured_array.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor.h"
#include "headrace/exchange/strided.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstring>

namespace hr {

namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 14;  // records and what they become fit into L1

struct FieldCopy {
  int64_t offset;
  int64_t width;
  std::byte* out;
};

template <int64_t kWidth>
void copy_field(const std::byte* in, int64_t stride, int64_t rows, std::byte* out) {
  for (int64_t row = 0; row < rows; ++row, in += stride, out += kWidth)
    std::memcpy(out, in, static_cast<size_t>(kWidth));
}

void copy_field(int64_t width, const std::byte* in, int64_t stride, int64_t rows, std::byte* out) {
  switch (width) {
    case 1:
      return copy_field<1>(in, stride, rows, out);
    case 2:
      return copy_field<2>(in, stride, rows, out);
    case 4:
      return copy_field<4>(in, stride, rows, out);
    default:
      return copy_field<8>(in, stride, rows, out);
  }
}

void check(std::string_view op, int64_t record_bytes, const RecordField& field) {
  const Dtype dtype = field.dtype;
  if (!(dtype.is_number() || dtype.is_timestamp()))
    throw_error<TypeMismatchError>(op, "unsupported dtype of a field", {{"dtype", dtype.name()}},
                                   "pass it as a separate column");
  if (field.offset < 0 || field.offset > record_bytes - dtype.size_bytes())
    throw_error<InvalidArgumentError>(op, "a field is out of range of its record",
                                      {{"offset", field.offset}, {"record", record_bytes}});
}

}  // namespace

std::vector<Column> split_records(std::string_view op, const std::byte* data, int64_t rows,
                                  int64_t stride, int64_t record_bytes,
                                  std::span<const RecordField> fields) {
  std::vector<Buffer> buffers;
  std::vector<FieldCopy> work;
  int64_t bytes = 0;
  for (const RecordField& field : fields) {
    check(op, record_bytes, field);
    const int64_t width = field.dtype.size_bytes();
    buffers.push_back(Buffer::allocate(checked_multiply(op, rows, width)));
    work.push_back({field.offset, width, rows > 0 ? buffers.back().mutable_data() : nullptr});
    bytes += rows * width;
  }
  record_copy(op, "records become columns", bytes, false);
  const int64_t block = std::max<int64_t>(kBlockBytes / std::max<int64_t>(record_bytes, 1), 16);
  if (rows > 0)
    parallel_morsels(rows, [&](Morsel morsel) {
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += block) {
        const int64_t count = std::min(block, morsel.end - begin);
        for (const FieldCopy& field : work)
          copy_field(field.width, data + begin * stride + field.offset, stride, count,
                     field.out + begin * field.width);
      }
    });
  std::vector<Column> columns;
  for (size_t i = 0; i < fields.size(); ++i)
    columns.push_back(column_of(op, Tensor(fields[i].dtype, {rows}, std::move(buffers[i]))));
  return columns;
}

}  // namespace hr
