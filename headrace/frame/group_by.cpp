// SPDX-License-Identifier: Apache-2.0
// Group-by: the way through the rows, chosen by the keys alone.
#include "headrace/frame/group_by.h"

#include "headrace/algo/number_keys.h"
#include "headrace/algo/split_rows.h"
#include "headrace/base/error.h"
#include "headrace/data/touch.h"
#include "headrace/frame/group_plan.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

namespace hr {

namespace {

// Slots whose states stay in the caches of one core.
constexpr int64_t kFewSlots = 1 << 17;

// Rows as slots of one table, and what that reads.
struct SlotReader {
  std::function<void(int64_t row, int64_t count, uint32_t* slots)> read;
  std::vector<Touch> touches{};
};

// The rows of an input's streams as fold_rows wants them.
struct InputRows {
  explicit InputRows(const FoldInput& input) : input_(input) {}

  std::vector<Touch> touches() const {
    std::vector<Touch> result;
    if (input_.lane != Lane::kNothing) result.push_back(reads(input_.values));
    if (input_.has_other) result.push_back(reads(input_.other));
    return result;
  }

  FoldRows read(int64_t row, int64_t count, const uint32_t* slots) {
    FoldRows rows{slots, nullptr, nullptr, nullptr, nullptr, row, count};
    if (input_.lane != Lane::kNothing)
      rows.values = read_lane(input_.values, input_.lane, row, count, values_);
    if (input_.has_other)
      rows.other =
          static_cast<const double*>(read_lane(input_.other, Lane::kFloating, row, count, other_));
    if (input_.lane != Lane::kFloating && input_.values.null_count() > 0) {
      read_valid(input_.values, row, count, valid_);
      rows.valid = valid_;
    }
    return rows;
  }

 private:
  const FoldInput& input_;
  uint64_t values_[kBlockRows];
  double other_[kBlockRows];
  uint8_t valid_[kBlockRows];
};

Buffer zeroed_sizes(int64_t slots) {
  return Buffer::allocate_zeroed(4 * slots);
}

// ---- few slots: each run of rows has states of its own ---------------------------------------
class RunFolder {
 public:
  RunFolder(const FoldPlan& plan, int64_t rows, int64_t slots, const SlotReader& reader)
      : plan_(plan), rows_(rows), slots_(slots), reader_(reader) {
    // Merging costs little beside the rows, and each count fits into 32 bits.
    const int64_t morsels = num_morsels(rows);
    runs_ = std::clamp<int64_t>(rows / std::max<int64_t>(8 * slots, kMorselRows), 1, 64);
    runs_ = std::min(std::max(runs_, rows >> 31), std::max<int64_t>(morsels, 1));
    parts_.resize(static_cast<size_t>(runs_));
  }

  GroupPart run() {
    walk(false);
    merge(false);
    if (plan_.needs_second) {
      GroupPart& total = parts_[0];
      for (size_t k = 0; k < plan_.inputs.size(); ++k) {
        if (!plan_.inputs[k].needs_second()) continue;
        make_means(plan_.inputs[k], slots_, total.sizes.as<uint32_t>(), total.states[k]);
        for (GroupPart& part : parts_) {
          part.states[k].means = total.states[k].means;
          part.states[k].other_means = total.states[k].other_means;
        }
      }
      walk(true);
      merge(true);
    }
    return std::move(parts_[0]);
  }

 private:
  void walk(bool second) {
    parallel_for(runs_, [&](int64_t run) {
      GroupPart& part = parts_[static_cast<size_t>(run)];
      part.slots = slots_;
      part.states.resize(plan_.inputs.size());
      if (!second) part.sizes = zeroed_sizes(slots_);
      auto* sizes = part.sizes.mutable_as<uint32_t>();
      std::vector<Touch> touches = reader_.touches;
      std::vector<InputRows> inputs;
      inputs.reserve(plan_.inputs.size());
      for (size_t k = 0; k < plan_.inputs.size(); ++k) {
        inputs.emplace_back(plan_.inputs[k]);
        start_folds(plan_.inputs[k], slots_, second, part.states[k]);
        for (const Touch& touch : inputs[k].touches()) touches.push_back(touch);
      }
      const int64_t morsels = num_morsels(rows_);
      const int64_t last = morsels * (run + 1) / runs_;
      for (int64_t morsel = morsels * run / runs_; morsel < last; ++morsel) {
        const int64_t end = std::min((morsel + 1) * kMorselRows, rows_);
        const Pin pin(ranges_of(touches, morsel * kMorselRows, end));
        for (int64_t row = morsel * kMorselRows; row < end; row += kBlockRows) {
          const int64_t count = std::min(kBlockRows, end - row);
          uint32_t slots[kBlockRows];
          reader_.read(row, count, slots);
          if (!second)
            for (int64_t i = 0; i < count; ++i) ++sizes[slots[i]];
          for (size_t k = 0; k < inputs.size(); ++k) {
            if (second && !plan_.inputs[k].needs_second()) continue;
            fold_rows(plan_.inputs[k], slots_, second, inputs[k].read(row, count, slots),
                      part.states[k]);
          }
        }
      }
    });
  }

  // The states of all runs into those of the first, in order.
  void merge(bool second) {
    if (runs_ == 1) return;
    GroupPart& total = parts_[0];
    for (size_t k = 0; k < plan_.inputs.size() && !second; ++k)
      if (std::any_of(parts_.begin(), parts_.end(),
                      [&](const GroupPart& part) { return bool{part.states[k].missing}; }) &&
          !total.states[k].missing)
        total.states[k].missing = zeroed_sizes(slots_);
    constexpr int64_t kPiece = 4096;
    auto* sizes = total.sizes.mutable_as<uint32_t>();
    parallel_for(divide_up(slots_, kPiece), [&](int64_t piece) {
      const int64_t begin = piece * kPiece, end = std::min(begin + kPiece, slots_);
      for (size_t run = 1; run < parts_.size(); ++run) {
        const GroupPart& part = parts_[run];
        const auto* more = part.sizes.as<uint32_t>();
        if (!second)
          for (int64_t slot = begin; slot < end; ++slot) sizes[slot] += more[slot];
        for (size_t k = 0; k < plan_.inputs.size(); ++k)
          merge_folds(plan_.inputs[k], second, begin, end, total.states[k], part.states[k]);
      }
    });
  }

  const FoldPlan& plan_;
  int64_t rows_;
  int64_t slots_;
  const SlotReader& reader_;
  int64_t runs_;
  std::vector<GroupPart> parts_{};
};

// The first row of each slot that has rows: mostly found after few rows.
std::vector<int64_t> first_rows(int64_t rows, const SlotReader& reader, const GroupPart& part) {
  std::vector<int64_t> first(static_cast<size_t>(part.slots), -1);
  const auto* sizes = part.sizes.as<uint32_t>();
  int64_t open = std::count_if(sizes, sizes + part.slots, [](uint32_t size) { return size > 0; });
  for (int64_t row = 0; row < rows && open > 0; row += kBlockRows) {
    const int64_t count = std::min(kBlockRows, rows - row);
    uint32_t slots[kBlockRows];
    reader.read(row, count, slots);
    for (int64_t i = 0; i < count; ++i) {
      if (first[slots[i]] >= 0) continue;
      first[slots[i]] = row + i;
      --open;
    }
  }
  return first;
}

// ---- many groups: the rows in parts, each with a table of its own ----------------------------

// Which part a key belongs to, and whether its slots are the keys of a range or as they are seen.
struct PartKeys {
  RowStream stream{};
  uint64_t domain = 0;  ///< keys are below it: a part has a slot for each of a range
  const uint64_t* originals = nullptr;  ///< packs of the keys of a domain that are none themselves
  bool sort = false;                    ///< without a domain: parts in the order of their keys
};

// Keys of rows spread over all, a few from each place, sorted.
std::vector<uint64_t> sample_keys(const RowStream& stream, int64_t rows) {
  constexpr int64_t kPlaces = 1024, kEach = 16;
  std::vector<uint64_t> sample;
  const int64_t step = std::max<int64_t>(rows / kPlaces, 1);
  for (int64_t row = 0; row < rows; row += step) {
    const int64_t count = std::min({kEach, step, rows - row});
    uint64_t keys[kEach];
    const Pin pin(ranges_of(stream.touches, row, row + count));
    stream.read(row, count, keys);
    sample.insert(sample.end(), keys, keys + count);
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Splits keys into ranges of about equally many rows, in their order.
class RangeDigits {
 public:
  RangeDigits(const std::vector<uint64_t>& sample, int64_t parts) {
    least_ = sample.front();
    span_ = sample.back() - least_;
    parts_ = static_cast<uint64_t>(parts);
    // Evenly spread keys need no search.
    std::vector<int64_t> counts(static_cast<size_t>(parts));
    for (const uint64_t key : sample) ++counts[even(key)];
    const int64_t fair = static_cast<int64_t>(sample.size()) / parts + 8;
    even_ = *std::max_element(counts.begin(), counts.end()) <= 3 * fair;
    for (int64_t part = 1; part < parts; ++part)
      borders_.push_back(
          sample[sample.size() * static_cast<size_t>(part) / static_cast<size_t>(parts)]);
  }

  void operator()(const uint64_t* keys, int64_t count, uint16_t* digits) const {
    if (even_) {
      for (int64_t i = 0; i < count; ++i) digits[i] = static_cast<uint16_t>(even(keys[i]));
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      digits[i] = static_cast<uint16_t>(
          std::upper_bound(borders_.begin(), borders_.end(), keys[i]) - borders_.begin());
  }

 private:
  size_t even(uint64_t key) const {
    const uint64_t apart = std::min(key < least_ ? 0 : key - least_, span_);
    return static_cast<size_t>(static_cast<double>(apart) / (static_cast<double>(span_) + 1) *
                               (static_cast<double>(parts_) - 1e-6));
  }

  uint64_t least_;
  uint64_t span_;
  uint64_t parts_;
  bool even_;
  std::vector<uint64_t> borders_{};
};

class PartFolder {
 public:
  PartFolder(const FoldPlan& plan, const PackedKeys& packed, PartKeys keys, bool wants_first)
      : plan_(plan), packed_(packed), keys_(std::move(keys)), wants_first_(wants_first) {
    const int64_t rows = packed.num_rows();
    int64_t parts = 1;
    while (parts < 1024 && rows / parts > (1 << 15)) parts *= 2;
    const uint64_t domain = keys_.domain;
    if (domain > 0) {
      while (((domain - 1) >> shift_) + 1 > static_cast<uint64_t>(parts)) ++shift_;
      parts = static_cast<int64_t>(((domain - 1) >> shift_) + 1);
    } else {
      shift_ = 64 - std::bit_width(static_cast<uint64_t>(parts - 1));
    }
    std::vector<RowStream> streams{keys_.stream};
    streams_.resize(plan.inputs.size());
    bool rows_wanted = wants_first;
    for (size_t k = 0; k < plan.inputs.size(); ++k) {
      const FoldInput& input = plan.inputs[k];
      const auto add = [&](int& place, RowStream stream) {
        place = static_cast<int>(streams.size());
        streams.push_back(std::move(stream));
      };
      const auto lane = [](const Column& column, Lane as) {
        return RowStream{8,
                         [column, as](int64_t row, int64_t count, void* out) {
                           const void* from = read_lane(column, as, row, count, out);
                           if (from != out) std::memcpy(out, from, static_cast<size_t>(8 * count));
                         },
                         {}};
      };
      if (input.lane != Lane::kNothing) {
        add(streams_[k].values, lane(input.values, input.lane));
        streams.back().touches = {reads(input.values)};
      }
      if (input.has_other) {
        add(streams_[k].other, lane(input.other, Lane::kFloating));
        streams.back().touches = {reads(input.other)};
      }
      if (input.lane != Lane::kFloating && input.values.null_count() > 0)
        add(streams_[k].valid, {1, [column = input.values](int64_t row, int64_t count, void* out) {
                                  read_valid(column, row, count, static_cast<uint8_t*>(out));
                                }});
      rows_wanted |= input.needs_rows();
    }
    if (rows_wanted) {
      rows_stream_ = static_cast<int>(streams.size());
      streams.push_back({8, [](int64_t row, int64_t count, void* out) {
                           std::iota(static_cast<int64_t*>(out), static_cast<int64_t*>(out) + count,
                                     row);
                         }});
    }
    for (const RowStream& stream : streams) widths_.push_back(stream.width);
    if (domain == 0 && keys_.sort && parts > 1) {
      const RangeDigits digits(sample_keys(keys_.stream, rows), parts);
      split_ = split_rows(rows, parts, streams, std::cref(digits));
      return;
    }
    split_ =
        split_rows(rows, parts, streams, [&](const uint64_t* key, int64_t count, uint16_t* digits) {
          for (int64_t i = 0; i < count; ++i)
            digits[i] = static_cast<uint16_t>(domain > 0     ? key[i] >> shift_
                                              : shift_ == 64 ? 0
                                                             : hash_key(key[i]) >> shift_);
        });
  }

  std::vector<GroupResults> run() {
    // Several parts make one result: large enough to leave for the disk, small beside a budget.
    constexpr int64_t kRows = 1 << 18;
    const int64_t together =
        std::clamp<int64_t>(kRows * split_.parts / std::max<int64_t>(split_.rows, 1), 1, 64);
    std::vector<GroupResults> results(static_cast<size_t>(divide_up(split_.parts, together)));
    const auto count = static_cast<int64_t>(results.size());
    parallel_for(count, [&](int64_t i) {
      // From the last part to the first: what was written last is still in memory, and a budget
      // does not take the many looks at one chunk for scans that begin again.
      const int64_t k = count - 1 - i;
      std::vector<GroupResults> parts;
      const int64_t end = std::min((k + 1) * together, split_.parts);
      for (int64_t p = k * together; p < end; ++p) parts.push_back(fold_part(p));
      results[static_cast<size_t>(k)] = join_results(parts, plan_);
    });
    return results;
  }

 private:
  struct InputStreams {
    int values = -1;
    int valid = -1;
    int other = -1;
  };

  Pin pin(int64_t p, std::initializer_list<int> streams) const {
    std::vector<PinnedRange> ranges;
    for (const int stream : streams)
      if (stream >= 0)
        split_.append_ranges(p, static_cast<size_t>(stream), widths_[static_cast<size_t>(stream)],
                             ranges);
    return Pin(ranges);
  }

  // Values of a stream from a row on; null without the stream.
  template <class T>
  const T* at(int stream, int64_t row) const {
    return stream < 0 ? nullptr : split_.values<T>(static_cast<size_t>(stream), row);
  }

  // Pieces of a part in blocks: `visit(row of the streams, row of the part, count)`.
  template <class F>
  void each_block(int64_t p, F&& visit) const {
    int64_t at = 0;
    split_.visit(p, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row += kBlockRows) {
        const int64_t count = std::min(kBlockRows, end - row);
        visit(row, at, count);
        at += count;
      }
    });
  }

  void number(int64_t p, uint32_t* slots, GroupPart& part) {
    std::vector<int64_t>& first = part.first_rows;
    if (keys_.domain > 0) {
      part.first_key = static_cast<uint64_t>(p) << shift_;
      part.slots =
          static_cast<int64_t>(std::min(keys_.domain - part.first_key, uint64_t{1} << shift_));
      if (keys_.originals) keep_keys(keys_.originals + part.first_key, part);
      if (wants_first_) first.assign(static_cast<size_t>(part.slots), -1);
      each_block(p, [&](int64_t row, int64_t begin, int64_t count) {
        const auto* keys = at<uint64_t>(0, row);
        for (int64_t i = 0; i < count; ++i)
          slots[begin + i] = static_cast<uint32_t>(keys[i] - part.first_key);
        if (!wants_first_) return;
        const auto* rows = at<int64_t>(rows_stream_, row);
        for (int64_t i = 0; i < count; ++i)
          if (first[slots[begin + i]] < 0) first[slots[begin + i]] = rows[i];
      });
      return;
    }
    KeyTable table;
    table.reserve(hint_.load(std::memory_order_relaxed));
    each_block(p, [&](int64_t row, int64_t begin, int64_t count) {
      table.add(at<uint64_t>(0, row), count, slots + begin);
      if (!wants_first_) return;
      const auto* rows = at<int64_t>(rows_stream_, row);
      for (int64_t i = 0; i < count; ++i)
        if (slots[begin + i] == first.size()) first.push_back(rows[i]);
    });
    hint_.store(table.size(), std::memory_order_relaxed);
    part.slots = table.size();
    keep_keys(table.keys(), part);
  }

  static void keep_keys(const uint64_t* keys, GroupPart& part) {
    part.keys = Buffer::allocate(8 * part.slots);
    if (part.slots > 0)
      std::memcpy(part.keys.mutable_data(), keys, static_cast<size_t>(8 * part.slots));
  }

  GroupResults fold_part(int64_t p) {
    GroupPart part;
    const int64_t rows = split_.rows_of(p);
    if (rows == 0) return {};
    Buffer buffer = Buffer::allocate(4 * rows);
    auto* slots = buffer.mutable_as<uint32_t>();
    {
      const Pin pinned = pin(p, {0, wants_first_ ? rows_stream_ : -1});
      number(p, slots, part);
    }
    part.sizes = Buffer::allocate_zeroed(4 * part.slots);
    auto* sizes = part.sizes.mutable_as<uint32_t>();
    for (int64_t i = 0; i < rows; ++i) ++sizes[slots[i]];
    part.states.resize(plan_.inputs.size());
    for (size_t k = 0; k < plan_.inputs.size(); ++k) fold_input(p, k, slots, part);
    part.ranked.resize(plan_.aggregates.size());
    part.ranked_counts.resize(plan_.ranked.size());
    for (size_t k = 0; k < plan_.ranked.size(); ++k) rank_input(p, k, slots, part);
    return finish_part(packed_, plan_, part, keys_.domain == 0 && keys_.sort);
  }

  void fold_input(int64_t p, size_t k, const uint32_t* slots, GroupPart& part) {
    const FoldInput& input = plan_.inputs[k];
    const InputStreams& from = streams_[k];
    const int rows_stream = input.needs_rows() ? rows_stream_ : -1;
    const Pin pinned = pin(p, {from.values, from.valid, from.other, rows_stream});
    const auto walk = [&](bool second) {
      start_folds(input, part.slots, second, part.states[k]);
      each_block(p, [&](int64_t row, int64_t begin, int64_t count) {
        const FoldRows block{slots + begin,
                             at<uint64_t>(from.values, row),
                             at<uint8_t>(from.valid, row),
                             at<double>(from.other, row),
                             at<int64_t>(rows_stream, row),
                             0,
                             count};
        fold_rows(input, part.slots, second, block, part.states[k]);
      });
    };
    walk(false);
    if (!input.needs_second()) return;
    make_means(input, part.slots, part.sizes.as<uint32_t>(), part.states[k]);
    walk(true);
  }

  // The values of each slot in one place, in row order.
  void rank_input(int64_t p, size_t ranked, const uint32_t* slots, GroupPart& part) {
    const auto k = static_cast<size_t>(plan_.ranked[ranked].input);
    const InputStreams& from = streams_[k];
    const auto* missing = part.states[k].missing ? part.states[k].missing.as<uint32_t>() : nullptr;
    const auto* sizes = part.sizes.as<uint32_t>();
    part.ranked_counts[ranked] = Buffer::allocate(4 * part.slots);
    Buffer places = Buffer::allocate(4 * part.slots);
    auto* next = places.mutable_as<uint32_t>();
    uint32_t total = 0;
    for (int64_t slot = 0; slot < part.slots; ++slot) {
      next[slot] = total;
      total += sizes[slot] - (missing ? missing[slot] : 0);
    }
    Buffer gathered = Buffer::allocate(int64_t{8} * std::max(total, 1u));
    auto* out = gathered.mutable_as<uint64_t>();
    {
      const Pin pinned = pin(p, {from.values, from.valid});
      const bool floating = plan_.inputs[k].lane == Lane::kFloating;
      each_block(p, [&](int64_t row, int64_t begin, int64_t count) {
        const auto* values = at<uint64_t>(from.values, row);
        const auto* valid = at<uint8_t>(from.valid, row);
        for (int64_t i = 0; i < count; ++i) {
          const auto number = std::bit_cast<double>(values[i]);
          if ((floating && number != number) || (valid && !valid[i])) continue;
          out[next[slots[begin + i]]++] = values[i];
        }
      });
    }
    rank_part(plan_, ranked, out, next, part);
  }

  const FoldPlan& plan_;
  const PackedKeys& packed_;
  PartKeys keys_;
  bool wants_first_;
  int shift_ = 0;
  std::vector<InputStreams> streams_{};
  int rows_stream_ = -1;
  std::vector<int64_t> widths_{};
  SplitRows split_{};
  std::atomic<int64_t> hint_{0};
};

// ---- the way --------------------------------------------------------------------------------
struct Found {
  std::vector<GroupResults> results{};  ///< sorted where that is wanted
  bool first_seen = false;
};

RowStream key_stream(const PackedKeys& packed) {
  return {8,
          [&packed](int64_t row, int64_t count, void* out) {
            packed.read(row, count, static_cast<uint64_t*>(out));
          },
          packed.touches()};
}

// Few groups whose keys have numbers already, in the order of their first rows.
Found fold_numbered(const PackedKeys& packed, const FoldPlan& plan, const NumberedKeys& numbered,
                    bool sort) {
  const int64_t rows = packed.num_rows(), slots = numbered.table.size();
  const auto* numbers = numbered.numbers.as<uint32_t>();
  const Touch touch{&numbered.numbers, 0, 32, 32, rows};
  Found found{{}, true};
  if (plan.ranked.empty()) {
    const SlotReader reader{[&](int64_t row, int64_t count, uint32_t* out) {
                              std::memcpy(out, numbers + row, static_cast<size_t>(4 * count));
                            },
                            {touch}};
    GroupPart part = RunFolder(plan, rows, slots, reader).run();
    part.keys = Buffer::allocate(8 * slots);
    std::memcpy(part.keys.mutable_data(), numbered.table.keys(), static_cast<size_t>(8 * slots));
    found.results.push_back(finish_part(packed, plan, part, sort));
    return found;
  }
  std::vector<uint32_t> order(static_cast<size_t>(slots)), place(order.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  const uint64_t* keys = numbered.table.keys();
  if (sort)
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  std::vector<uint64_t> originals;
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<uint32_t>(i);
    originals.push_back(keys[order[i]]);
  }
  PartKeys part_keys{{8,
                      [&](int64_t row, int64_t count, void* out) {
                        for (int64_t i = 0; i < count; ++i)
                          static_cast<uint64_t*>(out)[i] = place[numbers[row + i]];
                      },
                      {touch}},
                     static_cast<uint64_t>(slots),
                     originals.data()};
  found.results = PartFolder(plan, packed, std::move(part_keys), false).run();
  return found;
}

Found find_groups(const PackedKeys& packed, const FoldPlan& plan, GroupOptions options) {
  const int64_t rows = packed.num_rows();
  const uint64_t domain = packed.domain();
  const bool wants_first = options.order == GroupOrder::kFirstSeen;
  const bool sort = options.order == GroupOrder::kSorted;
  if (rows == 0) return {};
  const auto in_parts = [&](uint64_t slots) {
    return PartFolder(plan, packed, {key_stream(packed), slots, nullptr, sort}, wants_first).run();
  };
  if (domain > 0 && domain <= static_cast<uint64_t>(kFewSlots) &&
      domain <= static_cast<uint64_t>(std::max<int64_t>(4096, rows / 2))) {
    if (!plan.ranked.empty()) return {in_parts(domain)};
    const SlotReader reader{
        [&](int64_t row, int64_t count, uint32_t* slots) { packed.read(row, count, slots); },
        packed.touches()};
    GroupPart part = RunFolder(plan, rows, static_cast<int64_t>(domain), reader).run();
    if (wants_first) part.first_rows = first_rows(rows, reader, part);
    return {{finish_part(packed, plan, part, false)}};
  }
  const NumberedKeys numbered = number_keys(
      rows, [&](int64_t row, int64_t count, uint64_t* keys) { packed.read(row, count, keys); },
      packed.touches(), kFewSlots);
  if (numbered.numbers) return fold_numbered(packed, plan, numbered, sort);
  // Ranges of keys where most of their slots will be used.
  const bool dense = domain > 0 && domain <= static_cast<uint64_t>(4 * rows);
  return {in_parts(dense ? domain : 0)};
}

// Strings compare as their places in the order of all.
struct OrderedStrings {
  int64_t column;
  PackedKeys packed;
  Column packs;
};

OrderedStrings order_strings(int64_t column, const Column& strings) {
  OrderedStrings made{column, PackedKeys::of("groupby", {strings}, {}), {}};
  const int64_t rows = strings.num_rows();
  Buffer packs = Buffer::allocate(8 * rows);
  if (rows > 0) {
    auto* out = packs.mutable_as<uint64_t>();
    parallel_morsels(rows, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows)
        made.packed.read(row, std::min(kBlockRows, morsel.end - row), out + row);
    });
  }
  Buffer validity;
  if (strings.null_count() > 0) {
    validity = Buffer::allocate_zeroed((rows + 7) / 8);
    for (int64_t row = 0; row < rows; ++row)
      if (!strings.is_null(row))
        validity.mutable_as<uint8_t>()[row / 8] |= static_cast<uint8_t>(1u << (row % 8));
  }
  made.packs =
      Column(TypeId::kUInt64, rows, std::move(packs), std::move(validity), strings.null_count());
  return made;
}

}  // namespace

Grouped group_by(const std::vector<Column>& keys, const std::vector<Column>& given,
                 const std::vector<AggregateRequest>& given_requests, GroupOptions options) {
  if (keys.empty())
    throw_error<InvalidArgumentError>("groupby", "there is no key", {}, "name a column");
  for (const std::vector<Column>* columns : {&keys, &given})
    for (const Column& column : *columns)
      if (column.num_rows() != keys[0].num_rows())
        throw_error<InvalidArgumentError>(
            "groupby", "the columns have different lengths",
            {{"rows", column.num_rows()}, {"key_rows", keys[0].num_rows()}});
  std::vector<Column> values = given;
  std::vector<AggregateRequest> requests = given_requests;
  std::vector<OrderedStrings> ordered;
  std::vector<std::pair<size_t, size_t>> strings;  // request and its place in `ordered`
  for (size_t k = 0; k < requests.size(); ++k) {
    AggregateRequest& request = requests[k];
    const Aggregate kind = request.aggregate;
    if (request.column < 0) continue;
    const Column& column = given[static_cast<size_t>(request.column)];
    const bool text = column.dtype().is_string();
    const bool ranks = kind == Aggregate::kMin || kind == Aggregate::kMax;
    if (!(ranks && (text || column.dtype().is_category())) &&
        !(text && kind == Aggregate::kNunique))
      continue;
    size_t place = 0;
    while (place < ordered.size() && ordered[place].column != request.column) ++place;
    if (place == ordered.size()) {
      ordered.push_back(order_strings(request.column, column));
      values.push_back(ordered.back().packs);
    }
    request.column = static_cast<int64_t>(given.size() + place);
    if (ranks) strings.emplace_back(k, place);
  }
  const PackedKeys packed = PackedKeys::of(
      "groupby", keys,
      {.ordered = options.order == GroupOrder::kSorted, .drop_missing = options.drop_missing});
  const FoldPlan plan = plan_folds(values, requests);
  Found found = find_groups(packed, plan, options);
  Grouped grouped = collect_groups(packed, static_cast<int64_t>(keys.size()), plan, values,
                                   std::move(found.results), found.first_seen, options);
  for (const auto& [request, place] : strings) {
    Column& result = grouped.values[request];
    const int64_t rows = result.num_rows();
    if (rows > 0 && result.null_count() == rows) {
      const Column& source = given[static_cast<size_t>(ordered[place].column)];
      result = source.with_rows(rows, Buffer::allocate_zeroed(rows * source.dtype().size_bytes()),
                                Buffer::allocate_zeroed((rows + 7) / 8), rows);
      continue;
    }
    const Column texts = ordered[place].packed.unpack(0, result.values_buffer(), result.num_rows());
    result = texts.with_rows(result.num_rows(), texts.values_buffer(), result.validity_buffer(),
                             result.null_count());
  }
  return grouped;
}

}  // namespace hr
