// SPDX-License-Identifier: Apache-2.0
// The copy ledger: every byte that the engine copies, converts or moves between tiers is here.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/log/tag.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// One copy, conversion or move of values that existed before (never the output of an operator).
struct LedgerEntry {
  std::string op;      ///< public word of the operator, "to_numpy"
  std::string reason;  ///< "nulls become NaN", "dtype float32 to float64", "not contiguous"
  int64_t bytes = 0;   ///< bytes written
  Place from;
  Place to;
  std::string line;  ///< the user's Python line, or empty
  bool asked =
      false;  ///< the user asked for this copy by name (copy=True, astype, to_numpy of nulls)
  int64_t time_ns = 0;  ///< since the process began
};

/// Records a copy; call it *before* copying. Inside `no_copies` an unrequested copy throws
/// InvalidArgumentError, names operator, reason and bytes, and records nothing. While the memory
/// trace is off, it only throws. `fix` is what the message advises.
HR_API void record_copy(std::string_view op, std::string_view reason, int64_t bytes, bool asked,
                        Place from = host, Place to = host,
                        std::string_view fix =
                            "avoid the conversion, or ask for it outside of "
                            "no_copies");

/// Records that the memory limit sent values of `tag` to another tier and back: asked for by the
/// limit, so it is no copy that `no_copies` refuses. Repeated moves are one entry, their bytes
/// summed.
HR_API void record_move(Tag tag, int64_t bytes, Place from, Place to);

/// All entries since the start of the process or the last clear, oldest first. Beyond 65,536 the
/// older ones that differ in time alone are summed.
HR_API std::vector<LedgerEntry> ledger_entries();
/// Sum of bytes over all copies and conversions; cheap. Moves are in spill_statistics().
HR_API int64_t ledger_bytes();
HR_API void clear_ledger();

/// While one lives, unasked copies throw; `strict` refuses asked ones too. Holds for all threads.
class HR_API NoCopies {
 public:
  explicit NoCopies(bool strict = false);
  ~NoCopies();
  NoCopies(const NoCopies&) = delete;
  NoCopies& operator=(const NoCopies&) = delete;

 private:
  bool strict_;
};

}  // namespace hr
