// SPDX-License-Identifier: Apache-2.0
// Keys of a join's rows, and which of them there are.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/buffer/pin.h"

#include <cstdint>
#include <optional>

namespace hr {

/// One 64-bit key a row, contiguous from a byte of a buffer on.
struct JoinKeys {
  Buffer buffer{};
  int64_t first_byte = 0;
  int64_t rows = 0;
  Buffer numbers{};  ///< uint32: which row each is, ascending; empty: they are counted from 0

  const uint64_t* data() const {
    return reinterpret_cast<const uint64_t*>(buffer.data() + first_byte);
  }

  BufferAccess access() const { return {&buffer, 8 * first_byte, 64, 64, rows}; }
};

/// The keys lie in [least, least + width], as signed or as unsigned numbers, whichever is shorter.
struct KeyRange {
  uint64_t least = 0;
  uint64_t width = 0;

  bool has(uint64_t key) const { return key - least <= width; }
};

/// {0, 0} of no rows.
HR_API KeyRange range_of(const JoinKeys& keys);

/// Which keys some rows have, a bit each: of their range where that costs at most 4 bytes a row,
/// else of 16 times as many hashes as rows.
class HR_API KeyFilter {
 public:
  /// `asked`: how many keys will be looked for. Of hashes, one of 16 keys that it has not is said
  /// to be there.
  KeyFilter(const JoinKeys& keys, int64_t asked);

  /// Nothing where it would be of hashes.
  static std::optional<KeyFilter> exact(const JoinKeys& keys, int64_t asked);

  /// Bit i: key i is there; up to 64 keys.
  uint64_t probe(const uint64_t* keys, int64_t count) const;

 private:
  KeyFilter(const JoinKeys& keys, KeyRange range, bool is_exact);

  KeyRange range_{};
  int shift_ = 0;  // from a hash to its bit
  Buffer map_{};
};

/// The rows of `keys` that may have a key of `others`; all, as they are, where these are most of
/// them, by a sample.
HR_API JoinKeys prefilter_build(const JoinKeys& keys, const JoinKeys& others);
/// The same of rows that are only looked up, of which more than a few are not worth a copy.
HR_API JoinKeys prefilter_probe(const JoinKeys& keys, const JoinKeys& others);

}  // namespace hr
