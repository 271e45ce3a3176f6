// SPDX-License-Identifier: Apache-2.0
// Packed bytes on their way to a decompressor, in a counted buffer.
#pragma once
#include "headrace/base/error.h"
#include "headrace/io/source.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace hr {

/// Refilled when its bytes are used up.
struct PackedInput {
  static constexpr int64_t kBytes = int64_t{1} << 18;

  std::string op;
  std::string name;
  ReadBytes read;
  Buffer buffer = Buffer::allocate(kBytes);
  int64_t begin = 0;
  int64_t end = 0;
  bool over = false;

  /// False at the end of the packed bytes.
  bool fill() {
    if (begin < end) return true;
    if (over) return false;
    begin = 0;
    end = read(buffer.mutable_as<char>(), kBytes);
    over = end == 0;
    return !over;
  }

  int64_t size() const { return end - begin; }

  const unsigned char* data() const { return buffer.as<unsigned char>() + begin; }

  /// Takes exactly `size` bytes; false when fewer are left.
  bool take(char* into, int64_t size) {
    while (size > 0) {
      if (!fill()) return false;
      const int64_t some = std::min(size, this->size());
      std::memcpy(into, data(), static_cast<size_t>(some));
      begin += some;
      into += some;
      size -= some;
    }
    return true;
  }

  [[noreturn]] void damaged(std::string_view what,
                            std::string_view fix = "fetch or write the file again") const {
    throw InputError(error_message(op, what, {{"path", name}}, fix), name);
  }
};

}  // namespace hr
