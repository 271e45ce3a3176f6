// SPDX-License-Identifier: Apache-2.0
// Kernels that turn the bytes of pages into rows.
#pragma once
#include "headrace/io/parquet_device/page_math.h"

#include <cstdint>

namespace hr::parquet::cuda {

/// Queues the unpacking of pages, of which all tables and bytes lie on the device, and the search
/// for their values. `has_zstd`: some are packed by it.
void find_values(void* stream, const PageBatch& batch, bool has_zstd);

/// Queues the writing of their rows, when the values of all dictionaries are there; `slices`: of
/// all pages, more than 0.
void write_rows(void* stream, const PageBatch& batch, uint32_t slices);

}  // namespace hr::parquet::cuda
