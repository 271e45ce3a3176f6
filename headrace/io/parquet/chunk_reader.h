// SPDX-License-Identifier: Apache-2.0
// A column chunk to rows: levels to validity and lists, pages to values in their final place.
#pragma once
#include "headrace/algo/select/mask_cursor.h"
#include "headrace/data/column.h"
#include "headrace/data/dictionary.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/parquet/hybrid.h"
#include "headrace/io/parquet/pages.h"
#include "headrace/io/parquet/schema.h"
#include "headrace/io/parquet/values.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace hr::parquet {

/// Where values of a chunk go, and what belongs to them.
struct RowsTarget {
  std::byte* values = nullptr;  ///< of row 0; of bools a bitmap of zeros
  void* validity = nullptr;     ///< a bitmap of zeros; null where a leaf has no nulls
  int64_t row = 0;              ///< the next one
  int64_t nulls = 0;            ///< among those before it that were read
  ByteBuffer text{};            ///< of strings that are not in a dictionary
};

/// Buffers for rows of a leaf, for several targets at once.
struct FlatRows {
  FlatRows(const Leaf& leaf, int64_t rows);

  RowsTarget target(int64_t row);

  /// The column when all rows are there. `text`: the buffers that views of strings number.
  Column finish(const Leaf& leaf, int64_t rows, int64_t nulls, std::vector<Buffer> text);

  Buffer values{};
  Buffer validity{};
};

/// A cursor over the rows of one chunk, for one thread. Throws Refusal for what cannot be read.
class ChunkReader {
 public:
  /// `rows`: of the row group. Views of strings number their text from `first_text` on: the
  /// dictionary's, then the target's own.
  ChunkReader(const ByteSource& source, const Leaf& leaf, const ColumnChunk& chunk, int64_t rows,
              int64_t read_bytes, uint32_t first_text = 0, PageMemory memory = {});

  /// Its memory for pages, when all is read.
  PageMemory take_memory() &&;

  /// Where the pages are, of a leaf in no list: what is not wanted is not read then. Called first.
  void set_places(std::vector<PagePlace> places);

  /// Unpacks the first pages of two readers together, which is faster, if neither knows of others
  /// that may be passed. After `set_places`.
  static void unpack_together(ChunkReader& a, ChunkReader& b) {
    if (a.places_.size() < 2 && b.places_.size() < 2)
      PageStream::unpack_together(a.pages_, b.pages_);
  }

  /// The next `count` rows of a leaf that is in no list and no category, of which `to` is a
  /// target. Few of them are pinned at a time.
  void read(int64_t count, const FlatRows& rows, RowsTarget& to);

  /// Of the next `count` rows those with a one in `mask`, from bit `first` of it on; `rows` has
  /// room for these. Pages without any are not unpacked.
  void pick(int64_t count, const uint8_t* mask, int64_t first, const FlatRows& rows,
            RowsTarget& to);

  /// Passes the next `count` rows of a leaf in no list.
  void skip(int64_t count);

  /// The values of the dictionary that the chunk begins with, and a null behind them. Called first,
  /// and nothing after it.
  Column read_dictionary();

  /// Of all rows of a leaf in no list, whose pages all refer to a dictionary, a bit each: what
  /// `test` has for the value, or behind the values for a null, as `read_dictionary` gives them.
  /// Called first and once.
  Buffer test_rows(const Column& test);

  /// All rows of a leaf in no list, as a column. Called first and once.
  Column read_all();

  /// The same of a leaf that keeps its levels or is in lists: the items of its innermost one, or
  /// its rows.
  Column read_items();

  /// Those of all entries after `read_items`: the repetition and the definition level of each.
  std::string_view levels() const { return levels_.view(); }

  /// The dictionary's text, for the column.
  const Buffer& dictionary_text() const { return dictionary_text_; }

 private:
  static constexpr int64_t kBlock = 1024;                   // values that are read together
  static constexpr int64_t kPinnedRows = int64_t{1} << 16;  // few enough for a small budget
  using BlockBits = std::array<uint64_t, kBlock / 64 + 1>;

  void read(int64_t count, RowsTarget& to);
  void next_page();
  void read_ahead(int64_t count);
  int64_t skip_pages(int64_t count, const uint8_t* mask, int64_t first);
  int64_t jump(int64_t count, const uint8_t* mask, int64_t first);
  int64_t row() const { return rows_ - rows_left_; }
  int64_t end_of(size_t place) const;
  void load_page(Page& page);
  void begin_values(const PageHeader& header, std::string_view bytes);
  void load_dictionary(const Page& page);
  void flat_levels(const Page& page);
  void list_levels(const Page& page);
  void read_slots(int64_t count, RowsTarget& to);
  void read_bools(int64_t count, RowsTarget& to);
  const uint8_t* bool_block(int64_t count, BlockBits& bits);
  void read_dense(int64_t count, std::byte* out, RowsTarget& to);
  void read_indices(int64_t count, std::byte* out);
  void read_encoded(int64_t count, std::byte* out, RowsTarget& to);
  void pick_slots(int64_t count, const uint8_t* mask, int64_t first, RowsTarget& to);
  bool pick_together(int64_t count, const uint8_t* mask, int64_t first, int64_t wanted,
                     RowsTarget& to);
  void pick_dense(int64_t count, const uint32_t* picks, int64_t picked, std::byte* out,
                  RowsTarget& to);
  void put_indices(const uint32_t* indices, int64_t count, std::byte* out);
  void put_fixed(const std::byte* stored, int64_t count, std::byte* out, RowsTarget& to);
  void put_texts(const std::string_view* texts, int64_t count, std::byte* out, RowsTarget& to);
  std::byte* stored_block();
  Column flat_column(int64_t slots, FlatRows rows, int64_t nulls, ByteBuffer text);

  const Leaf& leaf_;
  PageStream pages_;
  int64_t rows_;          // of the row group
  int64_t rows_left_;     // that no page was read of
  int64_t entries_left_;  // the same of pairs of levels
  uint32_t first_text_;
  std::vector<PagePlace> places_{};  // none when they are not known
  size_t place_ = 0;                 // of the next page

  // Of the current page.
  std::unique_ptr<ValueReader> values_{};
  HybridReader indices_{};
  bool is_coded_ = false;
  int64_t slots_ = 0;
  int64_t slot_ = 0;  // the next one
  bool all_valid_ = true;
  Buffer valid_{};       // a bit a slot, unless all are
  ByteBuffer levels_{};  // of all pages, where there are lists: repetition, definition

  bool has_dictionary_ = false;
  int64_t dictionary_size_ = 0;
  Buffer dictionary_{};  // values as ours
  Buffer dictionary_text_{};
  DictionaryBuilder categories_{};
  Buffer stored_{};          // a block of values as they are stored
  hr::PickedRows picked_{};  // of a block
};

}  // namespace hr::parquet
