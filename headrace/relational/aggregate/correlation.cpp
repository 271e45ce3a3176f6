// SPDX-License-Identifier: Apache-2.0
// Covariances and correlations of each pair of columns: parts of rows, whose blocks are read once
// for all pairs of a tile of columns.
#include "headrace/relational/aggregate/correlation.h"

#include "headrace/algo/reduce/reduce.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/relational/aggregate/correlation_kernels.h"
#include "headrace/relational/rows/operator_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {

namespace {

using cpu::PairSums;

constexpr int64_t kTile = 128;        // columns, a multiple of kNear
constexpr int64_t kNear = 16;         // columns, a multiple of 4: their blocks stay in the L1 cache
constexpr int64_t kBlock = 256;       // rows: two tiles of blocks are 512 KiB
constexpr int64_t kLeastRows = 8192;  // of a part
constexpr int64_t kMostParts = 64;
constexpr int64_t kMostSums = 1 << 18;  // of all parts together, where one part has no more

struct Rows {
  int64_t begin;
  int64_t end;
};

/// Sums over all pairs of some columns.
class Pairs {
 public:
  explicit Pairs(std::vector<Column> columns)
      : columns_(std::move(columns)),
        count_(static_cast<int64_t>(columns_.size())),
        rows_(columns_[0].num_rows()),
        num_pairs_(checked_multiply("corr", count_, count_ + 1) / 2) {
    const int64_t most = std::clamp<int64_t>(kMostSums / num_pairs_, 1, kMostParts);
    part_rows_ = std::max(kLeastRows, divide_up(rows_, most));
    means_.resize(columns_.size());
    complete_.resize(columns_.size());
    parallel_for(count_, [&](int64_t c) { note_mean(static_cast<size_t>(c)); });
    add_up();
  }

  /// Sums of the rows where both are there, less what the means leave.
  PairSums at(int64_t a, int64_t b) const {
    if (a < b) {
      const PairSums turned = at(b, a);
      return {turned.count, turned.b, turned.a, turned.bb, turned.aa, turned.ab};
    }
    PairSums sums = sums_.as<PairSums>()[pair(a, b)];
    if (is_complete(a, b)) {
      const PairSums &own = sums_.as<PairSums>()[pair(a, a)],
                     &other = sums_.as<PairSums>()[pair(b, b)];
      sums = {static_cast<double>(rows_), own.a, other.a, own.ab, other.ab, sums.ab};
    }
    const double mean_a = sums.a / sums.count, mean_b = sums.b / sums.count;
    sums.aa -= sums.a * mean_a;
    sums.bb -= sums.b * mean_b;
    sums.ab -= sums.a * mean_b;
    return sums;
  }

 private:
  void note_mean(size_t c) {
    const auto finite = [](const Scalar& mean) {
      return !mean.is_null() && std::isfinite(mean.as<double>());
    };
    Scalar mean = reduce(columns_[c], Aggregate::kMean);
    complete_[c] = columns_[c].null_count() == 0 && finite(mean);
    if (!complete_[c]) {
      mean = reduce(columns_[c], Aggregate::kMean, {.skip_nan = true});
      const Scalar there = reduce(columns_[c], Aggregate::kCount, {.skip_nan = true});
      complete_[c] = there.as<int64_t>() == rows_;
    }
    // Of infinite values there may be none in the rows of a pair.
    means_[c] = finite(mean) ? mean.as<double>() : 0;
  }

  static int64_t pair(int64_t a, int64_t b) { return a * (a + 1) / 2 + b; }

  bool is_complete(int64_t a, int64_t b) const {
    return complete_[static_cast<size_t>(a)] != 0 && complete_[static_cast<size_t>(b)] != 0;
  }

  void add_up() {
    const bool all = std::find(complete_.begin(), complete_.end(), 0) == complete_.end();
    if (!all) {  // how far the means of the common rows are from those of all
      sums_ = sums_of_parts({}, true);
      shifts_ = sums_;
    }
    sums_ = sums_of_parts(shifts_, false);
  }

  /// One pass. `only_missing`: for pairs with missing values.
  Buffer sums_of_parts(const Buffer& shifts, bool only_missing) {
    const int64_t tiles = divide_up(count_, kTile), tile_pairs = tiles * (tiles + 1) / 2;
    const int64_t parts = std::max<int64_t>(divide_up(rows_, part_rows_), 1);
    const auto bytes = static_cast<int64_t>(sizeof(PairSums));
    Buffer result = Buffer::allocate_zeroed(checked_multiply("corr", parts * num_pairs_, bytes));
    auto* const sums = result.mutable_as<PairSums>();
    parallel_for(parts * tile_pairs, [&](int64_t task) {
      const int64_t part = task / tile_pairs;
      int64_t tile = 0, before = task % tile_pairs;
      while (before > tile) before -= ++tile;
      const Rows rows{part * part_rows_, std::min((part + 1) * part_rows_, rows_)};
      add_tiles(tile, before, rows, shifts, only_missing, sums + part * num_pairs_);
    });
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t i = 0; i < num_pairs_; ++i) {
        PairSums& to = sums[i];
        const PairSums& from = sums[part * num_pairs_ + i];
        to = {to.count + from.count, to.a + from.a,   to.b + from.b,
              to.aa + from.aa,       to.bb + from.bb, to.ab + from.ab};
      }
    return result;
  }

  void add_tiles(int64_t tile_a, int64_t tile_b, Rows rows, const Buffer& shifts, bool only_missing,
                 PairSums* sums) const {
    const Rows own{tile_a * kTile, std::min((tile_a + 1) * kTile, count_)};
    const Rows other{tile_b * kTile, std::min((tile_b + 1) * kTile, count_)};
    std::vector<BufferAccess> accesses;
    for (const Rows& columns : {own, other})
      for (int64_t c = columns.begin; c < columns.end; ++c)
        accesses.push_back(reads(columns_[static_cast<size_t>(c)]));
    const Pin pin(ranges_of(accesses, rows.begin, rows.end));
    const bool same = tile_a == tile_b;
    const auto size = [](const Rows& columns) {
      return static_cast<size_t>((columns.end - columns.begin) * kBlock);
    };
    std::vector<double> of_a(size(own)), of_b(same ? 0 : size(other));
    const double* const blocks = same ? of_a.data() : of_b.data();
    for (int64_t begin = rows.begin; begin < rows.end; begin += kBlock) {
      const Rows block{begin, std::min(begin + kBlock, rows.end)};
      const int64_t padded = (block.end - block.begin + 7) / 8 * 8;
      for (int64_t a = own.begin; a < own.end; ++a)
        load(a, block, padded, of_a.data() + (a - own.begin) * kBlock);
      for (int64_t b = other.begin; b < other.end && !same; ++b)
        load(b, block, padded, of_b.data() + (b - other.begin) * kBlock);
      for (int64_t b = other.begin; b < other.end; b += kNear)
        for (int64_t a = std::max(own.begin, b); a < own.end; ++a)
          add_column(a, of_a.data() + (a - own.begin) * kBlock,
                     {b, std::min({b + kNear, a + 1, other.end})},
                     blocks + (b - other.begin) * kBlock, padded, shifts, only_missing, sums);
    }
  }

  // A block of the column less its mean; NaN where nothing is there.
  void load(int64_t c, Rows block, int64_t padded, double* out) const {
    const Column& column = columns_[static_cast<size_t>(c)];
    const double* const values = column.values<double>().data();
    const double mean = means_[static_cast<size_t>(c)];
    const int64_t count = block.end - block.begin;
    for (int64_t i = 0; i < count; ++i) out[i] = values[block.begin + i] - mean;
    const bool complete = complete_[static_cast<size_t>(c)] != 0;
    const double nothing = complete ? 0 : std::numeric_limits<double>::quiet_NaN();
    std::fill(out + count, out + padded, nothing);
    if (complete || column.null_count() == 0) return;
    const Nulls is_null(column);
    for (int64_t i = 0; i < count; ++i)
      if (is_null(block.begin + i)) out[i] = nothing;
  }

  // Column `a` with each of the `others`, whose blocks begin at `blocks`.
  void add_column(int64_t a, const double* own, Rows others, const double* blocks, int64_t padded,
                  const Buffer& shifts, bool only_missing, PairSums* sums) const {
    const auto block_of = [&](int64_t b) { return blocks + (b - others.begin) * kBlock; };
    for (int64_t b = others.begin; b < others.end; ++b) {
      PairSums& to = sums[pair(a, b)];
      if (!is_complete(a, b)) {
        const PairSums shift = shifts ? shifts.as<PairSums>()[pair(a, b)] : PairSums{};
        const double rows = std::max(shift.count, 1.0);
        cpu::add_pair_sums(own, shift.a / rows, block_of(b), shift.b / rows, padded, to);
        continue;
      }
      if (only_missing) continue;
      const auto at = complete_.begin() + static_cast<std::ptrdiff_t>(b);
      if (b + 4 <= others.end && std::find(at, at + 4, 0) == at + 4) {
        double four[4];
        cpu::sum_products_of_4(own, block_of(b), kBlock, padded, four);
        for (int64_t k = 0; k < 4; ++k) sums[pair(a, b + k)].ab += four[k];
        if (a < b + 4) sums[pair(a, a)].a += cpu::sum_values(own, padded);
        b += 3;
        continue;
      }
      to.ab += cpu::sum_products(own, block_of(b), padded);
      if (a == b) to.a += cpu::sum_values(own, padded);
    }
  }

  std::vector<Column> columns_;
  int64_t count_;
  int64_t rows_;
  int64_t num_pairs_;
  int64_t part_rows_ = 0;
  std::vector<double> means_{};
  std::vector<char> complete_{};  // by column: bytes, which tasks write side by side
  Buffer sums_{};                 // PairSums by pair
  Buffer shifts_{};               // the same of the first pass, where values are missing
};

// A value for each pair of columns, in a square.
struct ColumnPairs : Operator {
  std::string arguments() const override { return "of each two columns"; }

  int passes() const override { return 2; }

  Value execute(std::span<const Value> inputs) const override {
    std::vector<Column> columns;
    for (const Value& value : inputs) columns.push_back(std::get<Column>(value));
    const auto count = static_cast<int64_t>(columns.size());
    const Pairs pairs(std::move(columns));
    Buffer result = Buffer::allocate(checked_multiply("corr", count * count, sizeof(double)));
    auto* const out = result.mutable_as<double>();
    for (int64_t a = 0; a < count; ++a)
      for (int64_t b = 0; b <= a; ++b)
        out[a * count + b] = out[b * count + a] = value_of(pairs.at(a, b), a == b);
    return Tensor(TypeId::kFloat64, {count, count}, std::move(result));
  }

  /// `same`: of a column with itself.
  virtual double value_of(const PairSums& sums, bool same) const = 0;
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Covariance final : OperatorOf<Covariance, ColumnPairs> {
  int64_t ddof = 1;

  std::string_view name() const override { return "cov"; }

  double value_of(const PairSums& sums, bool) const override {
    const double rows = sums.count - static_cast<double>(ddof);
    return rows > 0 ? sums.ab / rows : kNaN;
  }

  static auto parameters(auto& self) { return std::tie(self.ddof); }
};

struct Correlation final : OperatorOf<Correlation, ColumnPairs> {
  std::string_view name() const override { return "corr"; }

  double value_of(const PairSums& sums, bool same) const override {
    if (!(sums.aa > 0 && sums.bb > 0)) return kNaN;
    const double spread = std::sqrt(sums.aa) * std::sqrt(sums.bb);
    return same ? (std::isfinite(spread) ? 1.0 : kNaN) : std::clamp(sums.ab / spread, -1.0, 1.0);
  }
};

NodePtr pairs_node(OperatorPtr pairs, const std::vector<NodePtr>& columns) {
  const std::string_view op = pairs->name();
  if (columns.empty())
    throw_error<InvalidArgumentError>(op, "no numeric columns", {}, "select numeric columns");
  std::vector<NodePtr> inputs;
  for (const NodePtr& each : columns) {
    inputs.push_back(cast(column_node(op, each), TypeId::kFloat64));
    check_same_rows(op, inputs[0], inputs.back());
  }
  const auto count = static_cast<int64_t>(inputs.size());
  return apply_operator(std::move(pairs), array_signature(TypeId::kFloat64, {count, count}),
                        std::move(inputs));
}

}  // namespace

NodePtr covariance(const std::vector<NodePtr>& columns, int64_t ddof) {
  return pairs_node(Covariance::make(ddof), columns);
}

NodePtr correlation(const std::vector<NodePtr>& columns) {
  return pairs_node(Correlation::make(), columns);
}

}  // namespace hr
