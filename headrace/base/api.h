// SPDX-License-Identifier: Apache-2.0
// Marks on declarations: what the shared library exports, what runs on both host and device.
#pragma once

#define HR_API __attribute__((visibility("default")))

#ifdef __CUDACC__
#define HR_BOTH __host__ __device__
#else
#define HR_BOTH
#endif

// Small functions whose callers must hold them whole: vectors in registers, one instruction set.
#define HR_INLINE HR_BOTH inline __attribute__((always_inline))

namespace hr {

/// Whether the stem of the including file has a CUDA kernel in this build: the build system says so
/// file by file, so that all others are the same with and without CUDA.
#ifdef HR_BUILT_WITH_CUDA
constexpr bool built_with_cuda = true;
#else
constexpr bool built_with_cuda = false;
#endif

}  // namespace hr
