// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/text_writer.h"

#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/io/parquet/delta_writer.h"
#include "headrace/io/parquet/distinct_guess.h"
#include "headrace/io/parquet/hybrid_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

namespace hr::parquet {

namespace {

constexpr double kWorth = 0.95;            // a dictionary has to save this share
constexpr int64_t kMostFrontCoded = 4096;  // bytes of a string: a page of them is not too large
constexpr double kFrontCodedWorth = 0.75;  // the same of strings without what they repeat
// Of 59,000 keys among 89,000 strings a dictionary takes 1.6 times as long to read.
constexpr double kDictionaryWorth = 0.95;
constexpr double kEntryBytes = 4;  // of an entry and what it repeats, where a codec packs it
constexpr int64_t kSampledBlocks = 256, kSampledRows = 128;
constexpr size_t kAlike = 32;         // lengths that are packed together
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
  TextWriter(const Column& column, bool front_codes)
      : column_(column), count_(column.num_rows()), front_codes_(front_codes) {
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
    return num_entries() > 0 ? Encoding::kRleDictionary
           : is_front_coded_ ? Encoding::kDeltaByteArray
                             : Encoding::kPlain;
  }

  int64_t num_entries() const override { return entries_ ? entries_->num_rows() : 0; }

  void append_dictionary(ByteBuffer& out) const override {
    append_plain(0, entries_->num_rows(), out);
  }

  double bytes_per_value() const override { return bytes_per_value_; }

  void append(int64_t begin, int64_t end, ByteBuffer& out) override {
    if (is_front_coded_) return append_front_coded(begin, end, out);
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

  // DELTA_BYTE_ARRAY: of each string what it does not have in common with the one before.
  void append_front_coded(int64_t begin, int64_t end, ByteBuffer& out) const {
    const auto count = static_cast<size_t>(end - begin);
    Buffer lengths = Buffer::allocate(static_cast<int64_t>(2 * count * sizeof(int32_t)));
    const std::span prefixes(lengths.mutable_as<int32_t>(), count);
    const std::span suffixes(prefixes.data() + count, count);
    const int64_t bytes = find_suffixes(begin, prefixes, suffixes);
    append_delta(prefixes.data(), end - begin, out);
    append_delta(suffixes.data(), end - begin, out);
    char* at = out.reserve(bytes);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view text = (*texts_)[begin + static_cast<int64_t>(i)];
      std::memcpy(at, text.data() + prefixes[i], static_cast<size_t>(suffixes[i]));
      at += suffixes[i];
    }
    out.advance(bytes);
  }

  // Of strings from `begin` on; gives the bytes of all suffixes. Prefixes are as short as the
  // shortest of kAlike where that takes less: equal lengths take nothing.
  int64_t find_suffixes(int64_t begin, std::span<int32_t> prefixes,
                        std::span<int32_t> suffixes) const {
    int64_t bytes = 0;
    std::string_view before;
    for (size_t i = 0; i < prefixes.size(); ++i) {
      const std::string_view text = (*texts_)[begin + static_cast<int64_t>(i)];
      const auto most = static_cast<int32_t>(std::min(text.size(), before.size()));
      prefixes[i] = static_cast<int32_t>(
          std::mismatch(text.begin(), text.begin() + most, before.begin()).first - text.begin());
      suffixes[i] = static_cast<int32_t>(text.size()) - prefixes[i];
      before = text;
    }
    for (size_t first = 1; first < prefixes.size(); first += kAlike) {
      const auto some = prefixes.subspan(first, std::min(kAlike, prefixes.size() - first));
      const auto [least, most] = std::ranges::minmax(some);
      int64_t repeated = 0;
      for (const int32_t prefix : some) repeated += prefix - least;
      const int bits = std::bit_width(static_cast<uint32_t>(most - least));
      if (repeated > 2 * bits * std::ssize(some) / 8) continue;
      for (size_t i = 0; i < some.size(); ++i) {
        suffixes[first + i] += some[i] - least;
        some[i] = least;
      }
    }
    for (const int32_t suffix : suffixes) bytes += suffix;
    return bytes;
  }

  // About how many bytes that takes, of some blocks all over the values.
  double guess_front_coded_bytes() const {
    const int64_t blocks = count_ / kSampledRows;
    if (blocks == 0) return std::numeric_limits<double>::infinity();
    const int64_t sampled = std::min(blocks, kSampledBlocks);
    std::array<int32_t, kSampledRows> prefixes, suffixes;
    int64_t bytes = 0;
    for (int64_t b = 0; b < sampled; ++b) {
      bytes += find_suffixes(b * blocks / sampled * kSampledRows, prefixes, suffixes);
      bytes -= suffixes[0];
      bytes += packed_bytes(prefixes) + packed_bytes(suffixes);
    }
    return static_cast<double>(bytes) / static_cast<double>(sampled * (kSampledRows - 1)) *
           static_cast<double>(count_);
  }

  static int64_t packed_bytes(std::span<const int32_t, kSampledRows> lengths) {
    ByteBuffer packed;
    append_delta(lengths.data() + 1, kSampledRows - 1, packed);
    return packed.size();
  }

  // Of the dictionary, whose entries are in order, as a codec leaves them, and of indices.
  double packed_dictionary_bytes(double index_bytes) const {
    const StringReader entries(*entries_);
    double bytes = index_bytes;
    std::string_view before;
    for (int64_t i = 0; i < entries_->num_rows(); ++i) {
      const std::string_view text = entries[i];
      const size_t most = std::min(text.size(), before.size());
      bytes += kEntryBytes +
               static_cast<double>(text.end() -
                                   std::mismatch(text.begin(),
                                                 text.begin() + static_cast<std::ptrdiff_t>(most),
                                                 before.begin())
                                       .first);
      before = text;
    }
    return bytes;
  }

  void choose() {
    double plain = 0;
    int64_t longest = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const auto bytes = static_cast<int64_t>(texts_->view(i).size);
      plain += 4.0 + static_cast<double>(bytes);
      longest = std::max(longest, bytes);
    }
    bytes_per_value_ = plain / static_cast<double>(count_);
    const double front_coded = front_codes_ && longest <= kMostFrontCoded
                                   ? guess_front_coded_bytes()
                                   : std::numeric_limits<double>::infinity();
    is_front_coded_ = front_coded < kFrontCodedWorth * plain;
    choose_dictionary(plain, front_coded);
    if (is_front_coded_) bytes_per_value_ = front_coded / static_cast<double>(count_);
  }

  void choose_dictionary(double plain, double front_coded) {
    int64_t changes = 0;
    for (int64_t i = 1; i < std::min(count_, kFirstLook); ++i)
      changes += (*texts_)[i] != (*texts_)[i - 1];
    const double share =
        static_cast<double>(changes) / static_cast<double>(std::min(count_, kFirstLook));
    DictionaryBuilder builder;
    const auto index_bytes = [&](double distinct) {
      return guess_index_bytes(distinct, count_, share * static_cast<double>(count_));
    };
    const auto is_worth = [&](double distinct) {
      const double indices = index_bytes(distinct);
      return distinct * bytes_per_value_ + indices < kWorth * plain &&
             (!is_front_coded_ ||
              distinct * kEntryBytes + indices < kDictionaryWorth * front_coded);
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
    if (is_front_coded_ &&
        packed_dictionary_bytes(index_bytes(builder.size())) > kDictionaryWorth * front_coded) {
      entries_.reset();
      return;
    }
    is_front_coded_ = false;
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
  const bool front_codes_;
  std::optional<StringReader> texts_{};  // of the values, or of the dictionary's entries
  std::optional<Column> entries_{};
  std::optional<TextRanks> ranks_{};  // unless codes are in order
  Buffer made_{};
  const uint32_t* codes_ = nullptr;
  double bytes_per_value_ = 0;
  bool is_front_coded_ = false;
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

std::unique_ptr<ValueWriter> write_texts(const Column& column, bool front_codes) {
  return std::make_unique<TextWriter>(column, front_codes);
}

}  // namespace hr::parquet
