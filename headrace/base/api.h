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

#ifdef HR_BUILT_WITH_CUDA
inline constexpr bool built_with_cuda = true;
#else
inline constexpr bool built_with_cuda = false;
#endif

}  // namespace hr
