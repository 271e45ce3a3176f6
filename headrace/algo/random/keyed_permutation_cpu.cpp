// SPDX-License-Identifier: Apache-2.0
// Permutations by a Feistel network, pieces of elements in parallel.
#include "headrace/algo/random/keyed_permutation_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"

#include <algorithm>

namespace hr::cpu {

namespace {

// A batch for training is smaller than a morsel, and worth two threads.
constexpr int64_t kPiece = 1 << 13;

// Each number through the network until it is one of the rows. A block goes together: a number
// alone would wait for each of its rounds.
template <class Step>
void walk(int64_t rows, uint64_t* numbers, int64_t count, Step&& step) {
  const auto end = static_cast<uint64_t>(rows);
  for (int64_t i = 0; i < count; ++i) numbers[i] = step(numbers[i]);
  uint16_t outside[kBlockRows];
  int64_t left = 0;
  for (int64_t i = 0; i < count; ++i) {
    outside[left] = static_cast<uint16_t>(i);
    left += numbers[i] >= end;
  }
  while (left > 0) {
    int64_t kept = 0;
    for (int64_t k = 0; k < left; ++k) {
      const uint16_t i = outside[k];
      numbers[i] = step(numbers[i]);
      outside[kept] = i;
      kept += numbers[i] >= end;
    }
    left = kept;
  }
}

// `fill(i, count, numbers)` gives the numbers of elements i, i + 1, ... that go
// into the network.
template <class Fill, class Step>
void permute(int64_t rows, int64_t count, int64_t* out, Fill&& fill, Step&& step) {
  parallel_for(divide_up(count, kPiece), [&](int64_t piece) {
    uint64_t numbers[kBlockRows];
    const int64_t end = std::min((piece + 1) * kPiece, count);
    for (int64_t i = piece * kPiece; i < end; i += kBlockRows) {
      const int64_t some = std::min(kBlockRows, end - i);
      fill(i, some, numbers);
      walk(rows, numbers, some, step);
      for (int64_t k = 0; k < some; ++k) out[i + k] = static_cast<int64_t>(numbers[k]);
    }
  });
}

}  // namespace

void permuted_rows(const FeistelNetwork& network, int64_t rows, int64_t first, int64_t step,
                   int64_t count, int64_t* out) {
  permute(
      rows, count, out,
      [&](int64_t i, int64_t some, uint64_t* numbers) {
        int64_t at = (first + i * step) % rows;
        const int64_t by = step % rows;
        for (int64_t k = 0; k < some; ++k) {
          numbers[k] = static_cast<uint64_t>(at);
          at += by;
          at -= at >= rows ? rows : 0;
        }
      },
      [&](uint64_t number) { return network.forward(number); });
}

void permuted_places(const FeistelNetwork& network, int64_t rows, int64_t first, int64_t count,
                     int64_t* out) {
  permute(
      rows, count, out,
      [&](int64_t i, int64_t some, uint64_t* numbers) {
        for (int64_t k = 0; k < some; ++k) numbers[k] = static_cast<uint64_t>(first + i + k);
      },
      [&](uint64_t number) { return network.backward(number); });
}

}  // namespace hr::cpu
