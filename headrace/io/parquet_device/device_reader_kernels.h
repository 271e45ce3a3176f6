// SPDX-License-Identifier: Apache-2.0
// Kernels that turn the bytes of pages into rows.
#pragma once
#include "headrace/data/device.h"
#include "headrace/io/parquet_device/page_math.h"

#include <cstdint>

namespace hr::parquet::cuda {

/// Queues the reading of pages of which all tables and bytes lie on the device; `slices`: of all.
void read_pages(const DeviceCall& call, const PageBatch& batch, uint32_t slices);

}  // namespace hr::parquet::cuda
