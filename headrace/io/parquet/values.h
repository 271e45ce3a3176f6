// SPDX-License-Identifier: Apache-2.0
// The values of a page, in each of Parquet's encodings but those by dictionary.
#pragma once
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/schema.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace hr::parquet {

/// A cursor over the values of a page that are there, of bytes that it borrows. Which of the
/// functions can be called follows from the leaf. What it cannot read throws Refusal.
class ValueReader {
 public:
  virtual ~ValueReader() = default;

  /// The next `count` values as they are stored, of a leaf of a fixed width.
  virtual void fixed(int64_t count, std::byte* out);

  /// The same where they lie, until the next call; null of encodings that pack them: `fixed` then
  /// has them.
  virtual const std::byte* in_place(int64_t /*count*/) { return nullptr; }

  /// The same of kByteArray; the text is there until the next call.
  virtual void texts(int64_t count, std::string_view* out);

  /// Views of the next strings, at most `count`, where these stand in them and are ASCII, to `out`;
  /// gives how many were put. 0: `texts` has them.
  virtual int64_t short_views(int64_t /*count*/, std::byte* /*out*/) { return 0; }

  /// The same of kBoolean, or-ed to the zeros from bit 0 on.
  virtual void bits(int64_t count, uint64_t* bitmap);
};

/// `most`: no page has more values. Throws Refusal for an encoding that Parquet does not have for
/// the leaf's type.
std::unique_ptr<ValueReader> read_values(const Leaf& leaf, Encoding encoding,
                                         std::string_view bytes, int64_t most);

}  // namespace hr::parquet
