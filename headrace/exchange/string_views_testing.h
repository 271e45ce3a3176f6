// SPDX-License-Identifier: Apache-2.0
// Columns of string views over memory that ends where its bytes end.
#pragma once
#include "headrace/base/bits.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// A copy on the heap that an address sanitizer sees the end of.
inline Buffer exact_buffer(const void* data, size_t bytes) {
  auto* const copy = new std::string(static_cast<const char*>(data), bytes);
  copy->shrink_to_fit();
  return Buffer::adopt(copy->data(), static_cast<int64_t>(bytes),
                       {copy, [](void* held) noexcept { delete static_cast<std::string*>(held); }});
}

inline Column views_column(const std::vector<StringView>& views, std::vector<Buffer> text,
                           std::optional<uint64_t> validity = {}) {
  Buffer bits;
  if (validity) {
    bits = Buffer::allocate_zeroed(bitmap_bytes(static_cast<int64_t>(views.size())));
    for (size_t row = 0; row < views.size(); ++row)
      set_bit(bits.mutable_as<uint8_t>(), static_cast<int64_t>(row), *validity >> row & 1);
  }
  Buffer values = Buffer::allocate(static_cast<int64_t>(views.size() * sizeof(StringView)));
  if (!views.empty())
    std::memcpy(values.mutable_data(), views.data(), views.size() * sizeof(StringView));
  return Column::strings(static_cast<int64_t>(views.size()), std::move(values), std::move(text),
                         std::move(bits), -1);
}

}  // namespace hr
