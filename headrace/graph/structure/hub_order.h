// SPDX-License-Identifier: Apache-2.0
// HubOrder: places for values of vertices, those that most entries ask for side by side.
#pragma once
#include "headrace/graph/structure/csr.h"

namespace hr {

/// Value v of a vector of the vertices stands at places[v]; the entries of `targets` are the places
/// of a Csr's targets, in its order. Vertices are by the power of two of how many entries name
/// them, falling, then in their own order ("DBG": P. Faldu, J. Diamond, B. Grot, IISWC 2019), so in
/// graphs with hubs most of what rows gather is in the nearest caches. Rows and the order in them
/// stay, so sums have the same bits with it and without. Empty where it would not pay.
struct HubOrder {
  Buffer places{};   ///< uint32 [vertices]
  Buffer targets{};  ///< uint32 [entries]

  explicit operator bool() const { return static_cast<bool>(targets); }

  int64_t size_bytes() const { return places.size_bytes() + targets.size_bytes(); }
};

/// For gathering along the entries of `rows`; `named` is its transpose. 3 ns an entry and core.
HR_API HubOrder hub_order(const Csr& rows, const Csr& named);

}  // namespace hr
