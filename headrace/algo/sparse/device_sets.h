// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: DisjointSets on a device.
#pragma once

namespace hr::cuda {

/// Sets whose root is their lowest number, which threads join; as DisjointSets. First each is
/// its own parent.
struct Sets {
  unsigned* parents;

  __device__ unsigned root(unsigned i) const {
    volatile unsigned* const known = parents;
    for (;;) {
      const unsigned parent = known[i];
      if (parent == i) return i;
      const unsigned above = known[parent];
      if (above != parent) known[i] = above;  // an older one of the set does no harm
      i = above;
    }
  }

  __device__ void join(unsigned a, unsigned b) const {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return;
      if (a > b) {
        const unsigned other = a;
        a = b;
        b = other;
      }
      if (atomicCAS(&parents[b], b, a) == b) return;
    }
  }
};

}  // namespace hr::cuda
