// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/text_writer.h"

#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/io/parquet/distinct_guess.h"
#include "headrace/io/parquet/hybrid_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

namespace hr::parquet {

namespace {

constexpr double kWorth = 0.95;       // a dictionary has to save this share
constexpr size_t kLongestBound = 64;  // of what is cut
constexpr size_t kMostBound = 4096;   // of what cannot be cut
constexpr int64_t kBlock = 64;        // strings whose slots are fetched ahead

// The first `size` bytes, less a character that is cut.
std::string_view cut(std::string_view text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

// The least string that is greater than all that begin so, without its zeros; empty: none is found.
std::string above(std::string text) {
  while (!text.empty()) {
    auto& last = reinterpret_cast<uint8_t&>(text.back());
    if (last < 0x7F || (last >= 0x80 && last < 0xBF)) {
      ++last;
      return text;
    }
    do {  // a whole character
      const bool goes_on = (static_cast<uint8_t>(text.back()) & 0xC0) == 0x80;
      text.pop_back();
      if (!goes_on) break;
    } while (!text.empty());
  }
  return text;
}

// Rows of strings in their order, and of each row its place there.
struct TextRanks {
  explicit TextRanks(const Column& texts)
      : order(argsort({texts}, {SortOrder{}})), ranks(Buffer::allocate(4 * texts.num_rows())) {
    for (int64_t rank = 0; rank < texts.num_rows(); ++rank)
      ranks.mutable_as<uint32_t>()[order.as<int64_t>()[rank]] = static_cast<uint32_t>(rank);
  }

  Tensor order;
  Buffer ranks;
};

class TextWriter final : public ValueWriter {
 public:
  explicit TextWriter(const Column& column) : column_(column), count_(column.num_rows()) {
    if (column.dtype().is_category()) {
      entries_ = column.dictionary()->values();
      codes_ = reinterpret_cast<const uint32_t*>(column.values<int32_t>().data());
      ranks_.emplace(*entries_);
    } else {
      texts_.emplace(column);
      if (count_ > 0) choose();
    }
    if (!entries_) return;
    bytes_per_value_ = index_bits(entries_->num_rows()) / 8.0;
    texts_.emplace(*entries_);
  }

  Encoding encoding() const override {
    return num_entries() > 0 ? Encoding::kRleDictionary : Encoding::kPlain;
  }

  int64_t num_entries() const override { return entries_ ? entries_->num_rows() : 0; }

  void append_dictionary(ByteBuffer& out) const override {
    append_plain(0, entries_->num_rows(), out);
  }

  double bytes_per_value() const override { return bytes_per_value_; }

  void append(int64_t begin, int64_t end, ByteBuffer& out) override {
    if (num_entries() == 0) return append_plain(begin, end, out);
    const int width = index_bits(entries_->num_rows());
    out.append(static_cast<char>(width));
    append_hybrid(codes_ + begin, end - begin, width, out);
  }

  std::optional<ValueBounds> bounds(int64_t begin, int64_t end) override {
    const auto [least, most] = codes_ ? coded_bounds(begin, end) : plain_bounds(begin, end);
    return text_bounds((*texts_)[least], (*texts_)[most]);
  }

  bool is_less(std::string_view a, std::string_view b) const override { return a < b; }

  int64_t num_hashes() const override { return entries_ ? entries_->num_rows() : count_; }

  void add_to(BloomFilter& filter) const override {
    for (int64_t i = 0; i < num_hashes(); ++i) filter.add(hash_bytes((*texts_)[i]));
  }

 private:
  void append_plain(int64_t begin, int64_t end, ByteBuffer& out) const {
    constexpr int64_t kHead = sizeof(uint32_t), kInline = sizeof(StringView::inlined);
    char* at = nullptr;
    const char* room = nullptr;  // up to there a string that stands in its view can be put
    const auto make_room = [&](int64_t bytes) {
      if (at) out.advance(at - (out.data() + out.size()));
      at = out.reserve(bytes);
      room = at + bytes - kHead - kInline;
    };
    make_room((end - begin) * static_cast<int64_t>(kHead + kInline) + kHead + kInline);
    for (int64_t i = begin; i < end; ++i) {
      const StringView& view = texts_->view(i);
      if (view.size <= kInline) {
        if (at > room) make_room((end - i) * (kHead + kInline) + kHead + kInline);
        std::memcpy(at, &view, kHead + kInline);
        at += kHead + view.size;
        continue;
      }
      const std::string_view text = (*texts_)[i];
      const auto size = static_cast<int64_t>(text.size());
      if (at + size > room) make_room(size + (end - i + 1) * (kHead + kInline));
      std::memcpy(at, &view.size, kHead);
      std::memcpy(at + kHead, text.data(), text.size());
      at += kHead + size;
    }
    out.advance(at - (out.data() + out.size()));
  }

  double plain_bytes() const {
    double bytes = 0;
    for (int64_t i = 0; i < count_; ++i) bytes += 4.0 + texts_->view(i).size;
    return bytes;
  }

  void choose() {
    const double plain = plain_bytes();
    bytes_per_value_ = plain / static_cast<double>(count_);
    int64_t changes = 0;
    for (int64_t i = 1; i < std::min(count_, kFirstLook); ++i)
      changes += (*texts_)[i] != (*texts_)[i - 1];
    const double share =
        static_cast<double>(changes) / static_cast<double>(std::min(count_, kFirstLook));
    DictionaryBuilder builder;
    const auto is_worth = [&](double distinct) {
      return distinct * bytes_per_value_ +
                 guess_index_bytes(distinct, count_, share * static_cast<double>(count_)) <
             kWorth * plain;
    };
    Buffer made = Buffer::allocate(count_ * static_cast<int64_t>(sizeof(uint32_t)));
    auto* const codes = made.mutable_as<uint32_t>();
    int64_t look = kFirstLook;
    for (int64_t begin = 0; begin < count_; look *= 2) {
      const int64_t end = std::min(look, count_);
      for (int64_t i = begin; i < end; i += kBlock)
        add_block(builder, i, std::min(i + kBlock, end), codes);
      if (!is_worth(guess_distinct(builder.size(), end, count_))) return;
      begin = end;
    }
    if (!is_worth(builder.size())) return;
    sort_entries(builder.values(), codes);
    made_ = std::move(made);
    codes_ = made_.as<uint32_t>();
  }

  // Codecs make sorted entries smaller, and unpack them sooner: neighbours begin alike.
  void sort_entries(const Column& found, uint32_t* codes) {
    const TextRanks ranks(found);
    entries_ = gather(found, ranks.order);
    for (int64_t i = 0; i < count_; ++i) codes[i] = ranks.ranks.as<uint32_t>()[codes[i]];
  }

  void add_block(DictionaryBuilder& builder, int64_t begin, int64_t end, uint32_t* codes) const {
    std::array<std::optional<StringKey>, kBlock> keys;
    for (int64_t i = begin; i < end; ++i) {
      const StringView& view = texts_->view(i);
      std::optional<StringKey>& key = keys[static_cast<size_t>(i - begin)];
      if (view.size <= sizeof view.inlined)
        key.emplace(view);
      else
        key.emplace((*texts_)[i]);
      builder.fetch(*key);
    }
    for (int64_t i = begin; i < end; ++i) builder.fetch_text(*keys[static_cast<size_t>(i - begin)]);
    for (int64_t i = begin; i < end; ++i)
      codes[i] =
          static_cast<uint32_t>(builder.add(*keys[static_cast<size_t>(i - begin)], (*texts_)[i]));
  }

  struct Ends {
    int64_t least;
    int64_t most;
  };

  Ends coded_bounds(int64_t begin, int64_t end) const {
    const uint32_t* const ranks = ranks_ ? ranks_->ranks.as<uint32_t>() : nullptr;
    uint32_t least = UINT32_MAX, most = 0;
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t rank = ranks ? ranks[codes_[i]] : codes_[i];
      least = std::min(least, rank);
      most = std::max(most, rank);
    }
    if (!ranks) return {least, most};
    const int64_t* const order = ranks_->order.as<int64_t>();
    return {order[least], order[most]};
  }

  Ends plain_bounds(int64_t begin, int64_t end) const {
    Ends found{begin, begin};
    for (int64_t i = begin + 1; i < end; ++i) {
      const std::string_view text = (*texts_)[i];
      if (text < (*texts_)[found.least]) found.least = i;
      if (text > (*texts_)[found.most]) found.most = i;
    }
    return found;
  }

  const Column column_;
  int64_t count_;
  std::optional<StringReader> texts_{};  // of the values, or of the dictionary's entries
  std::optional<Column> entries_{};
  std::optional<TextRanks> ranks_{};  // unless codes are in order
  Buffer made_{};
  const uint32_t* codes_ = nullptr;
  double bytes_per_value_ = 0;
};

}  // namespace

std::optional<ValueBounds> text_bounds(std::string_view least, std::string_view most) {
  ValueBounds bounds{std::string(cut(least, kLongestBound)), std::string(most), true};
  bounds.is_exact = bounds.least.size() == least.size();
  if (most.size() > kLongestBound) {
    std::string longer = above(std::string(cut(most, kLongestBound)));
    if (longer.empty() && most.size() > kMostBound) return std::nullopt;
    if (!longer.empty()) {
      bounds.most = std::move(longer);
      bounds.is_exact = false;
    }
  }
  return bounds;
}

std::unique_ptr<ValueWriter> write_texts(const Column& column) {
  return std::make_unique<TextWriter>(column);
}

}  // namespace hr::parquet
