// SPDX-License-Identifier: Apache-2.0
// PNG files in memory.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// A PNG file as 1-D uint8 from uint8 [height, width] (gray), [height, width, 3] (RGB) or
/// [height, width, 4] (RGBA). A build without zlib writes the pixels uncompressed. Any strides.
/// Throws TypeMismatchError for other dtypes or shapes, InvalidArgumentError for an empty image or
/// one above 65536 pixels a side.
HR_API Tensor encode_png(const Tensor& image);

}  // namespace hr
