// SPDX-License-Identifier: Apache-2.0
// Text at the end of a buffer, whose room is asked for in large pieces.
#pragma once
#include "headrace/io/byte_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr {

class TextCursor {
 public:
  explicit TextCursor(ByteBuffer& buffer) : buffer_(buffer) {}

  TextCursor(const TextCursor&) = delete;
  TextCursor& operator=(const TextCursor&) = delete;

  ~TextCursor() { buffer_.advance(at - begin_); }

  /// Room for `size` more bytes at `at`.
  char* room(int64_t size) {
    if (end_ - at < size) {
      buffer_.advance(at - begin_);
      const int64_t piece = std::max(size, kPiece);
      begin_ = at = buffer_.reserve(piece);
      end_ = at + piece;
    }
    return at;
  }

  void put(std::string_view text) {
    std::memcpy(room(std::ssize(text)), text.data(), text.size());
    at += text.size();
  }

  char* at = nullptr;

 private:
  static constexpr int64_t kPiece = int64_t{1} << 16;

  ByteBuffer& buffer_;
  char* begin_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace hr
