// SPDX-License-Identifier: Apache-2.0
// Pieces that all workers make part by part, sent in order while later ones are made.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace hr::parquet {

struct PieceWork {
  std::function<void(int64_t piece)> open;  ///< once before its parts; of one without parts never
  std::function<void(int64_t piece, int64_t part)> make;  ///< by any worker
  std::function<void(int64_t piece)> send;  ///< by any worker, one piece after the other
};

/// `parts`: the number of each piece's. At most `most_open` pieces are open and not sent. No worker
/// waits but for the piece that it needs room for. Throws what the work throws, and Interrupted;
/// then some pieces are not sent.
void make_in_order(const std::vector<int64_t>& parts, int64_t most_open, const PieceWork& work);

}  // namespace hr::parquet
