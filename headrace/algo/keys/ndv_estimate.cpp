// SPDX-License-Identifier: Apache-2.0
// What a few rows tell of the keys of all.
#include "headrace/algo/keys/ndv_estimate.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/base/bits.h"
#include "headrace/data/dictionary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr size_t kSample = 4096;
constexpr int32_t kFrequent = 50;  // rows of a key in the sample
constexpr uint64_t kNull = 0x6E756C6C;
constexpr uint32_t kShortText = 6;  // bytes of strings that are packed as numbers
constexpr double kFewTexts = 1 << 17;

/// Counts equal numbers of 32 bits.
class Counts {
 public:
  /// Whether it was not there before.
  bool add(uint32_t key) {
    for (size_t at = (key * 0x9E3779B1u) / kPerSlot;; at = (at + 1) % kSlots) {
      Slot& slot = slots_[at];
      if (slot.count == 0) {
        slot = {key, 1};
        used_.push_back(static_cast<uint32_t>(at));
        return true;
      }
      if (slot.key != key) continue;
      ++slot.count;
      return false;
    }
  }

  double distinct() const { return static_cast<double>(used_.size()); }

  template <class F>
  void visit(F&& f) const {
    for (const uint32_t at : used_) f(slots_[at].count);
  }

 private:
  struct Slot {
    uint32_t key;
    int32_t count;
  };

  static constexpr size_t kSlots = 4 * kSample;
  static constexpr uint32_t kPerSlot = static_cast<uint32_t>((uint64_t{1} << 32) / kSlots);
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::vector<uint32_t> used_{};
};

// Without repeats, since a row that is taken twice looks like two rows with one key. In random
// order and not one from each stretch of rows: then equal keys that lie together would be missed.
std::vector<int64_t> random_rows(int64_t rows) {
  std::vector<int64_t> picked;
  if (rows <= static_cast<int64_t>(2 * kSample)) {
    for (int64_t row = 0; row < rows; ++row) picked.push_back(row);
    return picked;
  }
  Counts seen;
  for (uint64_t i = 0; picked.size() < kSample; ++i) {
    __extension__ using Wide = unsigned __int128;
    const auto row =
        static_cast<int64_t>(static_cast<Wide>(hash_key(i)) * static_cast<uint64_t>(rows) >> 64);
    if (seen.add(static_cast<uint32_t>(row))) picked.push_back(row);
  }
  return picked;
}

double estimate(const std::vector<uint64_t>& hashes, int64_t rows) {
  Counts counts;
  for (const uint64_t hash : hashes) counts.add(static_cast<uint32_t>(hash_key(hash) >> 32));
  const auto all = static_cast<double>(rows);
  double sampled = static_cast<double>(hashes.size()), frequent = 0, rare = 0, once = 0;
  if (sampled >= all) return counts.distinct();
  const double part = sampled / all;
  counts.visit([&](int32_t count) {
    const bool many = count > kFrequent;
    if (many) sampled -= count;
    (many ? frequent : rare) += 1;
    once += count == 1;
  });
  if (rare > 0) rare *= sampled / (sampled - once + once * part);
  return std::min(all, frequent + rare);
}

/// The sampled rows of one column.
class ColumnSample {
 public:
  ColumnSample(const Column& column, const std::vector<int64_t>& rows)
      : column_(column), rows_(rows), own_(rows.size(), kNull) {
    const Dtype dtype = column.dtype();
    if (dtype.is_string())
      add_texts();
    else if (dtype.is_bool())
      add([&](int64_t row) {
        return uint64_t{get_bit(column.values_buffer().as<uint8_t>(), column.offset() + row)};
      });
    else
      add_values(dtype);
  }

  const std::vector<uint64_t>& hashes() const { return own_; }

  void add_to(NdvEstimate& guess) const {
    const Dtype dtype = column_.dtype();
    double domain = std::numeric_limits<double>::infinity();
    if (dtype.is_bool())
      domain = 2;
    else if (dtype.is_category())
      domain = column_.dictionary()->size();
    else if (ranged_)
      domain = std::max(most_ - least_ + 1, 0.0);
    if (column_.null_count() > 0) domain += 1;
    if (dtype.is_string() && !(longest_ <= kShortText && domain <= kFewTexts)) {
      guess.has_texts = true;
      guess.text_bytes += text_bytes_;
      domain = estimate(own_, column_.num_rows());
    }
    guess.domain *= domain;
  }

 private:
  template <class F>
  void add(F&& number_of) {
    const bool nulls = column_.null_count() != 0;
    for (size_t i = 0; i < rows_.size(); ++i)
      if (!nulls || !column_.is_null(rows_[i])) own_[i] = number_of(rows_[i]);
  }

  void add_values(Dtype dtype) {
    const int64_t width = dtype.size_bytes();
    const std::byte* const values = column_.values_buffer().data() + column_.offset() * width;
    const bool is_float = dtype.is_floating(), is_signed = !dtype.is_unsigned();
    ranged_ = !is_float && width <= 8;
    add([&](int64_t row) {
      uint64_t words[2] = {0, 0};
      std::memcpy(words, values + row * width, static_cast<size_t>(std::min<int64_t>(width, 16)));
      if (ranged_) {
        const auto unused = static_cast<int>(64 - 8 * width);
        note(is_signed ? static_cast<double>(static_cast<int64_t>(words[0] << unused) >> unused)
                       : static_cast<double>(words[0]));
      }
      return width > 8 ? hash_key(words[0]) ^ words[1] : words[0];
    });
  }

  // By the bytes of the text as a number, where it is short.
  void add_texts() {
    const StringView* const views = column_.values<StringView>().data();
    double far = 0;
    for (const int64_t row : rows_) __builtin_prefetch(views + row);
    add([&](int64_t row) {
      const StringView& view = views[row];
      longest_ = std::max(longest_, view.size);
      if (view.size > sizeof view.inlined) {
        far += view.size;
        return StringKey(column_.string(row)).hash;
      }
      if (view.size <= kShortText) {
        uint64_t word = 0;
        std::memcpy(&word, view.inlined, view.size);
        note(static_cast<double>(__builtin_bswap64(word) >> 16));
      }
      return StringKey(view).hash;
    });
    // Of one length the last bytes of the number are none.
    ranged_ = longest_ <= kShortText;
    if (ranged_ && longest_ > 0) {
      const double unused = std::exp2(8.0 * (kShortText - longest_));
      least_ = std::floor(least_ / unused);
      most_ = std::floor(most_ / unused);
    }
    if (!rows_.empty()) text_bytes_ = far / static_cast<double>(rows_.size());
  }

  void note(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }

  const Column& column_;
  const std::vector<int64_t>& rows_;
  std::vector<uint64_t> own_;
  double least_ = std::numeric_limits<double>::max();
  double most_ = std::numeric_limits<double>::lowest();
  bool ranged_ = false;
  uint32_t longest_ = 0;
  double text_bytes_ = 0;
};

}  // namespace

NdvEstimate estimate_ndv(const std::vector<Column>& columns) {
  NdvEstimate guess{.distinct = 0, .domain = 1};
  if (columns.empty() || columns[0].num_rows() == 0) return guess;
  const int64_t all = columns[0].num_rows();
  const std::vector<int64_t> rows = random_rows(all);
  std::vector<uint64_t> hashes;
  for (const Column& column : columns) {
    const ColumnSample sample(column, rows);
    sample.add_to(guess);
    if (hashes.empty())
      hashes = sample.hashes();
    else
      for (size_t i = 0; i < hashes.size(); ++i)
        hashes[i] = hash_key(hashes[i]) ^ sample.hashes()[i];
  }
  const bool known = columns.size() == 1 && guess.has_texts;
  guess.distinct = known ? guess.domain : std::min(estimate(hashes, all), guess.domain);
  return guess;
}

double distinct_in_sample(double distinct, double rows, double some) {
  if (distinct <= 0 || rows <= 0) return 0;
  if (some >= rows) return distinct;
  return distinct * (1 - std::pow(1 - some / rows, rows / distinct));
}

}  // namespace hr
