// SPDX-License-Identifier: Apache-2.0
// Selection between two values of a sample.
#include "headrace/algo/reduce/select_ranks.h"

#include "headrace/algo/reduce/select_ranks_kernels.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace hr {

namespace {

template <class T>
bool is_present(T value) {
  return value == value;
}

// Sorted; of places that are spread evenly, each a little aside of where it would be, so that
// values in waves do not mislead.
template <class T>
std::vector<T> sample_of(std::span<const T> values, const std::vector<BufferAccess>& accesses) {
  const auto rows = static_cast<int64_t>(values.size());
  const auto wanted = static_cast<int64_t>(std::pow(static_cast<double>(rows), 2.0 / 3));
  const int64_t step = std::max<int64_t>(rows / wanted, 1);
  std::vector<T> sample;
  uint64_t random = 0;
  for (int64_t begin = 0; begin + step <= rows; begin += step) {
    random = random * 0x5851F42D4C957F2D + 0x14057B7EF767814F;
    const int64_t row = begin + static_cast<int64_t>((random >> 33) % static_cast<uint64_t>(step));
    const Pin pin(ranges_of(accesses, row, row + 1));
    if (const T value = values[static_cast<size_t>(row)]; is_present(value))
      sample.push_back(value);
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Two values that most likely enclose a rank.
template <class T>
std::pair<T, T> enclosing(const std::vector<T>& sample, int64_t present, int64_t rank) {
  using Limits = std::numeric_limits<T>;
  constexpr double kDeviations = 4;
  const auto count = static_cast<double>(sample.size());
  const double part = static_cast<double>(rank) / static_cast<double>(present);
  const double margin = kDeviations * std::sqrt(count * part * (1 - part)) + 2;
  const auto low = static_cast<int64_t>(std::floor(part * count - margin));
  const auto high = static_cast<int64_t>(std::ceil(part * count + margin));
  const T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
  return {low < 0 ? least : sample[static_cast<size_t>(low)],
          high >= static_cast<int64_t>(sample.size()) ? most : sample[static_cast<size_t>(high)]};
}

}  // namespace

template <class T>
int64_t count_present(std::span<const T> values, const std::vector<BufferAccess>& accesses) {
  const auto rows = static_cast<int64_t>(values.size());
  if constexpr (!std::numeric_limits<T>::has_quiet_NaN) return rows;
  std::vector<int64_t> counts(static_cast<size_t>(num_morsels(rows)));
  parallel_morsels(rows, accesses, [&](const Morsel& morsel) {
    counts[static_cast<size_t>(morsel.index)] =
        std::count_if(values.data() + morsel.begin, values.data() + morsel.end, is_present<T>);
  });
  int64_t present = 0;
  for (const int64_t count : counts) present += count;
  return present;
}

template <class T>
RankedPair<T> select_ranks(std::span<const T> values, int64_t present, int64_t rank,
                           const std::vector<BufferAccess>& accesses) {
  const auto rows = static_cast<int64_t>(values.size());
  if (rows >= kLeastToSelect) {
    const auto [low, high] = enclosing(sample_of(values, accesses), present, rank);
    struct Part {
      WindowCounts counts;
      std::vector<T> between;
    };
    std::vector<Part> parts(static_cast<size_t>(num_morsels(rows)));
    parallel_morsels(rows, accesses, [&, low = low, high = high](const Morsel& morsel) {
      auto& [counts, between] = parts[static_cast<size_t>(morsel.index)];
      T room[kBlockRows];
      for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
        const int64_t found = cpu::split_window(
            values.data() + row, std::min(kBlockRows, morsel.end - row), low, high, counts, room);
        between.insert(between.end(), room, room + found);
      }
    });
    WindowCounts counts;
    std::vector<T> between;
    for (const Part& part : parts) {
      counts.below += part.counts.below;
      counts.up_to_low += part.counts.up_to_low;
      counts.up_to_high += part.counts.up_to_high;
      between.insert(between.end(), part.between.begin(), part.between.end());
    }
    const auto inside = static_cast<int64_t>(between.size());
    const auto value_of = [&, low = low, high = high](int64_t wanted) -> std::optional<T> {
      if (wanted < counts.below || wanted >= counts.up_to_high) return std::nullopt;
      if (wanted < counts.up_to_low) return low;
      if (wanted >= counts.up_to_low + inside) return high;
      const auto at = between.begin() + (wanted - counts.up_to_low);
      std::nth_element(between.begin(), at, between.end());
      return *at;
    };
    const std::optional<T> at = value_of(rank), next = value_of(std::min(rank + 1, present - 1));
    if (at && next) return {*at, *next};
  }
  std::vector<T> copy;
  copy.reserve(static_cast<size_t>(present));
  std::copy_if(values.begin(), values.end(), std::back_inserter(copy), is_present<T>);
  const auto at = copy.begin() + rank;
  std::nth_element(copy.begin(), at, copy.end());
  return {*at, at + 1 == copy.end() ? *at : *std::min_element(at + 1, copy.end())};
}

#define HR_INSTANTIATE(T)                                                   \
  template RankedPair<T> select_ranks(std::span<const T>, int64_t, int64_t, \
                                      const std::vector<BufferAccess>&);    \
  template int64_t count_present(std::span<const T>, const std::vector<BufferAccess>&);
HR_INSTANTIATE(int8_t)
HR_INSTANTIATE(int16_t)
HR_INSTANTIATE(int32_t)
HR_INSTANTIATE(int64_t)
HR_INSTANTIATE(uint8_t)
HR_INSTANTIATE(uint16_t)
HR_INSTANTIATE(uint32_t)
HR_INSTANTIATE(uint64_t)
HR_INSTANTIATE(float)
HR_INSTANTIATE(double)
#undef HR_INSTANTIATE

}  // namespace hr
