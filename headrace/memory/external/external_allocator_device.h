// SPDX-License-Identifier: Apache-2.0
// Device memory for other libraries.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/device/device_allocator.h"
#include "headrace/memory/external/external_allocator_c.h"
#include "headrace/memory/log/tag.h"

#include <cstddef>

namespace hr {

/// New bytes on a device in the order of `stream`; null when it refuses (`last_refusal`).
HR_API void* device_allocate(size_t bytes, int device, void* stream, Tag tag) noexcept;
HR_API hr_alloc_statistics_v1 device_statistics(int device);

/// What finds the tag of an allocation of `library` ("torch"): the bindings know the Python line.
using LineTag = Tag (*)(const char* library) noexcept;
HR_API void set_line_tag(LineTag find);
HR_API Tag line_tag(const char* library) noexcept;

}  // namespace hr
