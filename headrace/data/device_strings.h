// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: strings of a column as kernels read them.
#pragma once
#include "headrace/data/device_launch.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hr::cuda {

/// The rows of a string column on a device. Views may lie at any multiple of 4 bytes.
struct DeviceStrings {
  const uint32_t* views;    // four words each
  const uint8_t* validity;  // bits; null: no row is null
  int64_t offset;           // of the first row's bit
  const char* const* text;

  __device__ bool is_valid(int64_t row) const {
    const int64_t at = offset + row;
    return !validity || (validity[at >> 3] >> (at & 7) & 1);
  }

  const __device__ uint32_t* view(int64_t row) const { return views + 4 * row; }

  /// Of a row that is not null.
  __device__ std::string_view operator[](int64_t row) const {
    const uint32_t* const words = view(row);
    const uint32_t size = words[0];
    return {size <= sizeof(StringView::inlined) ? reinterpret_cast<const char*>(words + 1)
                                                : text[words[2]] + words[3],
            size};
  }
};

/// Keeps the addresses of the column's text in `tables`, which must outlive the kernels.
inline DeviceStrings strings_of(DeviceCall& call, const Column& column,
                                std::vector<Buffer>& tables) {
  std::vector<const char*> text;
  call.reads(column.values_buffer());
  if (column.null_count() > 0) call.reads(column.validity_buffer());
  for (const Buffer& buffer : column.text_buffers()) {
    call.reads(buffer);
    text.push_back(buffer.as<char>());
  }
  DeviceStrings strings{};
  strings.views = column.values_buffer().as<uint32_t>() + 4 * column.offset();
  strings.validity = column.null_count() > 0 ? column.validity_buffer().as<uint8_t>() : nullptr;
  strings.offset = column.offset();
  if (!text.empty()) {
    tables.push_back(call.table(text.data(), static_cast<int64_t>(8 * text.size())));
    strings.text = tables.back().as<const char*>();
  }
  return strings;
}

}  // namespace hr::cuda
