// SPDX-License-Identifier: Apache-2.0
// Kernels of csr for CUDA: rows the other way round, rows by falling degree, running sums.
#pragma once
#include "headrace/data/device.h"
#include "headrace/graph/structure/csr.h"

#include <cstdint>

namespace hr::cuda {

/// The rows of a graph on a device by falling degree, equal ones in the order of the vertices, and
/// targets numbered by how often they are one: what is read most lies together, and rows of about
/// one length too. In an undirected graph these are the same numbers.
struct OrderedRows {
  Csr rows{};          ///< of rank r, ranks ascending
  Buffer ranks{};      ///< of each vertex, uint32
  Buffer order{};      ///< the vertex of each rank, uint32
  Buffer places{};     ///< of the vertex of each rank among targets, uint32; none: its rank
  int64_t hubs = 0;    ///< rows long enough for a block of threads come first,
  int64_t wide = 0;    ///< then those for a warp
  int64_t narrow = 0;  ///< then those for 8 threads
  int64_t live = 0;    ///< the others with entries; behind them there are none
};

OrderedRows order_by_degree(const Csr& csr);

/// The same of one direction of a graph; `back`: the rows of the other one.
OrderedRows order_by_degree(const Csr& csr, const Csr& back);

/// As hr::transposed.
Csr transposed(const Csr& csr);

/// Offsets of rows, targets and, where there are numbers, edges of `entries` words, row << bits |
/// target, that ascend.
Csr rows_of_words(DeviceCall& call, const uint64_t* words, const uint32_t* numbers,
                  int64_t vertices, int64_t entries, int bits);

/// Bits that number a vertex.
int bits_of_vertex(int64_t vertices);

/// Makes of `count` values the sums of those before each.
void exclusive_sums(DeviceCall& call, uint32_t* values, int64_t count);
void exclusive_sums(DeviceCall& call, uint64_t* values, int64_t count);

/// A word of results that a kernel counted.
template <class T>
T fetched(const DeviceCall& call, const T* from) {
  T made{};
  call.fetch(&made, from, sizeof made);
  return made;
}

}  // namespace hr::cuda
