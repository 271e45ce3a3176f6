// SPDX-License-Identifier: Apache-2.0
// Large buffers of zeros.
#include "headrace/exec/zeroed.h"

#include "headrace/exec/workers.h"

#include <algorithm>
#include <cstring>

namespace hr {

Buffer allocate_zeroed_by_workers(int64_t size_bytes) {
  constexpr int64_t kPiece = int64_t{1} << 18;
  Buffer buffer = Buffer::allocate(size_bytes);
  std::byte* const data = size_bytes > 0 ? buffer.mutable_data() : nullptr;
  parallel_for((size_bytes + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t begin = piece * kPiece, end = std::min(begin + kPiece, size_bytes);
    std::memset(data + begin, 0, static_cast<size_t>(end - begin));
  });
  return buffer;
}

}  // namespace hr
