// SPDX-License-Identifier: Apache-2.0
// First pass over CSV text: 64 bytes at a time as bit masks of line ends, quotes and comments.
#define HWY_TARGET_INCLUDE "headrace/io/csv_row_splitter_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/csv_row_splitter_kernels.h"

#include <bit>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/byte_bits_math.h"

class Follower {
 public:
  Follower(const CsvSyntax& syntax, const char* text, int64_t size, QuoteState state)
      : syntax_(syntax), text_(text), size_(size), state_(state) {}

  ChunkOutcome follow() {
    // Without quotes or comments their places in the masks look for a byte that ends lines anyway.
    const bool none = syntax_.quote < 0 && syntax_.comment < 0;
    const auto either = static_cast<uint8_t>(syntax_.quote >= 0 ? syntax_.quote : syntax_.comment);
    const auto quote = either;
    const auto comment = syntax_.comment >= 0 ? static_cast<uint8_t>(syntax_.comment) : either;
    resume_ = 0;
    if (state_ == QuoteState::kMaybeClosed && size_ > 0) {
      resume_ = syntax_.is_quote(text_[0]) ? 1 : 0;
      state_ = resume_ ? QuoteState::kInside : QuoteState::kOutside;
    }
    uint64_t all_special = 0;
    uint64_t return_before = text_[-1] == '\r';
    for (int64_t at = 0; at < size_; at += 64) {
      const uint64_t line_feeds = equal_bits(text_ + at, '\n');
      const uint64_t carriage_returns = equal_bits(text_ + at, '\r');
      const uint64_t valid = bits_between(0, size_ - at < 64 ? size_ - at : 64);
      const uint64_t ends =
          (carriage_returns | (line_feeds & ~(carriage_returns << 1 | return_before))) & valid;
      return_before = carriage_returns >> 63;
      result_.lines += std::popcount(ends);
      const uint64_t special =
          none ? 0 : (equal_bits(text_ + at, quote) | equal_bits(text_ + at, comment)) & valid;
      all_special |= special;
      if (special == 0 && resume_ <= at)
        count(at, ends);
      else
        walk(at, ends, special, size_ - at < 64 ? size_ - at : 64);
    }
    result_.end = state_;
    result_.has_special = all_special != 0;
    if (last_ends_ != 0) result_.last_row = behind(last_block_ + 63 - std::countl_zero(last_ends_));
    return result_;
  }

 private:
  // Line ends of a stretch without quotes and comments.
  void count(int64_t at, uint64_t ends) {
    if (result_.first_row < 0) {
      if (state_ == QuoteState::kInside || ends == 0) {
        lines_ += std::popcount(ends);
        return;
      }
      result_.first_row = behind(at + std::countr_zero(ends));
      result_.first_row_lines = lines_ + 1;
    }
    if (ends == 0 || state_ == QuoteState::kInside) return;
    state_ = QuoteState::kOutside;  // a comment ends with its line
    result_.row_ends += std::popcount(ends);
    last_ends_ = ends;
    last_block_ = at;
  }

  void walk(int64_t at, uint64_t ends, uint64_t special, int64_t bits) {
    int64_t from = 0;
    if (resume_ > at) {  // a doubled quote across the border was taken whole
      from = resume_ - at;
      special &= bits_between(from, 64);
    }
    while (special != 0) {
      const int64_t i = std::countr_zero(special);
      special &= special - 1;
      count(at, ends & bits_between(from, i));
      from = i;
      const int64_t place = at + i;
      const char c = text_[place];
      if (state_ == QuoteState::kOutside) {
        if (syntax_.is_comment(c))
          state_ = QuoteState::kComment;
        else if (opens(text_[place - 1]))
          state_ = QuoteState::kInside;
      } else if (state_ == QuoteState::kInside && syntax_.is_quote(c)) {
        if (place + 1 == size_) {
          state_ = QuoteState::kMaybeClosed;
        } else if (syntax_.is_quote(text_[place + 1])) {
          special &= special - 1;  // gone already if it lies in the next block
          resume_ = place + 2;
          from = i + 2 < 64 ? i + 2 : 64;
        } else {
          state_ = QuoteState::kOutside;
        }
      }
    }
    if (from < bits) count(at, ends & bits_between(from, bits));
  }

  // A quote opens a field only as its first byte.
  bool opens(char before) const {
    return before == syntax_.delimiter || before == '\n' || before == '\r';
  }

  // Behind the line end whose first byte is at `place`.
  int64_t behind(int64_t place) const {
    return place + (text_[place] == '\r' && text_[place + 1] == '\n' ? 2 : 1);
  }

  const CsvSyntax& syntax_;
  const char* text_;
  int64_t size_;
  QuoteState state_;
  ChunkOutcome result_{};
  int64_t lines_ = 0;       // line ends before the first row end
  int64_t resume_ = 0;      // quotes before this offset are done
  uint64_t last_ends_ = 0;  // the last row ends that were counted, and the block they lie in
  int64_t last_block_ = 0;
};

ChunkOutcome follow(const CsvSyntax& syntax, const char* text, int64_t size, QuoteState state) {
  return Follower(syntax, text, size, state).follow();
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

ChunkOutcome follow_chunk(const CsvSyntax& syntax, const char* text, int64_t size,
                          QuoteState state) {
  return HR_SIMD(follow)(syntax, text, size, state);
}

}  // namespace hr::cpu
#endif
