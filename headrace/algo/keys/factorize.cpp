// SPDX-License-Identifier: Apache-2.0
// Numbers for the distinct keys of many rows.
#include "headrace/algo/keys/factorize.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace hr {

namespace {

// If three of four of these rows have a key of their own, the rows have more than 2^18 keys, were
// they spread evenly.
constexpr int64_t kFirstRows = kMorselRows;

class KeyWork {
 public:
  KeyWork(FactorizedKeys& result, int64_t rows, const ReadKeys& read,
          const std::vector<BufferAccess>& accesses, int64_t most)
      : result_(result), rows_(rows), read_(read), accesses_(accesses), most_(most) {
    accesses_.push_back({&result.numbers, 0, 32, 32, rows, 0, 0, true});
    numbers_ = result.numbers.mutable_as<uint32_t>();
    missed_.resize(static_cast<size_t>(num_morsels(rows)));
  }

  bool look(Morsel morsel) {
    const Pin pin(ranges_of(accesses_, morsel.begin, morsel.end));
    const uint32_t known = result_.table.size();
    KeyMap* missed = morsel.index == 0 ? &result_.table : nullptr;
    uint64_t keys[kBlockRows];
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, morsel.end - row);
      read_(row, count, keys);
      uint32_t* numbers = numbers_ + row;
      if (morsel.index == 0) {
        result_.table.add(keys, count, numbers);
        continue;
      }
      if (result_.table.find(keys, count, numbers) == 0) continue;
      missed = &missed_[static_cast<size_t>(morsel.index)];
      for (int64_t i = 0; i < count; ++i)
        if (numbers[i] == KeyMap::kAbsent) numbers[i] = known + missed->add(keys[i]);
    }
    known_ = known;
    return morsel.index > 0 && missed;
  }

  void add(int64_t k) {
    KeyMap& missed = missed_[static_cast<size_t>(k)];
    std::vector<uint32_t>& turn = turns_.emplace_back(missed.size());
    result_.table.add(missed.keys(), missed.size(), turn.data());
    turn_of_.resize(missed_.size());
    turn_of_[static_cast<size_t>(k)] = turns_.size() - 1;
    missed = {};
  }

  void mend(Morsel morsel) {
    const Pin pin({{&result_.numbers, 4 * morsel.begin, 4 * morsel.end, true}});
    const std::vector<uint32_t>& turn = turns_[turn_of_[static_cast<size_t>(morsel.index)]];
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (numbers_[row] >= known_) numbers_[row] = turn[numbers_[row] - known_];
  }

  bool goes_on(int64_t rows) {
    turns_.clear();
    const int64_t found = result_.table.size();
    if (found > most_) return false;
    const bool first = rows >= kFirstRows && !std::exchange(looked_, true);
    return !(first && found > rows * 3 / 4 && rows_ > most_);
  }

 private:
  FactorizedKeys& result_;
  int64_t rows_;
  const ReadKeys& read_;
  std::vector<BufferAccess> accesses_;
  int64_t most_;
  uint32_t* numbers_;
  std::vector<KeyMap> missed_{};
  std::vector<std::vector<uint32_t>> turns_{};
  std::vector<size_t> turn_of_{};
  std::atomic<uint32_t> known_{0};
  bool looked_ = false;
};

}  // namespace

namespace {

// Where keys come but a few times each, the one table is mostly made by one thread.
constexpr int64_t kTimes = 8;

int64_t most_of(int64_t rows) {
  return std::min(kFewKeys, rows / kTimes);
}

KeySample sample_of(int64_t rows, int64_t most) {
  constexpr int64_t kMostSample = 1 << 14, kLeastSample = 1 << 11;
  // So many that of `most` keys 500 come twice.
  const auto enough = static_cast<int64_t>(32 * std::sqrt(static_cast<double>(most)));
  const int64_t count = std::min(rows, std::clamp(enough, kLeastSample, kMostSample));
  return {count, rows / std::max<int64_t>(count, 1)};
}

// How often each key of a sample comes, at its first place; 0 at the others. Small tables: the keys
// of a device are counted while it waits.
std::vector<uint16_t> times_of(const std::vector<uint64_t>& keys) {
  const int bits = std::bit_width(2 * keys.size() - 1);
  constexpr uint16_t kFree = UINT16_MAX;
  std::vector<uint16_t> places(size_t{1} << bits, kFree);
  std::vector<uint16_t> times(keys.size(), 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t at = hash_key(keys[i]) >> (64 - bits);
    while (places[at] != kFree && keys[places[at]] != keys[i]) at = (at + 1) % places.size();
    if (places[at] == kFree) places[at] = static_cast<uint16_t>(i);
    ++times[places[at]];
  }
  return times;
}

bool tells_of_more(const std::vector<uint64_t>& keys, int64_t most) {
  const auto sample = static_cast<int64_t>(keys.size());
  // Without those that come often, as a missing value may.
  constexpr int64_t kOften = 4;
  int64_t taken = 0, distinct = 0;
  for (const int64_t times : times_of(keys)) {
    if (times == 0 || times > kOften) continue;
    taken += times;
    ++distinct;
  }
  return taken >= sample / 4 && taken - distinct < taken * taken / (2 * most);
}

}  // namespace

// Numbering the keys of fewer than kManyRows costs little.
bool has_many_keys(int64_t rows, const ReadKeys& read, const std::vector<BufferAccess>& accesses) {
  return rows >= KeySample::kManyRows && has_more_keys(rows, read, accesses, most_of(rows));
}

KeySample many_keys_sample(int64_t rows) {
  return sample_of(rows, most_of(rows));
}

bool are_many_keys(int64_t rows, const std::vector<uint64_t>& keys) {
  return tells_of_more(keys, most_of(rows));
}

int64_t most_times(const std::vector<uint64_t>& keys) {
  return keys.empty() ? 0 : std::ranges::max(times_of(keys));
}

bool has_more_keys(int64_t rows, const ReadKeys& read, const std::vector<BufferAccess>& accesses,
                   int64_t most) {
  const auto [sample, step] = sample_of(rows, most);
  if (sample == 0) return false;
  std::vector<uint64_t> keys(static_cast<size_t>(sample));
  const bool may_be_gone = memory_limit() != INT64_MAX;
  constexpr int64_t kTogether = 512;
  parallel_for(divide_up(sample, kTogether), [&, step = step, sample = sample](int64_t part) {
    for (int64_t i = part * kTogether; i < std::min((part + 1) * kTogether, sample); ++i) {
      const Pin pin(may_be_gone ? ranges_of(accesses, i * step, i * step + 1)
                                : std::vector<PinnedRange>());
      read(i * step, 1, &keys[static_cast<size_t>(i)]);
    }
  });
  return tells_of_more(keys, most);
}

FactorizedKeys factorize(int64_t rows, const ReadKeys& read,
                         const std::vector<BufferAccess>& accesses, int64_t most) {
  FactorizedKeys result;
  result.numbers = Buffer::allocate_temporary(4 * rows);
  if (rows == 0) return result;
  KeyWork work(result, rows, read, accesses, most);
  if (factorize_in_waves(rows, work) < rows || result.table.size() > most)
    result.numbers = {};
  else
    result.numbers.seal();
  return result;
}

}  // namespace hr
