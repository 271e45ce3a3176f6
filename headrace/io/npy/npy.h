// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files to tensors.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hr {

/// Where the bytes of a file come from.
struct NpyBytes {
  /// Copies `size` bytes from `offset` on. Throws where there are fewer.
  std::function<void(int64_t offset, char* into, int64_t size)> read;
  int64_t size = 0;
  /// Any thread may read at any offset; else the calling thread reads from the first byte on.
  bool takes_places = false;
};

/// The array of a file of version 1 to 3: bools, integers, floats, complex numbers, datetime64 and
/// timedelta64 of s, ms, us or ns, of any rank. The header is a few words that are compared, never
/// Python that runs; the size that it declares is compared with the bytes that are there before
/// anything is allocated. Other byte orders are swapped in place, Fortran order becomes strides.
/// Bytes behind the array are ignored, as NumPy does. Throws UnsupportedError for arrays of
/// objects, strings and records, naming the fix, InputError for what is damaged, OutOfMemoryError.
HR_API Tensor read_npy(std::string_view op, const std::string& name, const NpyBytes& bytes);

/// The same of a source that is opened.
HR_API Tensor read_npy(std::string_view op, const std::string& name, ByteSource& source);

}  // namespace hr
