// SPDX-License-Identifier: Apache-2.0
// Kernels compiled at run time by NVRTC and kept, in memory and on the disk. For `_cuda.cu` files.
#pragma once
#include <cstdint>
#include <string>

namespace hr::cuda {

/// The function `name` of the source `prelude` and `text` for a device; a CUfunction. The first
/// call compiles it (about 0.1 to 1 s) or finds what an earlier process compiled. All calls of a
/// process pass one prelude: later calls look at the text alone. Needs NVRTC. Throws InternalError
/// with the compiler's words, DeviceError.
void* find_kernel(const std::string& prelude, const std::string& text, const char* name,
                  int device);

/// Why no kernel can be compiled; empty: NVRTC is there.
std::string why_no_compiler();

/// How many sources this process compiled, and how many it found on the disk.
struct KernelCacheCounts {
  int64_t compiled;
  int64_t found;
};
KernelCacheCounts kernel_cache_counts();

}  // namespace hr::cuda
