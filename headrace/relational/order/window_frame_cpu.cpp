// SPDX-License-Identifier: Apache-2.0
// A tree over blocks of 64 values, and its reading for each frame.
#include "headrace/algo/select/map_rows.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/relational/order/window_frame_kernels.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>
#include <vector>

namespace hr::cpu {

namespace {

constexpr int64_t kBlock = 64;

// A value, or none.
template <class T>
struct Partial {
  T value{};
  bool any = false;
};

template <class T>
bool is_less(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

template <FrameFunction kFunction, class T>
void fold(Partial<T>& into, const Partial<T>& other) {
  if (!other.any) return;
  if (!into.any) {
    into = other;
  } else if constexpr (kFunction == FrameFunction::kSum) {
    if constexpr (std::integral<T>)
      into.value =
          static_cast<T>(static_cast<uint64_t>(into.value) + static_cast<uint64_t>(other.value));
    else
      into.value += other.value;
  } else if constexpr (kFunction == FrameFunction::kMin) {
    if (is_less(other.value, into.value)) into.value = other.value;
  } else {
    if (is_less(into.value, other.value)) into.value = other.value;
  }
}

template <FrameFunction kFunction, class T>
class Tree {
 public:
  explicit Tree(const Column& values)
      : rows_(values.num_rows()), null_(values), data_(values.values<T>().data()) {
    for (int64_t size = (rows_ + kBlock - 1) / kBlock; size > 0;
         size = size == 1 ? 0 : (size + kBlock - 1) / kBlock) {
      const auto level = static_cast<int64_t>(levels_.size());
      levels_.push_back(Buffer::allocate(size * static_cast<int64_t>(sizeof(Partial<T>))));
      auto* const out = levels_.back().template mutable_as<Partial<T>>();
      // Blocks of a level read the level below alone.
      parallel_morsels(size, [&](Morsel morsel) {
        for (int64_t k = morsel.begin; k < morsel.end; ++k) {
          Partial<T> made;
          const int64_t end = std::min((k + 1) * kBlock, size_of(level));
          for (int64_t i = k * kBlock; i < end; ++i) fold<kFunction>(made, at(level, i));
          out[k] = made;
        }
      });
      sizes_.push_back(size);
    }
  }

  // Of rows [begin, end).
  Partial<T> of(int64_t begin, int64_t end) const {
    Partial<T> front, back;
    for (int64_t level = 0; begin < end; ++level) {
      // Ends that are no whole blocks, then the blocks between them one level up.
      const int64_t first = (begin + kBlock - 1) / kBlock, last = end / kBlock;
      if (first >= last || level == static_cast<int64_t>(levels_.size())) {
        for (int64_t i = begin; i < end; ++i) fold<kFunction>(front, at(level, i));
        break;
      }
      for (int64_t i = begin; i < first * kBlock; ++i) fold<kFunction>(front, at(level, i));
      Partial<T> rest;
      for (int64_t i = last * kBlock; i < end; ++i) fold<kFunction>(rest, at(level, i));
      fold<kFunction>(rest, back);
      back = rest;
      begin = first, end = last;
    }
    fold<kFunction>(front, back);
    return front;
  }

 private:
  int64_t size_of(int64_t level) const {
    return level == 0 ? rows_ : sizes_[static_cast<size_t>(level - 1)];
  }

  // A value of a level: of level 0 a row, above a block.
  Partial<T> at(int64_t level, int64_t i) const {
    if (level > 0) return levels_[static_cast<size_t>(level - 1)].template as<Partial<T>>()[i];
    if (null_(i)) return {};
    return {data_[i], true};
  }

  int64_t rows_;
  Nulls null_;
  const T* data_;
  std::vector<Buffer> levels_;
  std::vector<int64_t> sizes_;
};

template <FrameFunction kFunction, class T>
Column frames(const Column& begins, const Column& ends, const Column& values) {
  const int64_t rows = values.num_rows();
  const BufferAccess all = reads(values), bounds = reads(ends);
  std::vector<PinnedRange> ranges = ranges_of({&all, 1}, 0, rows);
  std::ranges::copy(ranges_of({&bounds, 1}, 0, ends.num_rows()), std::back_inserter(ranges));
  const Pin pin(ranges);
  const Tree<kFunction, T> tree(values);
  const int64_t* const first = begins.num_rows() > 0 ? begins.values<int64_t>().data() : nullptr;
  const int64_t* const last = begins.num_rows() > 0 ? ends.values<int64_t>().data() : nullptr;
  const Nulls no_end(ends);
  return map_rows_or_null<T>(begins, values.dtype(), [&, first, last](int64_t row, T* out) {
    if (no_end(row)) return false;
    const Partial<T> made =
        tree.of(std::clamp<int64_t>(first[row], 0, rows), std::clamp<int64_t>(last[row], 0, rows));
    *out = made.value;
    return made.any;
  });
}

template <class T>
Column of_function(FrameFunction function, const Column& begins, const Column& ends,
                   const Column& values) {
  switch (function) {
    case FrameFunction::kMin:
      return frames<FrameFunction::kMin, T>(begins, ends, values);
    case FrameFunction::kMax:
      return frames<FrameFunction::kMax, T>(begins, ends, values);
    case FrameFunction::kSum:
      break;
  }
  return frames<FrameFunction::kSum, T>(begins, ends, values);
}

}  // namespace

Column window_frame_kernel(FrameFunction function, const Column& begins, const Column& ends,
                           const Column& values) {
  return values.dtype() == TypeId::kFloat64 ? of_function<double>(function, begins, ends, values)
                                            : of_function<int64_t>(function, begins, ends, values);
}

}  // namespace hr::cpu
