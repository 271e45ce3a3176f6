// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/json/row_splitter.h"

#include "headrace/base/error.h"
#include "headrace/io/json/row_splitter_kernels.h"

#include <algorithm>
#include <cstring>

namespace hr::json {

namespace {

constexpr int64_t kMostRowBytes = int64_t{1} << 30;
constexpr int64_t kFewBytes = int64_t{1} << 12;
constexpr int64_t kWindow = int64_t{1} << 18;
constexpr int64_t kBehind = 64;

}  // namespace

RowSplitter::RowSplitter(std::string_view op, ByteSource& text, std::string name, bool is_array,
                         int64_t begin, int64_t chunk_bytes)
    : op_(op),
      text_(text),
      name_(std::move(name)),
      is_array_(is_array),
      chunk_bytes_(chunk_bytes),
      at_(begin),
      window_(Buffer::allocate(kWindow + kBehind)) {}

std::vector<Range> RowSplitter::next(int64_t most) {
  std::vector<Range> ranges;
  while (!is_done_ && std::ssize(ranges) < most) {
    const int64_t border = at_ + chunk_bytes_;
    int64_t end = text_.load(border);
    if (end < border)
      is_done_ = true;
    else
      end = is_array_ ? behind_comma(at_, chunk_bytes_ - 1) : behind_line(border - 1);
    if (end > at_) ranges.push_back({at_, end});
    at_ = end;
  }
  return ranges;
}

// Behind the first line end at `from` or later, or at the end of the text.
int64_t RowSplitter::behind_line(int64_t from) {
  char* const begin = window_.mutable_as<char>();
  for (int64_t step = kFewBytes;; step = std::min(2 * step, kWindow)) {
    const int64_t end = text_.load(from + step);
    const int64_t size = std::min(step, end - from);
    if (size <= 0) {
      is_done_ = true;
      return end;
    }
    text_.read(from, begin, size);
    if (const void* at = std::memchr(begin, '\n', static_cast<size_t>(size)))
      return from + (static_cast<const char*>(at) - begin) + 1;
    from += size;
    if (from - at_ > kMostRowBytes)
      throw_error<InputError>(op_, "a line is longer than 1 GiB",
                              {{"path", name_}, {"offset", at_}}, "look for missing line ends");
  }
}

// Behind the first comma between items that is `least` bytes behind `from` or later, or at the end.
int64_t RowSplitter::behind_comma(int64_t from, int64_t least) {
  char* const text = window_.mutable_as<char>();
  Nesting nesting;
  for (int64_t at = from;;) {
    const int64_t end = text_.load(at + kWindow);
    const int64_t size = std::min(kWindow, end - at);
    if (size <= 0) {
      is_done_ = true;
      return end;
    }
    text_.read(at, text, size);
    std::memset(text + size, 0, kBehind);
    const int64_t found =
        cpu::find_comma(text, size, std::max<int64_t>(from + least - at, 0), nesting);
    if (found >= 0) return at + found;
    at += size;
    if (at - from > kMostRowBytes + chunk_bytes_)
      throw_error<InputError>(op_, "an item of the array is longer than 1 GiB",
                              {{"path", name_}, {"offset", from}},
                              "look for a bracket or a quote that is never closed");
  }
}

}  // namespace hr::json
