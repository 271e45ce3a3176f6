// SPDX-License-Identifier: Apache-2.0
// Windows as rows from one to another: two pointers that only rise.
#include "headrace/algo/scan/window_bounds.h"

#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kClosed[] = {"right", "left", "both", "neither"};

bool includes_left(Closed closed) {
  return closed == Closed::kLeft || closed == Closed::kBoth;
}
bool includes_right(Closed closed) {
  return closed == Closed::kRight || closed == Closed::kBoth;
}

// Fills the bounds of pieces of segments: `fill(segment, stop, begin, end, begins, ends)`, where
// the segment is rows [segment, stop).
template <class F>
WindowBounds bounds_of(const Segments& segments, const std::vector<BufferAccess>& accesses,
                       F&& fill) {
  const int64_t rows = segments.rows();
  WindowBounds made{Buffer::allocate(8 * rows), Buffer::allocate(8 * rows), rows, 0};
  if (rows == 0) return made;
  auto* const begins = made.begins.mutable_as<int64_t>();
  auto* const ends = made.ends.mutable_as<int64_t>();
  std::vector<int64_t> widest(static_cast<size_t>((rows + morsel_rows() - 1) / morsel_rows()));
  parallel_morsels(rows, morsel_rows(), accesses, [&](Morsel morsel) {
    int64_t most = 0;
    segments.visit(morsel.begin, morsel.end, [&](int64_t segment, int64_t begin, int64_t end) {
      fill(segment, segments.next_border(end, rows), begin, end, begins, ends);
    });
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      most = std::max(most, ends[row] - begins[row]);
    widest[static_cast<size_t>(morsel.index)] = most;
  });
  made.widest = *std::max_element(widest.begin(), widest.end());
  return made;
}

// What each time is from that of another row, in the direction in which the segment goes. Times are
// far from the ends of int64, or differences stop there.
int64_t since(int64_t time, int64_t from, bool falls) {
  int64_t change;
  if (__builtin_sub_overflow(falls ? from : time, falls ? time : from, &change))
    return (falls ? from < time : time < from) ? INT64_MIN : INT64_MAX;
  return change;
}

void check_order(const Column& times, const int64_t* at, const Segments& segments) {
  if (times.null_count() > 0)
    throw_error<InvalidArgumentError>("rolling", "a time is missing",
                                      {{"missing", times.null_count()}},
                                      "drop these rows first: dropna");
  const int64_t rows = times.num_rows();
  parallel_morsels(rows, morsel_rows(), {reads(times)}, [&](Morsel morsel) {
    segments.visit(morsel.begin, morsel.end, [&](int64_t segment, int64_t begin, int64_t end) {
      const int64_t stop = segments.next_border(end, rows);
      const bool falls = at[stop - 1] < at[segment];
      for (int64_t row = std::max(begin, segment + 1); row < end; ++row) {
        if (falls ? at[row] <= at[row - 1] : at[row] >= at[row - 1]) continue;
        throw_error<InvalidArgumentError>(
            "rolling", "times are not in order", {{"row", row}, {"segment_row", row - segment}},
            "use sort_values or sort_index first; each group needs its times in order");
      }
    });
  });
}

}  // namespace

Closed closed_from_name(std::string_view name) {
  return enum_from_name<Closed>("rolling", "closed", name, kClosed);
}

WindowBounds windows_of_rows(int64_t window, bool center, Closed closed, const Segments& segments) {
  const int64_t last = center ? (window - 1) / 2 : 0;  // rows behind the row itself
  const int64_t earlier = includes_left(closed), before_end = !includes_right(closed);
  return bounds_of(segments, {},
                   [&](int64_t segment, int64_t stop, int64_t begin, int64_t end, int64_t* begins,
                       int64_t* ends) {
                     for (int64_t row = begin; row < end; ++row) {
                       const int64_t past = row + last + 1;
                       ends[row] = std::clamp(past - before_end, segment, stop);
                       begins[row] = std::clamp(past - window - earlier, segment, ends[row]);
                     }
                   });
}

WindowBounds windows_of_spans(const Column& times, int64_t span, bool center, Closed closed,
                              const Segments& segments) {
  const int64_t rows = times.num_rows();
  const int64_t* const at = rows > 0 ? times.values<int64_t>().data() : nullptr;
  check_order(times, at, segments);
  // Halves of units are between times, so that whether they belong to the window says nothing.
  const bool odd = center && span % 2 != 0;
  const int64_t reach = center ? span / 2 : span;
  const bool left = odd || includes_left(closed), right = odd || includes_right(closed);
  return bounds_of(
      segments, {reads(times)},
      [&](int64_t segment, int64_t stop, int64_t begin, int64_t end, int64_t* begins,
          int64_t* ends) {
        const bool falls = at[stop - 1] < at[segment];
        const auto is_before = [&](int64_t row, int64_t of) {  // the window of row `of`
          const int64_t distance = since(at[of], at[row], falls);
          return left ? distance > reach : distance >= reach;
        };
        const auto is_in_front = [&](int64_t row, int64_t of) {  // not behind the window
          const int64_t distance = since(at[row], at[of], falls);
          const int64_t limit = center ? reach : 0;
          return right ? distance <= limit : distance < limit;
        };
        int64_t low =
            partition_point(segment, begin, [&](int64_t row) { return is_before(row, begin); });
        int64_t high = partition_point(segment, center ? stop : begin,
                                       [&](int64_t row) { return is_in_front(row, begin); });
        for (int64_t row = begin; row < end; ++row) {
          while (low < row && is_before(low, row)) ++low;
          if (!center && right)
            high = row + 1;
          else
            while (high < (center ? stop : row) && is_in_front(high, row)) ++high;
          begins[row] = std::min(low, high);
          ends[row] = high;
        }
      });
}

}  // namespace hr
