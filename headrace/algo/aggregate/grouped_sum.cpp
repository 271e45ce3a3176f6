// SPDX-License-Identifier: Apache-2.0
// Sums of several columns by slot, side by side.
#include "headrace/algo/aggregate/grouped_sum.h"

#include <algorithm>
#include <array>

namespace hr {

namespace {

template <size_t kColumns>
void add(const uint32_t* slots, int64_t count, uint32_t* sizes, const double* const* from,
         double* const* to) {
  std::array<const double*, kColumns> x;
  std::array<double*, kColumns> states;
  std::copy_n(from, kColumns, x.begin());
  std::copy_n(to, kColumns, states.begin());
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t slot = slots[i];
    if (sizes) ++sizes[slot];
    for (size_t k = 0; k < kColumns; ++k) states[k][slot] += x[k][i];
  }
}

}  // namespace

bool all_finite(const double* x, int64_t count) {
  double zeros[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int k = 0; k < 8; ++k) zeros[k] += x[i + k] * 0.0;
  for (; i < count; ++i) zeros[0] += x[i] * 0.0;
  bool finite = true;
  for (const double zero : zeros) finite &= zero == 0;
  return finite;
}

void grouped_sum(const uint32_t* slots, int64_t count, uint32_t* sizes,
                 std::span<const double* const> x, std::span<double* const> states) {
  constexpr size_t kMost = 8;
  constexpr decltype(&add<1>) kAdd[] = {&add<0>, &add<1>, &add<2>, &add<3>,    &add<4>,
                                        &add<5>, &add<6>, &add<7>, &add<kMost>};
  size_t k = 0;
  do {
    const size_t some = std::min(kMost, x.size() - k);
    kAdd[some](slots, count, sizes, x.data() + k, states.data() + k);
    sizes = nullptr;
    k += some;
  } while (k < x.size());
}

}  // namespace hr
