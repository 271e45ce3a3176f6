// SPDX-License-Identifier: Apache-2.0
// Rows of a column as Parquet has them: levels, and the values that are there.
#pragma once
#include "headrace/data/column.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/value_writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr::parquet {

/// A column of leaves of the schema that is written.
struct WrittenLeaf {
  size_t column = 0;                ///< of the table
  std::vector<std::string> path{};  ///< from the child of the root on
  std::vector<size_t> fields{};     ///< of the structs on the way, from the outermost one
  StoredType type{};
  int max_definition = 0;
  int max_repetition = 0;
};

/// The schema of a table: its elements, depth first, with the root before them, and its leaves. All
/// but the keys of maps may be null, so that the schema does not depend on the data. The names of
/// elements are those of `names` and of dtypes. Throws UnsupportedError for structs without fields,
/// TypeMismatchError for complex numbers.
struct WrittenSchema {
  std::vector<SchemaElement> elements{};
  std::vector<WrittenLeaf> leaves{};
};
WrittenSchema make_schema(const std::vector<std::string>& names,
                          const std::vector<Column>& columns);

/// Rows [first, first + rows) of a column, as the entries of a leaf. Throws InvalidArgumentError
/// for a map with a null key.
struct LeafRows {
  LeafRows(const Column& column, const WrittenLeaf& leaf, int64_t first, int64_t rows);

  /// Entries from `entry` on that a page takes: those of at most `most` rows and, beyond the first
  /// row, of about `most` entries.
  struct Piece {
    int64_t entries;
    int64_t rows;
    int64_t values;  ///< that are there
  };
  Piece piece(int64_t entry, int64_t most) const;

  /// The levels of entries, each kind behind its size, as pages of version 1 have them.
  void append_levels(int64_t entry, int64_t count, ByteBuffer& out) const;

  Column values{};      ///< without nulls
  int64_t entries = 0;  ///< the rows, or in lists their items, and the lists without any

 private:
  bool is_flat() const { return max_definition_ == 1; }

  Column rows_{};  // of a flat column
  int max_definition_;
  int max_repetition_;
  ByteBuffer definitions_{};  // of what is nested, a byte each
  ByteBuffer repetitions_{};  // in lists, a byte each
};

}  // namespace hr::parquet
