// SPDX-License-Identifier: Apache-2.0
// Walks side by side, a step of each at a time.
#include "headrace/graph/embedding/random_walks.h"

#include "headrace/algo/random/draw_below.h"
#include "headrace/algo/random/philox.h"
#include "headrace/base/error.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hr {

namespace {

constexpr int64_t kBeside = 64;  // walks of a task
constexpr int64_t kEnd = -1;

double unit_of(uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

// Sums of weights up to each entry of its row.
BudgetedVector<double> prefix_sums(const Csr& csr, const Buffer& weights) {
  BudgetedVector<double> made(static_cast<size_t>(csr.entries()));
  if (made.empty()) return made;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      double sum = 0;
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
        made[static_cast<size_t>(i)] = sum += weights.as<double>()[i];
    }
  });
  return made;
}

class Walks {
 public:
  Walks(const Csr& csr, const BudgetedVector<double>& sums, const WalkOptions& options)
      : csr_(csr),
        targets_(csr.targets.as<uint32_t>()),
        sums_(sums),
        options_(options),
        is_biased_(options.p != 1 || options.q != 1),
        back_(1 / options.p),
        away_(1 / options.q),
        most_(std::max({back_, 1.0, away_})) {}

  // Walks [first, first + count), whose places are rows of `out`.
  void run(int64_t first, int64_t count, int64_t* out) const {
    const int64_t width = options_.length + 1;
    std::array<int64_t, kBeside> entries;  // that they are about to follow
    for (int64_t step = 1; step < width; ++step) {
      for (int64_t w = 0; w < count; ++w) {
        const int64_t from = out[w * width + step - 1];
        const auto at = static_cast<size_t>(w);
        entries[at] = from == kEnd ? kEnd : draw(first + w, step, 0, from);
        if (entries[at] != kEnd) __builtin_prefetch(targets_ + entries[at]);
      }
      for (int64_t w = 0; w < count; ++w) {
        int64_t* const place = out + w * width + step;
        int64_t entry = entries[static_cast<size_t>(w)];
        if (entry != kEnd && is_biased_ && step > 1) entry = biased(first + w, step, place, entry);
        *place = entry == kEnd ? kEnd : targets_[entry];
        if (entry != kEnd) __builtin_prefetch(csr_.offsets.as<int64_t>() + *place);
      }
    }
  }

 private:
  PhiloxBlock random(int64_t walk, int64_t step, uint32_t attempt) const {
    return philox_block({options_.seed, static_cast<uint32_t>(step)}, static_cast<uint64_t>(walk),
                        attempt);
  }

  // An entry of the row, kEnd where there is none to follow.
  int64_t draw(int64_t walk, int64_t step, uint32_t attempt, int64_t from) const {
    const int64_t begin = csr_.begin(from), degree = csr_.begin(from + 1) - begin;
    if (degree == 0) return kEnd;
    const uint64_t word = philox_word(random(walk, step, attempt), 0);
    if (sums_.empty()) return begin + draw_below(word, degree);
    const double* const sums = sums_.data() + begin;
    const double total = sums[degree - 1];
    if (total <= 0) return kEnd;
    // Rounded up, the product may be the total.
    const double wanted = std::min(unit_of(word) * total, std::nextafter(total, 0));
    return begin + (std::upper_bound(sums, sums + degree, wanted) - sums);
  }

  // The first of `entry` and further draws that is not rejected; `place` is where the step goes.
  int64_t biased(int64_t walk, int64_t step, const int64_t* place, int64_t entry) const {
    const int64_t from = place[-1], before = place[-2];
    if (csr_.degree(from) == 1) return entry;
    const std::span<const uint32_t> row = csr_.row(before);
    const double least = std::min(1.0, away_), greatest = std::max(1.0, away_);
    for (uint32_t attempt = 0;;) {
      const double height = most_ * unit_of(philox_word(random(walk, step, attempt), 1));
      const int64_t to = targets_[entry];
      // Between the two biases of steps on, whether there is an edge decides: it is looked for
      // then.
      const bool is_taken =
          to == before
              ? height < back_
              : height < least || (height < greatest &&
                                   std::binary_search(row.begin(), row.end(),
                                                      static_cast<uint32_t>(to)) == (away_ < 1));
      if (is_taken) return entry;
      entry = draw(walk, step, ++attempt, from);
    }
  }

  const Csr& csr_;
  const uint32_t* targets_;
  const BudgetedVector<double>& sums_;  // empty: no weights
  WalkOptions options_;
  bool is_biased_;
  double back_, away_, most_;
};

}  // namespace

Tensor random_walks(const Graph& graph, const Column& starts, const WalkOptions& options,
                    const std::optional<Column>& weights) {
  constexpr const char* kOp = "random_walks";
  if (options.length < 0 || options.length > INT32_MAX)
    throw_error<InvalidArgumentError>(kOp, "invalid number of steps", {{"length", options.length}});
  const auto is_bias = [](double value) { return value >= 1e-6 && value <= 1e6; };
  if (!is_bias(options.p) || !is_bias(options.q))
    throw_error<InvalidArgumentError>(kOp, "expected biases of 1e-6 to 1e6",
                                      {{"p", options.p}, {"q", options.q}});
  const Csr& csr = graph.out();
  BudgetedVector<double> sums;
  if (weights) sums = prefix_sums(csr, entry_weights(kOp, csr, *weights, WeightRule::kNotNegative));
  const int64_t walks = starts.num_rows(), width = options.length + 1;
  Buffer made = Buffer::allocate(8 * walks * width);
  if (walks > 0) {
    auto* const out = made.mutable_as<int64_t>();
    const Walks all(csr, sums, options);
    const std::span<const int64_t> first = starts.values<int64_t>();
    parallel_morsels(walks, kBeside, {}, [&](Morsel morsel) {
      for (int64_t w = morsel.begin; w < morsel.end; ++w)
        out[w * width] = first[static_cast<size_t>(w)];
      all.run(morsel.begin, morsel.end - morsel.begin, out + morsel.begin * width);
    });
  }
  made.seal();
  return Tensor(TypeId::kInt64, {walks, width}, std::move(made));
}

}  // namespace hr
