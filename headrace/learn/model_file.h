// SPDX-License-Identifier: Apache-2.0
// Models in files: a JSON header and the arrays it speaks of, without code.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/learn/json.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hr {

// A file of version 1, all numbers little-endian:
//
//   0  "\x89HRMODL\n"     what it is
//   8  uint32 1           its version
//  12  uint32 0
//  16  uint64             bytes of the header, which begins at 40 and ends at a multiple of 64
//  24  uint64             bytes of the file
//  32  uint64             checksum of all other bytes: against accidents, not against forgers
//  40  the header         a JSON object, spaces behind it; "arrays" says where each array lies
//      the arrays         in Arrow's layouts (strings: int64 offsets and text), each part from a
//                         multiple of 64 bytes on, in order and without gaps
//
// {"arrays": [{"dtype": "float64", "shape": [3], "values": [512, 24]},
//             {"dtype": "string", "shape": [2], "offsets": [576, 24], "text": [640, 9]}], ...}
//
// What else the header says is up to who writes it (python/headrace/learn/files.py).

/// Numbers of any shape, or strings: a column whose nulls the file keeps too ("validity").
using ModelArray = std::variant<Tensor, Column>;

struct ModelFile {
  Json header;
  std::vector<ModelArray> arrays;  ///< over the memory of the file's bytes, read once
};

/// Writes a file that appears whole or not at all (`io/sink.h`). `body` is a JSON object without
/// "arrays". Throws InvalidArgumentError for another body, TypeMismatchError for columns of other
/// than strings and dtypes that have no place in an array.
HR_API void write_model_file(const std::string& path, std::string_view body,
                             const std::vector<ModelArray>& arrays);

/// Reads an untrusted file: sizes, offsets, dtypes, text and JSON are checked, and no
/// more memory is taken than the file is long (JSON: 16 bytes a value). Throws InputError for a
/// file that is not a model file or is damaged, UnsupportedError for one of a later version.
HR_API ModelFile read_model_file(const std::string& path);

}  // namespace hr
