// SPDX-License-Identifier: Apache-2.0
// Who holds memory by tag, and who held it when the most was in use.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/log/tag.h"

#include <cstdint>
#include <vector>

namespace hr {

struct TagBytes {
  TagInfo tag;
  int64_t bytes = 0;
};

/// The most that was in use since the process began, and its holders.
struct MemoryPeak {
  int64_t bytes = 0;
  int64_t noted_bytes = 0;        ///< in use when the holders were noted: 99 % of the peak or more
  int64_t time_ns = 0;            ///< of the noting, since 1970
  std::vector<TagBytes> holders;  ///< by tag, most bytes first
};

/// The holders are noted when the used bytes are 1 % (at least 64 KiB) above those of the last
/// noting. Allocations while the memory trace was off are without operator and line.
HR_API MemoryPeak memory_peak();

/// Used bytes of the host by tag, most first: running sums, no walk over the buffers.
HR_API std::vector<TagBytes> bytes_by_tag();

}  // namespace hr
