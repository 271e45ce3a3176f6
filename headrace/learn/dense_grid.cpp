// SPDX-License-Identifier: Apache-2.0
// Sorts points by cell, and clusters cells.
#include "headrace/learn/dense_grid.h"

#include "headrace/algo/sort/sort.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hr {
namespace {

/// By this much a cell is too small, so that rounding never makes it too wide.
constexpr double kMargin = 1e-6;
constexpr int64_t kReach = 2;
constexpr int64_t kWord = static_cast<int64_t>(sizeof(int64_t));

int bits_of(int64_t dimensions) {
  return dimensions < 3 ? 31 : 20;
}

/// Calls `body(first, count, points)` for rows [begin, end), points in lanes.
template <class F>
void for_tiles(const RowTiles& x, int64_t begin, int64_t end, F body) {
  constexpr int64_t kPoints = 512;
  double points[3 * kPoints];
  for (int64_t first = begin; first < end; first += kPoints) {
    const int64_t count = std::min(kPoints, end - first);
    x.read(first, count, TileForm::kPoints, nullptr, nullptr, points);
    body(first, count, points);
  }
}

struct Range {
  std::array<double, 3> least, most;
};

/// The least and the largest of each column.
Range range_of(const RowTiles& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr Range kNone{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  const auto d = static_cast<size_t>(x.columns());
  std::vector<Range> parts(static_cast<size_t>(num_morsels(x.rows())), kNone);
  parallel_morsels(x.rows(), [&](const Morsel& morsel) {
    Range& range = parts[static_cast<size_t>(morsel.index)];
    for_tiles(x, morsel.begin, morsel.end, [&](int64_t, int64_t count, const double* points) {
      for (size_t j = 0; j < d; ++j, points += count) {
        const auto [least, most] = std::minmax_element(points, points + count);
        range.least[j] = std::min(range.least[j], *least);
        range.most[j] = std::max(range.most[j], *most);
      }
    });
  });
  Range whole = kNone;
  for (const Range& range : parts)
    for (size_t j = 0; j < d; ++j) {
      whole.least[j] = std::min(whole.least[j], range.least[j]);
      whole.most[j] = std::max(whole.most[j], range.most[j]);
    }
  return whole;
}

/// Calls `body(begin, end)` for blocks of cells.
template <class F>
void for_cells(int64_t cells, F body) {
  constexpr int64_t kCells = 512;
  parallel_for((cells + kCells - 1) / kCells,
               [&](int64_t k) { body(k * kCells, std::min(cells, (k + 1) * kCells)); });
}

}  // namespace

double cell_side(double epsilon, int64_t dimensions) {
  return epsilon / std::sqrt(static_cast<double>(dimensions)) * (1 - kMargin);
}

bool cells_fit(const double* least, const double* most, int64_t dimensions, double epsilon) {
  const double side = cell_side(epsilon, dimensions), cells = std::ldexp(1.0, bits_of(dimensions));
  for (int64_t j = 0; j < dimensions; ++j)
    if (!((most[j] - least[j]) / side + 8 < cells)) return false;
  return true;
}

std::optional<DenseGrid::Corner> DenseGrid::corner(const RowTiles& x, double epsilon) {
  if (x.columns() > 3) return std::nullopt;
  const auto [least, most] = range_of(x);
  if (!cells_fit(least.data(), most.data(), x.columns(), epsilon)) return std::nullopt;
  return least;
}

DenseGrid::DenseGrid(const RowTiles& x, double epsilon, const Corner& least)
    : dimensions_(x.columns()), limit_(epsilon * epsilon), bits_(bits_of(dimensions_)) {
  const int64_t rows = x.rows();
  const auto d = static_cast<size_t>(dimensions_);
  const double side = cell_side(epsilon, dimensions_);
  Buffer keys = Buffer::allocate(rows * kWord);
  BudgetedVector<double> unsorted[3];
  for (size_t j = 0; j < d; ++j) unsorted[j].resize(static_cast<size_t>(rows));
  auto* const key_of = keys.mutable_as<uint64_t>();
  parallel_morsels(rows, [&](const Morsel& morsel) {
    for_tiles(x, morsel.begin, morsel.end, [&](int64_t first, int64_t count, const double* points) {
      std::fill_n(key_of + first, count, uint64_t{0});
      for (size_t j = 0; j < d; ++j, points += count) {
        std::copy_n(points, count, unsorted[j].data() + first);
        for (int64_t i = 0; i < count; ++i) {
          const auto place = static_cast<uint64_t>((points[i] - least[j]) / side + kReach);
          key_of[first + i] = key_of[first + i] << bits_ | place;
        }
      }
    });
  });
  const Tensor numbers(dtype_of<uint64_t>(), {rows}, std::move(keys));
  const Tensor order = argsort({as_column(numbers)}, {SortOrder()});
  rows_.resize(static_cast<size_t>(rows));
  BudgetedVector<uint64_t> sorted(rows_.size());
  for (size_t j = 0; j < d; ++j) columns_[j].resize(rows_.size());
  parallel_morsels(rows, [&](const Morsel& morsel) {
    for (auto p = static_cast<size_t>(morsel.begin); p < static_cast<size_t>(morsel.end); ++p) {
      const int64_t row = order.as<int64_t>()[p];
      rows_[p] = row;
      sorted[p] = numbers.as<uint64_t>()[row];
      for (size_t j = 0; j < d; ++j) columns_[j][p] = unsorted[j][static_cast<size_t>(row)];
    }
  });
  for (size_t p = 0; p < sorted.size(); ++p)
    if (p == 0 || sorted[p] != sorted[p - 1]) {
      keys_.push_back(sorted[p]);
      begins_.push_back(static_cast<int64_t>(p));
    }
  begins_.push_back(rows);
}

template <class F>
void DenseGrid::around(int64_t cell, F take) const {
  const uint64_t key = keys_[static_cast<size_t>(cell)];
  const auto from = [&](uint64_t wanted) {
    return std::lower_bound(keys_.begin(), keys_.end(), wanted) - keys_.begin();
  };
  const int64_t planes = dimensions_ > 2 ? kReach : 0, lines = dimensions_ > 1 ? kReach : 0;
  for (int64_t plane = -planes; plane <= planes; ++plane)
    for (int64_t line = -lines; line <= lines; ++line) {
      const uint64_t middle =
          key + static_cast<uint64_t>(plane * (int64_t{1} << (2 * bits_)) * (planes > 0 ? 1 : 0)) +
          static_cast<uint64_t>(line * (int64_t{1} << bits_));
      const int64_t first = from(middle - kReach);
      int64_t end = first;
      while (end < num_cells() && keys_[static_cast<size_t>(end)] <= middle + kReach) ++end;
      if (first < end) take(first, end);
    }
}

void DenseGrid::find_core(const double* weights, double least_weight,
                          BudgetedVector<uint8_t>& core) const {
  const cpu::PointColumns points{{columns_[0].data(), columns_[1].data(), columns_[2].data()},
                                 dimensions_};
  for_cells(num_cells(), [&](int64_t first_cell, int64_t end_cell) {
    std::vector<std::pair<int64_t, int64_t>> runs;
    for (int64_t cell = first_cell; cell < end_cell; ++cell) {
      const int64_t begin = begins_[static_cast<size_t>(cell)];
      const int64_t end = begins_[static_cast<size_t>(cell) + 1];
      const bool full = weights == nullptr && static_cast<double>(end - begin) >= least_weight;
      runs.clear();
      if (!full)
        around(cell, [&](int64_t first, int64_t last) {
          runs.emplace_back(begins_[static_cast<size_t>(first)],
                            begins_[static_cast<size_t>(last)]);
        });
      for (int64_t p = begin; p < end; ++p) {
        double point[3] = {};
        for (int64_t j = 0; j < dimensions_; ++j) point[j] = columns_[j][static_cast<size_t>(p)];
        double weight = 0;
        for (const auto& [from, to] : runs) {
          if (weights == nullptr) {
            weight += static_cast<double>(cpu::count_near(points, from, to, point, limit_));
            if (weight >= least_weight) break;
          } else {
            for (int64_t other = from; other < to; ++other)
              if (cpu::count_near(points, other, other + 1, point, limit_) != 0)
                weight += weights[rows_[static_cast<size_t>(other)]];
          }
        }
        core[static_cast<size_t>(rows_[static_cast<size_t>(p)])] = full || weight >= least_weight;
      }
    }
  });
}

void DenseGrid::put_core_first(const BudgetedVector<uint8_t>& core) {
  cores_.resize(keys_.size());
  for_cells(num_cells(), [&](int64_t first_cell, int64_t end_cell) {
    BudgetedVector<int64_t> order, moved_rows;
    BudgetedVector<double> moved_values;
    for (int64_t cell = first_cell; cell < end_cell; ++cell) {
      const int64_t begin = begins_[static_cast<size_t>(cell)];
      const int64_t end = begins_[static_cast<size_t>(cell) + 1];
      order.clear();
      for (const bool wanted : {true, false}) {
        for (int64_t p = begin; p < end; ++p)
          if ((core[static_cast<size_t>(rows_[static_cast<size_t>(p)])] != 0) == wanted)
            order.push_back(p);
        if (wanted) cores_[static_cast<size_t>(cell)] = static_cast<int64_t>(order.size());
      }
      const auto reorder = [&](auto& all, auto& moved) {
        moved.clear();
        for (const int64_t p : order) moved.push_back(all[static_cast<size_t>(p)]);
        std::copy(moved.begin(), moved.end(), all.begin() + begin);
      };
      reorder(rows_, moved_rows);
      for (int64_t j = 0; j < dimensions_; ++j) reorder(columns_[j], moved_values);
    }
  });
}

BudgetedVector<int64_t> DenseGrid::clusters(const double* weights, double least_weight,
                                            BudgetedVector<uint8_t>& core) {
  find_core(weights, least_weight, core);
  put_core_first(core);
  const cpu::PointColumns points{{columns_[0].data(), columns_[1].data(), columns_[2].data()},
                                 dimensions_};
  const auto near_core = [&](int64_t p, int64_t cell) {
    double point[3] = {};
    for (int64_t j = 0; j < dimensions_; ++j) point[j] = columns_[j][static_cast<size_t>(p)];
    const int64_t begin = begins_[static_cast<size_t>(cell)];
    const int64_t end = begin + cores_[static_cast<size_t>(cell)];
    constexpr int64_t kStep = 64;
    for (int64_t at = begin; at < end; at += kStep)
      if (cpu::count_near(points, at, std::min(end, at + kStep), point, limit_) != 0) return true;
    return false;
  };
  DisjointSets sets(num_cells());
  for_cells(num_cells(), [&](int64_t first_cell, int64_t end_cell) {
    for (int64_t cell = first_cell; cell < end_cell; ++cell) {
      if (cores_[static_cast<size_t>(cell)] == 0) continue;
      const int64_t begin = begins_[static_cast<size_t>(cell)];
      around(cell, [&](int64_t first, int64_t last) {
        for (int64_t other = std::max(first, cell + 1); other < last; ++other) {
          if (cores_[static_cast<size_t>(other)] == 0 || sets.root(cell) == sets.root(other))
            continue;
          for (int64_t p = begin; p < begin + cores_[static_cast<size_t>(cell)]; ++p)
            if (near_core(p, other)) {
              sets.join(cell, other);
              break;
            }
        }
      });
    }
  });
  // The first core point of a cell has its lowest row.
  BudgetedVector<int64_t> lowest(keys_.size(), std::numeric_limits<int64_t>::max());
  for (int64_t cell = 0; cell < num_cells(); ++cell) {
    if (cores_[static_cast<size_t>(cell)] == 0) continue;
    int64_t& own = lowest[static_cast<size_t>(sets.root(cell))];
    own = std::min(own, rows_[static_cast<size_t>(begins_[static_cast<size_t>(cell)])]);
  }
  BudgetedVector<int64_t> found(rows_.size(), -1);
  for_cells(num_cells(), [&](int64_t first_cell, int64_t end_cell) {
    for (int64_t cell = first_cell; cell < end_cell; ++cell) {
      const int64_t begin = begins_[static_cast<size_t>(cell)];
      const int64_t middle = begin + cores_[static_cast<size_t>(cell)];
      for (int64_t p = begin; p < middle; ++p)
        found[static_cast<size_t>(rows_[static_cast<size_t>(p)])] =
            lowest[static_cast<size_t>(sets.root(cell))];
      if (middle == begins_[static_cast<size_t>(cell) + 1]) continue;
      around(cell, [&](int64_t first, int64_t last) {
        for (int64_t other = first; other < last; ++other) {
          if (cores_[static_cast<size_t>(other)] == 0) continue;
          const int64_t cluster = lowest[static_cast<size_t>(sets.root(other))];
          for (int64_t p = middle; p < begins_[static_cast<size_t>(cell) + 1]; ++p) {
            int64_t& own = found[static_cast<size_t>(rows_[static_cast<size_t>(p)])];
            if ((own < 0 || cluster < own) && near_core(p, other)) own = cluster;
          }
        }
      });
    }
  });
  return found;
}

}  // namespace hr
