// SPDX-License-Identifier: Apache-2.0
// Bytes that grow in a counted buffer.
#pragma once
#include "headrace/memory/buffer/pin.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr {

class ByteBuffer {
 public:
  int64_t size() const { return size_; }

  const char* data() const { return buffer_.as<char>(); }

  std::string_view view() const { return {data(), static_cast<size_t>(size_)}; }

  /// Room for `size` more bytes; `advance` then says how many were written.
  char* reserve(int64_t size) {
    if (size_ + size > buffer_.size_bytes()) {
      Buffer larger =
          Buffer::allocate(std::max<int64_t>({4096, 2 * buffer_.size_bytes(), size_ + size}));
      if (size_ > 0) std::memcpy(larger.mutable_data(), buffer_.data(), static_cast<size_t>(size_));
      buffer_ = std::move(larger);
    }
    return buffer_.mutable_as<char>() + size_;
  }

  void advance(int64_t size) { size_ += size; }

  void append(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(reserve(static_cast<int64_t>(text.size())), text.data(), text.size());
    advance(static_cast<int64_t>(text.size()));
  }

  void append(char byte) { append({&byte, 1}); }

  /// Forgets the bytes from `size` on.
  void shrink(int64_t size) { size_ = size; }

  /// Forgets the bytes and keeps the room.
  void clear() { size_ = 0; }

  /// A buffer of just these bytes, sealed (none: an empty handle); the arena is empty
  /// afterwards.
  Buffer finish() {
    Buffer exact;
    if (size_ > 0) {
      exact = Buffer::allocate_spillable(size_);
      {
        std::byte* const out = exact.mutable_data();
        const Pin pin{{&exact, 0, size_, true}};
        std::memcpy(out, buffer_.data(), static_cast<size_t>(size_));
      }
      exact.seal();
    }
    buffer_ = {};
    size_ = 0;
    return exact;
  }

 private:
  Buffer buffer_{};
  int64_t size_ = 0;
};

}  // namespace hr
