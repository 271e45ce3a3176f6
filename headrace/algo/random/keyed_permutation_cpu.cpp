// SPDX-License-Identifier: Apache-2.0
// Permutations by a Feistel network, a morsel of elements at a time.
#include "headrace/algo/random/keyed_permutation_kernels.h"
#include "headrace/exec/workers.h"

namespace hr::cpu {

void permuted_rows(const FeistelNetwork& network, int64_t rows, int64_t first, int64_t step,
                   int64_t count, int64_t* out) {
  const auto end = static_cast<uint64_t>(rows);
  parallel_morsels(count, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) {
      uint64_t number = static_cast<uint64_t>(first + i * step) % end;
      do number = network.forward(number);
      while (number >= end);
      out[i] = static_cast<int64_t>(number);
    }
  });
}

void permuted_places(const FeistelNetwork& network, int64_t rows, int64_t first, int64_t count,
                     int64_t* out) {
  const auto end = static_cast<uint64_t>(rows);
  parallel_morsels(count, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) {
      auto number = static_cast<uint64_t>(first + i);
      do number = network.backward(number);
      while (number >= end);
      out[i] = static_cast<int64_t>(number);
    }
  });
}

}  // namespace hr::cpu
