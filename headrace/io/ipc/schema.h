// SPDX-License-Identifier: Apache-2.0
// Fields of an Arrow schema: what Flatbuffers say of them, the formats of the C data interface, and
// the buffers that a batch has of them.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/flat_builder.h"
#include "headrace/io/flat_table.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace hr::ipc {

using flat::Damage;
using flat::FlatBuilder;
using flat::FlatPlace;
using flat::FlatTable;
using flat::load;

/// Something that the format allows and Headrace does not read.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a batch has of a field, apart from its children.
enum class Layout : uint8_t {
  kNone,       ///< null: no buffers
  kFixed,      ///< validity, values
  kOffsets32,  ///< validity, offsets, bytes
  kOffsets64,
  kViews,   ///< validity, views, and as many buffers of bytes as the batch says
  kList32,  ///< validity, offsets
  kList64,
  kListView32,  ///< validity, offsets, sizes
  kListView64,
  kValidity,     ///< structs, lists of a fixed size
  kSparseUnion,  ///< types
  kDenseUnion,   ///< types, offsets
};

struct Field {
  std::string name{};
  std::string format{};  ///< of the C data interface; with a dictionary that of the indices
  Layout layout = Layout::kNone;
  int64_t bits = 0;  ///< of a value of kFixed
  bool is_ordered = false;
  bool has_sorted_keys = false;
  bool is_nullable = true;
  std::vector<Field> children{};
  std::unique_ptr<Field> dictionary{};  ///< of the values
  int64_t dictionary_id = 0;
};

/// Fields of a Flatbuffers schema. Throws Damage, or Unsupported for big-endian data.
std::vector<Field> parse_schema(const FlatTable& schema);

/// The field of a column: strings with offsets of 32 bits, lists with those of 64.
Field field_of(const std::string& name, const Column& column, int64_t& next_dictionary);

/// The Flatbuffers schema of fields.
FlatPlace build_schema(FlatBuilder& out, const std::vector<Field>& fields);

}  // namespace hr::ipc
