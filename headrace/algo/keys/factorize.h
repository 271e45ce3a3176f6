// SPDX-License-Identifier: Apache-2.0
// Numbers for the distinct keys of many rows, in order of first appearance.
#pragma once
#include "headrace/algo/keys/key_map.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace hr {

/// Morsels in waves, each three times what was before, and all that are left after one that missed
/// nothing: each wave looks up in a table that does not
/// change meanwhile and collects what it misses, morsel by morsel; these are then added in order.
/// Where keys come again, all but the first waves miss next to nothing, and the numbers are those
/// of one thread that walks over the rows. `Work` has
///   bool look(Morsel)        in parallel; false when nothing was missed
///   void add(int64_t morsel) one at a time, in order
///   void mend(Morsel)        in parallel, of those that missed
///   bool goes_on(int64_t rows)  after each wave: how many rows were numbered
/// Returns that: fewer than all when `goes_on` said no.
template <class Work>
int64_t factorize_in_waves(int64_t rows, Work&& work) {
  const int64_t step = morsel_rows(rows), morsels = num_morsels(rows);
  bool knows_all = false;
  for (int64_t first = 0, count = 1; first < morsels; first += count) {
    count = std::min(knows_all ? morsels : std::max<int64_t>(3 * first, 1), morsels - first);
    std::vector<char> missed(static_cast<size_t>(count));
    const auto morsel = [&](int64_t k) { return morsel_at(first + k, rows, step); };
    parallel_for(count, [&](int64_t k) { missed[static_cast<size_t>(k)] = work.look(morsel(k)); });
    std::vector<int64_t> open;
    for (int64_t k = 0; k < count; ++k) {
      if (!missed[static_cast<size_t>(k)]) continue;
      work.add(first + k);
      open.push_back(k);
    }
    knows_all = first > 0 && open.empty();
    parallel_for(static_cast<int64_t>(open.size()),
                 [&](int64_t i) { work.mend(morsel(open[static_cast<size_t>(i)])); });
    const int64_t numbered = std::min((first + count) * step, rows);
    if (!work.goes_on(numbered)) return numbered;
  }
  return rows;
}

/// Writes the keys of rows [row, row + count), count at most kBlockRows.
using ReadKeys = std::function<void(int64_t row, int64_t count, uint64_t* keys)>;

/// Keys whose numbers stay in the caches of one core.
inline constexpr int64_t kFewKeys = 1 << 17;

/// Whether rows spread over all tell of more distinct keys than kFewKeys, or than an eighth of the
/// rows: then equal keys are rarer among them than if this number of keys were spread evenly; some
/// that come often, as a missing value may, are left out. Of fewer than 2^16 rows: no.
HR_API bool has_many_keys(int64_t rows, const ReadKeys& read,
                          const std::vector<BufferAccess>& accesses);
/// The same for more than `most` keys, of any number of rows.
HR_API bool has_more_keys(int64_t rows, const ReadKeys& read,
                          const std::vector<BufferAccess>& accesses, int64_t most);

/// Which rows `has_many_keys` reads where there are at least `kManyRows`: i * step for each i below
/// count.
struct KeySample {
  static constexpr int64_t kManyRows = 1 << 16;

  int64_t count = 0;
  int64_t step = 0;
};

HR_API KeySample many_keys_sample(int64_t rows);
/// What `has_many_keys` tells of these.
HR_API bool are_many_keys(int64_t rows, const std::vector<uint64_t>& keys);
/// How often the most frequent key of a sample comes.
HR_API int64_t most_times(const std::vector<uint64_t>& keys);

struct FactorizedKeys {
  Buffer numbers{};  ///< uint32 a row, sealed; empty when there were more than `most` keys
  KeyMap table{};    ///< the keys
};

/// Numbers the keys of `rows` rows, fewer than 2^32. `accesses`: what `read` reads. Gives up, which
/// depends on the keys alone, after the wave that found more than `most` of them, or after the
/// first if nearly all of its keys differ and more could come.
HR_API FactorizedKeys factorize(int64_t rows, const ReadKeys& read,
                                const std::vector<BufferAccess>& accesses, int64_t most);

}  // namespace hr
