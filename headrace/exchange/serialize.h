// SPDX-License-Identifier: Apache-2.0
// A value as a short header and the bytes it lies in, and back with every number checked: what
// sharing between processes and pickling have in common.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/table.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hr {

/// What can go to another process. A label is the name that a series has outside of a frame.
using Serializable = std::variant<Column, Tensor, Table>;

/// A part of a buffer that begins at a multiple of 64 bytes, whole rows of a slice and a few more.
struct SerializedBuffer {
  Buffer buffer{};
  int64_t begin = 0;
  int64_t size_bytes = 0;

  const std::byte* data() const { return buffer.data() + begin; }
};

struct Serialized {
  std::string header{};
  std::vector<SerializedBuffer> pieces{};  ///< none of them empty
};

/// No bytes of values are copied, but for two cases that the ledger shows as asked under `op`: a
/// tensor that is not contiguous, and the text of strings of which less than half is in use (a few
/// rows of many).
HR_API Serialized serialize(std::string_view op, const Serializable& value,
                            const std::optional<std::string>& label = {});

struct Deserialized {
  Serializable value{};
  std::optional<std::string> label{};
};

/// The sizes of the pieces that a header asks for, in order.
HR_API std::vector<int64_t> buffer_sizes(std::string_view op, std::string_view header);

/// The value over `pieces`, which may be foreign and of any alignment (what is not aligned for its
/// dtype is copied; the ledger shows it). Nothing in header and pieces is believed: dtypes, counts,
/// sizes, strides, string views and codes are checked, and nulls are counted anew, so a bad header
/// throws InvalidArgumentError and reads nothing outside of the pieces.
HR_API Deserialized deserialize(std::string_view op, std::string_view header,
                                std::vector<Buffer> pieces);

/// The value over new buffers, which may leave memory under a budget: foreign ones, of a socket or
/// of another process, cannot. The ledger shows the copy as asked under `op`. Throws
/// OutOfMemoryError.
HR_API Serializable in_own_memory(std::string_view op, const Serializable& value);

}  // namespace hr
