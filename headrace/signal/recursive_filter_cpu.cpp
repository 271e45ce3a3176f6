// SPDX-License-Identifier: Apache-2.0
// Recursive filters on the CPU: long lines in parts, whose states at the cuts come first; several
// lines side by side; others in order.
#include "headrace/base/checked.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/line_offsets.h"
#include "headrace/signal/recursive_filter_kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>
#include <vector>

namespace hr::cpu {

namespace {

constexpr int64_t kLanes = kFilterLanes;
constexpr int64_t kTile = 152;
/// Samples of a part of a long line: parts lie a little apart in the sets of a cache.
constexpr int64_t kPart = 27 * kTile;
constexpr int64_t kGroup = kLanes * kPart;

/// One section in order.
template <int64_t order>
void filter_in_order(const double* b, const double* a, int64_t count, double* x, double* state) {
  const bool feedback = has_feedback(order, a);
  double z[order];
  std::copy(state, state + order, z);
  for (int64_t t = 0; t < count; ++t) {
    const double in = x[t];
    double y = z[0] + in * b[0];
    x[t] = y;
    if (!feedback) y = 0;
    for (int64_t i = 0; i + 1 < order; ++i) z[i] = z[i + 1] + in * b[i + 1] - y * a[i + 1];
    z[order - 1] = in * b[order] - y * a[order];
  }
  std::copy(z, z + order, state);
}

void filter_in_order(const double* b, const double* a, int64_t order, int64_t count, double* x,
                     double* z) {
  const bool feedback = has_feedback(order, a);
  for (int64_t t = 0; t < count; ++t) {
    const double in = x[t];
    double y = order == 0 ? in * b[0] : z[0] + in * b[0];
    x[t] = y;
    if (!feedback) y = 0;
    for (int64_t i = 0; i + 1 < order; ++i) z[i] = z[i + 1] + in * b[i + 1] - y * a[i + 1];
    if (order > 0) z[order - 1] = in * b[order] - y * a[order];
  }
}

/// All sections over `count` samples in place.
void filter_block(const FilterSections& sections, int64_t count, double* x, double* state) {
  const int64_t order = sections.order;
  for (int64_t s = 0; s < sections.count(); ++s) {
    const double* b = sections.numerators.data() + s * (order + 1);
    const double* a = sections.denominators.data() + s * (order + 1);
    double* z = state + s * order;
    switch (order) {
      case 1:
        filter_in_order<1>(b, a, count, x, z);
        break;
      case 2:
        filter_in_order<2>(b, a, count, x, z);
        break;
      case 3:
        filter_in_order<3>(b, a, count, x, z);
        break;
      case 4:
        filter_in_order<4>(b, a, count, x, z);
        break;
      default:
        filter_in_order(b, a, order, count, x, z);
    }
  }
}

bool all_finite(const double* values, int64_t count) {
  return std::all_of(values, values + count, [](double v) { return std::isfinite(v); });
}

/// What a filter keeps of its state over a part of a line without samples.
struct FilterMemory {
  bool grows = false;
  int64_t samples = kPart;           ///< after which nothing is left; kPart: something may be
  std::vector<double> transition{};  ///< column j: what is left of a 1 in number j; empty: nothing
};

/// What is left of a state after this factor is too little for any signal.
constexpr double kForgotten = 0x1p-200;
constexpr double kMostGrowth = 0x1p20;

FilterMemory memory_of(const FilterSections& sections) {
  const int64_t size = sections.state_size();
  FilterMemory memory;
  memory.samples = 0;
  std::vector<double> transition(static_cast<size_t>(size * size));
  std::vector<double> state(static_cast<size_t>(size * kLanes));
  std::vector<double> tile(static_cast<size_t>(kTile * kLanes));
  for (int64_t first = 0; first < size; first += kLanes) {
    const int64_t columns = std::min(kLanes, size - first);
    std::fill(state.begin(), state.end(), 0.0);
    for (int64_t j = 0; j < columns; ++j)
      state[static_cast<size_t>((first + j) * kLanes + j)] = 1.0;
    int64_t samples = 0;
    for (double most = 1; samples < kPart && !(most <= kForgotten); samples += kTile) {
      std::fill(tile.begin(), tile.end(), 0.0);
      filter_tile(sections, kTile, tile.data(), state.data());
      most = 0;
      for (const double each : state) most = !(std::fabs(each) <= most) ? std::fabs(each) : most;
    }
    memory.samples = std::max(memory.samples, samples);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const double left = state[static_cast<size_t>(i * kLanes + j)];
        transition[static_cast<size_t>(i * size + first + j)] = left;
        if (!(std::fabs(left) <= kMostGrowth)) memory.grows = true;
      }
  }
  if (memory.samples > kPart / 2) {
    memory.samples = kPart;
    memory.transition = std::move(transition);
  }
  return memory;
}

/// Samples of a line in the order of the filter.
template <class T>
struct Samples {
  T* first;
  int64_t stride;

  T* at(int64_t i) const { return first + i * stride; }
};

/// What a line's job touches, and whether its first sample is the last row of that.
struct LinePins {
  std::vector<BufferAccess> accesses{};
  int64_t rows = 0;
  bool reversed = false;

  std::vector<PinnedRange> ranges(int64_t begin, int64_t end) const {
    return reversed ? ranges_of(accesses, rows - end, rows - begin)
                    : ranges_of(accesses, begin, end);
  }
};

/// Rows of a tile where they lie, or as float64 in a scratch block.
template <class T>
class TileRows {
 public:
  static constexpr bool in_place(int64_t stride) {
    return std::is_same_v<std::remove_const_t<T>, double> && (stride == 1 || stride == -1);
  }

  explicit TileRows(int64_t stride) : stride_(stride) {
    if (!in_place(stride)) block_.resize(static_cast<size_t>(kLanes * kTile));
    rest_.resize(static_cast<size_t>(kTile));
  }

  bool reversed() const { return in_place(stride_) && stride_ == -1; }

  /// Fills `tile` from `count` samples from `t` on of each line; lanes without a line get zeros.
  void pack(const std::vector<T*>& lines, int64_t t, int64_t count, double* tile) {
    const double* rows[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      rows[lane] = rest_.data();
      if (lane >= static_cast<int64_t>(lines.size())) continue;
      T* from = lines[static_cast<size_t>(lane)] + t * stride_;
      if constexpr (std::is_same_v<std::remove_const_t<T>, double>)
        if (in_place(stride_)) {
          rows[lane] = stride_ == 1 ? from : from - (count - 1);
          continue;
        }
      double* to = block_.data() + lane * kTile;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i * stride_]);
      rows[lane] = to;
    }
    pack_tile(rows, reversed(), count, tile);
  }

  void unpack(const double* tile, const std::vector<T*>& lines, int64_t t, int64_t count) {
    double* rows[kLanes];
    double* const nowhere = rest_.data();
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      rows[lane] = nowhere;
      if (lane >= static_cast<int64_t>(lines.size())) continue;
      if constexpr (std::is_same_v<T, double>)
        if (in_place(stride_)) {
          T* to = lines[static_cast<size_t>(lane)] + t * stride_;
          rows[lane] = stride_ == 1 ? to : to - (count - 1);
          continue;
        }
      rows[lane] = block_.data() + lane * kTile;
    }
    unpack_tile(tile, reversed(), count, rows);
    if (in_place(stride_)) return;
    for (size_t lane = 0; lane < lines.size(); ++lane) {
      const double* from = block_.data() + static_cast<int64_t>(lane) * kTile;
      T* to = lines[lane] + t * stride_;
      for (int64_t i = 0; i < count; ++i) to[i * stride_] = static_cast<T>(from[i]);
    }
  }

 private:
  int64_t stride_;
  std::vector<double> block_{};
  std::vector<double> rest_{};
};

/// Lines through one filter. In may be Out, in the same memory.
template <class In, class Out>
class LineFilter {
 public:
  explicit LineFilter(const FilterSections& sections, int64_t samples)
      : sections_(sections), size_(sections.state_size()) {
    if (samples >= kGroup) memory_ = memory_of(sections);
  }

  /// One line on the calling thread, or its parts on all.
  void run(Samples<const In> in, Samples<Out> out, int64_t count, double* state,
           const LinePins& pins) const {
    int64_t done = 0;
    if (count >= kGroup && !memory_.grows && all_finite(state, size_))
      done = run_parts(in, out, count / kGroup, state, pins);
    for (int64_t begin = done; begin < count; begin += kGroup) {
      const int64_t end = std::min(begin + kGroup, count);
      const Pin pin(pins.ranges(begin, end));
      run_in_order(in, out, begin, end, state);
    }
  }

  /// Up to kLanes lines side by side; their states lie `size_` apart.
  void run_lines(const std::vector<const In*>& in, int64_t in_stride, const std::vector<Out*>& out,
                 int64_t out_stride, int64_t count, double* states) const {
    std::vector<double> lanes = lanes_of(states, static_cast<int64_t>(in.size()));
    run_tiles(in, in_stride, out, out_stride, count, lanes);
    for (size_t lane = 0; lane < in.size(); ++lane)
      for (int64_t i = 0; i < size_; ++i)
        states[static_cast<int64_t>(lane) * size_ + i] =
            lanes[static_cast<size_t>(i * kLanes) + lane];
  }

  int64_t state_size() const { return size_; }

  const FilterSections& sections() const { return sections_; }

 private:
  void run_in_order(Samples<const In> in, Samples<Out> out, int64_t begin, int64_t end,
                    double* state) const {
    double block[kBlockRows];
    for (int64_t t = begin; t < end; t += kBlockRows) {
      const int64_t count = std::min(kBlockRows, end - t);
      for (int64_t i = 0; i < count; ++i) block[i] = static_cast<double>(*in.at(t + i));
      filter_block(sections_, count, block, state);
      for (int64_t i = 0; i < count; ++i) *out.at(t + i) = static_cast<Out>(block[i]);
    }
  }

  std::vector<double> lanes_of(const double* states, int64_t lines) const {
    std::vector<double> lanes(static_cast<size_t>(size_ * kLanes));
    for (int64_t lane = 0; lane < lines; ++lane)
      for (int64_t i = 0; i < size_; ++i)
        lanes[static_cast<size_t>(i * kLanes + lane)] = states[lane * size_ + i];
    return lanes;
  }

  /// `out` may be empty: the states alone count.
  void run_tiles(const std::vector<const In*>& in, int64_t in_stride, const std::vector<Out*>& out,
                 int64_t out_stride, int64_t count, std::vector<double>& lanes) const {
    alignas(64) double tile[kTile * kLanes];
    TileRows<const In> source(in_stride);
    TileRows<Out> target(out_stride);
    for (int64_t t = 0; t < count; t += kTile) {
      const int64_t samples = std::min(kTile, count - t);
      source.pack(in, t, samples, tile);
      filter_tile(sections_, samples, tile, lanes.data());
      if (!out.empty()) target.unpack(tile, out, t, samples);
    }
  }

  /// The first `groups` kGroup samples, and the state after those that are done: all, or those
  /// before the first part that ends in a state that is not finite.
  int64_t run_parts(Samples<const In> in, Samples<Out> out, int64_t groups, double* state,
                    const LinePins& pins) const {
    const int64_t parts = groups * kLanes;
    // Parts are not filtered twice where their samples are overwritten.
    const bool in_place = static_cast<const void*>(in.first) == static_cast<const void*>(out.first);
    if (in_place && !are_finite(in, groups, pins)) return 0;
    std::vector<double> states(static_cast<size_t>((parts + 1) * size_));  // at the cuts
    std::copy(state, state + size_, states.begin());
    // `out` may lie where `in` does: all that reads the end of another part comes first.
    parallel_for(groups, [&](int64_t group) {
      const Pin pin(pins.ranges(group * kGroup, (group + 1) * kGroup));
      std::vector<const In*> lines;
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lines.push_back(in.at((group * kLanes + lane + 1) * kPart - memory_.samples));
      std::vector<double> lanes(static_cast<size_t>(size_ * kLanes));
      run_tiles(lines, in.stride, {}, 1, memory_.samples, lanes);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int64_t i = 0; i < size_; ++i)
          states[static_cast<size_t>((group * kLanes + lane + 1) * size_ + i)] =
              lanes[static_cast<size_t>(i * kLanes + lane)];
    });
    if (!memory_.transition.empty())
      for (int64_t part = 0; part < parts; ++part) add_what_is_left(states.data() + part * size_);
    if (in_place && !all_finite(states.data(), (parts + 1) * size_)) return 0;
    std::vector<double> ends(static_cast<size_t>(parts * size_));
    parallel_for(groups, [&](int64_t group) {
      const Pin pin(pins.ranges(group * kGroup, (group + 1) * kGroup));
      std::vector<const In*> from;
      std::vector<Out*> to;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        from.push_back(in.at((group * kLanes + lane) * kPart));
        to.push_back(out.at((group * kLanes + lane) * kPart));
      }
      std::vector<double> lanes = lanes_of(states.data() + group * kLanes * size_, kLanes);
      run_tiles(from, in.stride, to, out.stride, kPart, lanes);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int64_t i = 0; i < size_; ++i)
          ends[static_cast<size_t>((group * kLanes + lane) * size_ + i)] =
              lanes[static_cast<size_t>(i * kLanes + lane)];
    });
    int64_t part = 0;
    while (part + 1 < parts && all_finite(ends.data() + part * size_, size_)) ++part;
    std::copy(ends.data() + part * size_, ends.data() + (part + 1) * size_, state);
    return (part + 1) * kPart;
  }

  static bool are_finite(Samples<const In> in, int64_t groups, const LinePins& pins) {
    std::atomic<bool> finite = true;
    parallel_for(groups, [&](int64_t group) {
      const Pin pin(pins.ranges(group * kGroup, (group + 1) * kGroup));
      for (int64_t t = group * kGroup; t < (group + 1) * kGroup; ++t)
        if (!std::isfinite(static_cast<double>(*in.at(t)))) {
          finite = false;
          return;
        }
    });
    return finite;
  }

  /// Adds to the state behind `state` what a part leaves of this one.
  void add_what_is_left(double* state) const {
    for (int64_t i = 0; i < size_; ++i) {
      double left = 0;
      for (int64_t j = 0; j < size_; ++j)
        left += memory_.transition[static_cast<size_t>(i * size_ + j)] * state[j];
      state[size_ + i] += left;
    }
  }

  const FilterSections& sections_;
  int64_t size_;
  FilterMemory memory_{};
};

/// The lines of a tensor and of the result.
template <class In, class Out>
struct LinePairs {
  LinePairs(const Tensor& x, int64_t along, Buffer& result)
      : in(x.as<In>()),
        out(result.mutable_as<Out>()),
        samples(x.shape()[static_cast<size_t>(along)]),
        lines(x.num_elements() / samples),
        out_strides(row_major(x.shape())),
        in_offsets{x.shape(), x.strides(), along},
        out_offsets{x.shape(), out_strides, along},
        in_stride(x.strides()[static_cast<size_t>(along)]),
        out_stride(out_strides[static_cast<size_t>(along)]) {
    if (x.num_dimensions() == 1)
      pins = {{reads(x), writes(result, static_cast<int64_t>(sizeof(Out)))}, samples, false};
  }

  Samples<const In> in_line(int64_t line) const { return {in + in_offsets[line], in_stride}; }

  Samples<Out> out_line(int64_t line) const { return {out + out_offsets[line], out_stride}; }

  const In* in;
  Out* out;
  int64_t samples;
  int64_t lines;
  Shape out_strides;
  LineOffsets in_offsets;
  LineOffsets out_offsets;
  int64_t in_stride;
  int64_t out_stride;
  LinePins pins{};
};

/// Calls `one(line)` for each line, where a line is work for all threads, or `several(first,
/// count)` for up to kLanes lines at a time.
template <class One, class Several>
void for_each_line(int64_t lines, int64_t samples, const One& one, const Several& several) {
  if (samples >= kGroup) {
    for (int64_t line = 0; line < lines; ++line) one(line);
    return;
  }
  if (lines < 3) return parallel_for(lines, [&](int64_t line) { one(line); });
  parallel_for(divide_up(lines, kLanes), [&](int64_t group) {
    several(group * kLanes, std::min(kLanes, lines - group * kLanes));
  });
}

template <class In, class Out>
void filter_lines(const LinePairs<In, Out>& pairs, const FilterSections& sections, double* states) {
  const LineFilter<In, Out> filter(sections, pairs.samples);
  const int64_t size = filter.state_size();
  for_each_line(
      pairs.lines, pairs.samples,
      [&](int64_t line) {
        filter.run(pairs.in_line(line), pairs.out_line(line), pairs.samples, states + line * size,
                   pairs.pins);
      },
      [&](int64_t first, int64_t count) {
        std::vector<const In*> in;
        std::vector<Out*> out;
        for (int64_t line = first; line < first + count; ++line) {
          in.push_back(pairs.in_line(line).first);
          out.push_back(pairs.out_line(line).first);
        }
        filter.run_lines(in, pairs.in_stride, out, pairs.out_stride, pairs.samples,
                         states + first * size);
      });
}

/// Forwards into the result, backwards over it; what lies beyond the ends is filtered in between.
template <class In, class Out>
class BothWays {
 public:
  BothWays(const LinePairs<In, Out>& pairs, const FilterSections& sections,
           const std::vector<double>& steady, FilterPadding padding, int64_t padding_length)
      : pairs_(pairs),
        forwards_(sections, pairs.samples),
        backwards_(sections, pairs.samples),
        steady_(steady),
        padding_(padding),
        length_(padding_length) {
    back_pins_ = pairs.pins;
    back_pins_.reversed = true;
    if (!back_pins_.accesses.empty()) back_pins_.accesses.erase(back_pins_.accesses.begin());
  }

  void run() const {
    for_each_line(
        pairs_.lines, pairs_.samples, [&](int64_t line) { run_line(line); },
        [&](int64_t first, int64_t count) { run_several(first, count); });
  }

 private:
  double beyond(const Samples<const In>& in, int64_t end, int64_t inside) const {
    const auto last = static_cast<double>(*in.at(end));
    if (padding_ == FilterPadding::kConstant) return last;
    const auto mirrored = static_cast<double>(*in.at(inside));
    return padding_ == FilterPadding::kOdd ? 2 * last - mirrored : mirrored;
  }

  void begin_with(double first, double* state) const {
    for (size_t i = 0; i < steady_.size(); ++i) state[i] = steady_[i] * first;
  }

  /// The state at the first sample.
  void begin(const Samples<const In>& in, double* state) const {
    std::vector<double> before;
    for (int64_t j = 0; j < length_; ++j) before.push_back(beyond(in, 0, length_ - j));
    begin_with(before.empty() ? static_cast<double>(*in.at(0)) : before[0], state);
    filter_block(forwards_.sections(), length_, before.data(), state);
  }

  /// From the state behind the last sample to that in which the way back begins.
  void turn(const Samples<const In>& in, const Samples<Out>& out, double* state) const {
    const int64_t last = pairs_.samples - 1;
    std::vector<double> after;
    for (int64_t j = 0; j < length_; ++j) after.push_back(beyond(in, last, last - 1 - j));
    filter_block(forwards_.sections(), length_, after.data(), state);
    std::reverse(after.begin(), after.end());
    begin_with(after.empty() ? static_cast<double>(*out.at(last)) : after[0], state);
    filter_block(forwards_.sections(), length_, after.data(), state);
  }

  void run_line(int64_t line) const {
    const Samples<const In> in = pairs_.in_line(line);
    const Samples<Out> out = pairs_.out_line(line);
    std::vector<double> state(steady_.size());
    begin(in, state.data());
    forwards_.run(in, out, pairs_.samples, state.data(), pairs_.pins);
    turn(in, out, state.data());
    Out* last = out.at(pairs_.samples - 1);
    backwards_.run({last, -out.stride}, {last, -out.stride}, pairs_.samples, state.data(),
                   back_pins_);
  }

  void run_several(int64_t first, int64_t count) const {
    const auto size = static_cast<int64_t>(steady_.size());
    std::vector<double> states(static_cast<size_t>(count * size));
    std::vector<const In*> in;
    std::vector<Out*> out;
    std::vector<const Out*> back;
    std::vector<Out*> ends;
    for (int64_t k = 0; k < count; ++k) {
      in.push_back(pairs_.in_line(first + k).first);
      out.push_back(pairs_.out_line(first + k).first);
      ends.push_back(pairs_.out_line(first + k).at(pairs_.samples - 1));
      back.push_back(ends.back());
      begin(pairs_.in_line(first + k), states.data() + k * size);
    }
    forwards_.run_lines(in, pairs_.in_stride, out, pairs_.out_stride, pairs_.samples,
                        states.data());
    for (int64_t k = 0; k < count; ++k)
      turn(pairs_.in_line(first + k), pairs_.out_line(first + k), states.data() + k * size);
    backwards_.run_lines(back, -pairs_.out_stride, ends, -pairs_.out_stride, pairs_.samples,
                         states.data());
  }

  const LinePairs<In, Out>& pairs_;
  LineFilter<In, Out> forwards_;
  LineFilter<Out, Out> backwards_;
  const std::vector<double>& steady_;
  FilterPadding padding_;
  int64_t length_;
  LinePins back_pins_{};
};

/// Calls `body` with the types of samples and of results.
template <class F>
void with_types(const Tensor& x, Dtype result, const F& body) {
  if (x.dtype() == Dtype(TypeId::kFloat64))
    body(std::type_identity<double>{}, std::type_identity<double>{});
  else if (result == Dtype(TypeId::kFloat64))
    body(std::type_identity<float>{}, std::type_identity<double>{});
  else
    body(std::type_identity<float>{}, std::type_identity<float>{});
}

}  // namespace

void recursive_filter(const Tensor& x, const FilterSections& sections, int64_t axis, Dtype result,
                      double* states, Buffer& out) {
  with_types(x, result, [&]<class In, class Out>(std::type_identity<In>, std::type_identity<Out>) {
    filter_lines(LinePairs<In, Out>(x, axis, out), sections, states);
  });
}

void recursive_filter_both_ways(const Tensor& x, const FilterSections& sections, int64_t axis,
                                Dtype result, const std::vector<double>& steady,
                                FilterPadding padding, int64_t padding_length, Buffer& out) {
  with_types(x, result, [&]<class In, class Out>(std::type_identity<In>, std::type_identity<Out>) {
    const LinePairs<In, Out> pairs(x, axis, out);
    BothWays<In, Out>(pairs, sections, steady, padding, padding_length).run();
  });
}

}  // namespace hr::cpu
