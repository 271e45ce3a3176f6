// SPDX-License-Identifier: Apache-2.0
// Kernels of permutations by a Feistel network: element i is a function of the network and i.
#pragma once
#include "headrace/base/api.h"

#include <array>
#include <cstdint>

namespace hr {

inline constexpr int kFeistelRounds = 6;

/// A permutation of the numbers below 4^`half_bits`.
struct FeistelNetwork {
  int half_bits = 1;
  std::array<uint64_t, kFeistelRounds> keys{};

  uint64_t forward(uint64_t number) const {
    uint64_t left = number >> half_bits, right = number & mask();
    for (const uint64_t key : keys) {
      const uint64_t mixed = left ^ round(right, key);
      left = right;
      right = mixed;
    }
    return left << half_bits | right;
  }

  uint64_t backward(uint64_t number) const {
    uint64_t left = number >> half_bits, right = number & mask();
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      const uint64_t mixed = right ^ round(left, *key);
      right = left;
      left = mixed;
    }
    return left << half_bits | right;
  }

 private:
  uint64_t mask() const { return (uint64_t{1} << half_bits) - 1; }

  // The upper bits of a product depend on all bits of its factors.
  uint64_t round(uint64_t half, uint64_t key) const {
    return (half + key) * 0xbf58476d1ce4e5b9 >> (64 - half_bits);
  }
};

namespace cpu {

/// out[i] = element (first + i * step) % rows of the permutation, or row `first + i`'s place in it.
void permuted_rows(const FeistelNetwork& network, int64_t rows, int64_t first, int64_t step,
                   int64_t count, int64_t* out);
void permuted_places(const FeistelNetwork& network, int64_t rows, int64_t first, int64_t count,
                     int64_t* out);

}  // namespace cpu
}  // namespace hr
