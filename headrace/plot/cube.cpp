// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for cubes.
#include "headrace/plot/cube.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plot/cube_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace hr {
namespace {

/// Parts of a job whose sums are combined in order. More of them keep more cores busy, fewer take
/// less memory.
constexpr int64_t kMostParts = 16;
/// Below this number of cells neighbouring rows add to copies of a counter in turn: rows of one
/// cell would wait for each other.
constexpr int64_t kFewCells = 512;

void check_cells(int64_t cells) {
  if (cells < 1 || cells > kMostAxisCells)
    throw_error<InvalidArgumentError>("bin_codes", "unsupported number of cells",
                                      {{"cells", cells}}, "use 1 to 65535");
}

/// Codes of the width that `cells` needs, made by `make`.
template <class F>
Tensor codes_of(const char* op, int64_t rows, int64_t cells, F&& make) {
  const ScopedTag tag(op);
  const auto made = [&]<class Code>(std::type_identity<Code>) {
    Buffer codes = Buffer::allocate(static_cast<int64_t>(sizeof(Code)) * rows);
    make(codes.mutable_as<Code>());
    return Tensor(dtype_of<Code>(), {rows}, std::move(codes));
  };
  return cells <= 255 ? made(std::type_identity<uint8_t>()) : made(std::type_identity<uint16_t>());
}

void check_length(std::string_view name, int64_t got, int64_t rows) {
  if (got != rows)
    throw_error<InvalidArgumentError>("count_cubes", "length mismatch",
                                      {{"input", name}, {"got", got}, {"expected", rows}});
}

void check_codes(const Tensor& tensor, std::string_view name, bool narrow) {
  const bool known =
      tensor.dtype() == dtype_of<uint16_t>() || (narrow && tensor.dtype() == dtype_of<uint8_t>());
  if (!known || tensor.num_dimensions() != 1 || !tensor.is_contiguous())
    throw_error<TypeMismatchError>("count_cubes",
                                   narrow ? "expected a contiguous 1-D array of uint8 or uint16"
                                          : "expected a contiguous 1-D array of uint16",
                                   {{"input", name},
                                    {"dimensions", tensor.num_dimensions()},
                                    {"dtype", tensor.dtype().name()}});
}

/// The number of cells, with one more along each axis: for rows that are in none.
int64_t check_request(int64_t rows, const CubeRequest& request) {
  const auto axes = static_cast<int64_t>(request.axes.size());
  if (axes > kMostCubeAxes)
    throw_error<InvalidArgumentError>("count_cubes", "unsupported number of axes", {{"axes", axes}},
                                      "use up to 6");
  int64_t cells = 1;
  for (const CubeAxis& axis : request.axes) {
    check_codes(axis.codes, "codes", true);
    check_codes(axis.cells, "cells", false);
    check_length("codes", axis.codes.num_elements(), rows);
    if (axis.num_cells < 1 || axis.num_cells > kMostAxisCells)
      throw_error<InvalidArgumentError>("count_cubes", "unsupported number of cells",
                                        {{"cells", axis.num_cells}}, "use 1 to 65535");
    cells = checked_multiply("count_cubes", cells, axis.num_cells + 1);
    if (cells > kMostCubeCells)
      throw_error<InvalidArgumentError>("count_cubes", "a cube has too many cells",
                                        {{"cells", cells}, {"most", kMostCubeCells}},
                                        "use fewer bins");
  }
  for (const Column& mask : request.masks) {
    check_length("mask", mask.num_rows(), rows);
    if (!mask.dtype().is_bool() || mask.null_count() != 0)
      throw_error<TypeMismatchError>(
          "count_cubes", "a mask must be bools without nulls",
          {{"dtype", mask.dtype().name()}, {"nulls", mask.null_count()}});
  }
  if (request.values) {
    check_length("values", request.values->num_rows(), rows);
    if (!request.values->dtype().is_real())
      throw_error<TypeMismatchError>("count_cubes", "values must be integers or floats",
                                     {{"dtype", request.values->dtype().name()}});
  }
  return cells;
}

/// The factor by which `code * share >> 16` is the cell of each code; 0 where none is, or where
/// their number has more than 16 bits.
uint32_t share_of(std::span<const uint16_t> cells) {
  const auto per =
      std::ranges::find_if(cells, [](uint16_t cell) { return cell != 0; }) - cells.begin();
  if (per == 0 || cells.size() > kMostAxisCells) return 0;
  const auto share = static_cast<uint32_t>(divide_up(65536, per));
  for (size_t code = 0; code < cells.size(); ++code)
    if (cells[code] != (static_cast<uint32_t>(code) * share >> 16)) return 0;
  return share;
}

/// The axes of all requests, each once.
struct Axes {
  std::vector<cpu::CellsJob> jobs;
  std::vector<Buffer> tables;
  std::vector<std::span<const uint16_t>> cells;  // as given, to know an axis again

  int64_t number_of(const CubeAxis& axis) {
    const bool narrow = axis.codes.dtype() == dtype_of<uint8_t>();
    const int64_t any = narrow ? 256 : 65536;
    std::span given(axis.cells.as<uint16_t>(),
                    static_cast<size_t>(std::min(axis.cells.num_elements(), any)));
    // Codes without a cell at the end, such as that of nulls, need no table.
    while (!given.empty() && given.back() >= axis.num_cells) given = given.first(given.size() - 1);
    cpu::CellsJob job{narrow ? axis.codes.as<uint8_t>() : nullptr,
                      narrow ? nullptr : axis.codes.as<uint16_t>(),
                      std::ssize(given),
                      axis.num_cells,
                      share_of(given),
                      nullptr};
    for (size_t k = 0; k < jobs.size(); ++k)
      if (jobs[k].narrow == job.narrow && jobs[k].wide == job.wide &&
          jobs[k].num_cells == job.num_cells && std::ranges::equal(cells[k], given))
        return static_cast<int64_t>(k);
    if (job.share == 0) {
      Buffer& table = tables.emplace_back(Buffer::allocate(2 * any));
      auto* next = table.mutable_as<uint16_t>();
      const auto none = static_cast<uint16_t>(axis.num_cells);
      for (const uint16_t cell : given) *next++ = std::min(cell, none);
      std::fill_n(next, any - std::ssize(given), none);
      job.table = table.as<uint16_t>();
    }
    jobs.push_back(job);
    cells.push_back(given);
    return std::ssize(jobs) - 1;
  }
};

/// Adds up cells of a job over copies that lie `steps` apart, without those of rows in none.
template <class T>
Tensor total_of(const Shape& shape, const T* from, std::span<const int64_t> steps) {
  const int64_t wide = shape.empty() ? 1 : shape.back(), cells = num_elements(shape);
  Buffer buffer = Buffer::allocate(cells * static_cast<int64_t>(sizeof(T)));
  auto* out = buffer.mutable_as<T>();
  const int64_t rows = cells / wide, step = std::max<int64_t>(kMorselRows / wide, 1);
  parallel_for(divide_up(rows, step), [&](int64_t k) {
    for (int64_t row = k * step; row < std::min((k + 1) * step, rows); ++row) {
      // Where the row lies among those with one cell more along each axis.
      int64_t at = 0, stride = 1, left = row;
      for (auto axis = std::ssize(shape) - 1; axis >= 0; --axis) {
        const int64_t size = shape[static_cast<size_t>(axis)];
        if (axis + 1 < std::ssize(shape)) {
          at += left % size * stride;
          left /= size;
        }
        stride *= size + 1;
      }
      T* to = out + row * wide;
      std::copy_n(from + steps[0] + at, wide, to);
      for (const int64_t copy : steps.subspan(1))
        for (int64_t i = 0; i < wide; ++i) to[i] += from[copy + at + i];
    }
  });
  return Tensor(dtype_of<T>(), shape, std::move(buffer));
}

/// Where the copies of a request begin: those of each slot or part, in order.
std::vector<int64_t> copies_of(const cpu::CubeJob& job, int64_t first, int64_t parts,
                               int64_t part) {
  std::vector<int64_t> made;
  for (int64_t k = 0; k < parts; ++k)
    for (int64_t lane = 0; lane < job.lanes; ++lane)
      made.push_back(k * part + first + lane * (job.cells + 1));
  return made;
}

}  // namespace

Tensor bin_codes(const Column& column, const Grid<double>& grid) {
  check_cells(grid.cells);
  const double end = grid.origin + static_cast<double>(grid.cells) * grid.width;
  // Edges are rounded: much narrower cells would have none between them.
  const double least =
      8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(grid.origin), std::abs(end));
  if (!(grid.width > 0) || !(grid.width >= least) || !std::isfinite(end - grid.origin))
    throw_error<InvalidArgumentError>("bin_codes", "the edges are not finite, or too close",
                                      {{"origin", grid.origin}, {"width", grid.width}});
  if (!column.dtype().is_real())
    throw_error<TypeMismatchError>("bin_codes", "expected integers or floats",
                                   {{"dtype", column.dtype().name()}});
  return codes_of("bin_codes", column.num_rows(), grid.cells,
                  [&](auto* codes) { cpu::bin_codes(column, grid, codes); });
}

Tensor bin_codes(const Column& column, const Grid<int64_t>& grid) {
  check_cells(grid.cells);
  int64_t span = 0, end = 0;
  if (grid.width < 1 || __builtin_mul_overflow(grid.width, grid.cells, &span) ||
      __builtin_add_overflow(grid.origin, span, &end))
    throw_error<InvalidArgumentError>("bin_codes", "the edges are beyond 64 bits, or do not grow",
                                      {{"origin", grid.origin}, {"width", grid.width}});
  const Dtype kept = column.dtype().storage();
  if (!kept.is_integer() || kept == TypeId::kUInt64)
    throw_error<TypeMismatchError>("bin_codes", "expected integers of up to 63 bits",
                                   {{"dtype", column.dtype().name()}});
  return codes_of("bin_codes", column.num_rows(), grid.cells,
                  [&](auto* codes) { cpu::bin_codes(column, grid, codes); });
}

Tensor row_codes(int64_t rows, int64_t cells) {
  check_cells(cells);
  if (rows < 0 || rows > (int64_t{1} << 46))
    throw_error<InvalidArgumentError>("row_codes", "unsupported number of rows", {{"rows", rows}});
  return codes_of("row_codes", rows, cells,
                  [&](auto* codes) { cpu::row_codes(rows, cells, codes); });
}

std::vector<Cube> count_cubes(int64_t rows, std::span<const CubeRequest> requests) {
  if (rows < 0 || rows > int64_t{std::numeric_limits<uint32_t>::max()})
    throw_error<InvalidArgumentError>("count_cubes", "unsupported number of rows", {{"rows", rows}},
                                      "use fewer than 2^32 rows");
  const ScopedTag tag("count_cubes");
  std::vector<cpu::CubeJob> jobs;
  Axes axes;
  cpu::CubeOutputs to{};
  for (const CubeRequest& request : requests) {
    cpu::CubeJob job{};
    job.cells = check_request(rows, request);
    job.masks = request.masks;
    job.values = request.values ? &*request.values : nullptr;
    job.lanes = job.cells < kFewCells ? cpu::kCubeLanes : 1;
    job.first = to.slot_cells;
    job.first_sum = to.part_sums;
    for (const CubeAxis& axis : request.axes) {
      job.axes[job.num_axes] = axes.number_of(axis);
      job.wide[job.num_axes++] = axis.num_cells + 1;
    }
    to.slot_cells += round_up(job.lanes * (job.cells + 1), 16);
    if (job.values) to.part_sums += round_up(job.lanes * (job.cells + 1), 8);
    jobs.push_back(job);
  }
  cpu::CubeParts parts{rows, 0, std::clamp<int64_t>(divide_up(rows, kMorselRows), 1, kMostParts)};
  parts.step = round_up(std::max<int64_t>(divide_up(rows, parts.count), 1), 64);
  parts.count = std::max<int64_t>(divide_up(rows, parts.step), 1);
  const auto slot_bytes = to.slot_cells * static_cast<int64_t>(sizeof(uint32_t));
  const auto block_bytes = std::ssize(axes.jobs) * cpu::kCubeBlock * 2;
  const auto sum_bytes = parts.count * to.part_sums * static_cast<int64_t>(sizeof(double));
  const WorkingMemory working({.all = sum_bytes, .thread = slot_bytes + block_bytes});
  to.slots = std::min<int64_t>(working.threads(), parts.count);
  Buffer counts = Buffer::allocate_zeroed(to.slots * slot_bytes);
  Buffer blocks = Buffer::allocate(to.slots * block_bytes);
  Buffer sums = Buffer::allocate_zeroed(sum_bytes);
  to.counts = slot_bytes > 0 ? counts.mutable_as<uint32_t>() : nullptr;
  to.cells = block_bytes > 0 ? blocks.mutable_as<uint16_t>() : nullptr;
  to.sums = sum_bytes > 0 ? sums.mutable_as<double>() : nullptr;
  cpu::count_cubes(axes.jobs, jobs, parts, to);
  std::vector<Cube> made;
  for (size_t k = 0; k < jobs.size(); ++k) {
    Shape shape;
    for (const CubeAxis& axis : requests[k].axes) shape.push_back(axis.num_cells);
    Cube& cube = made.emplace_back();
    cube.counts = total_of<uint32_t>(shape, to.counts,
                                     copies_of(jobs[k], jobs[k].first, to.slots, to.slot_cells));
    if (jobs[k].values)
      cube.sums = total_of<double>(
          shape, to.sums, copies_of(jobs[k], jobs[k].first_sum, parts.count, to.part_sums));
  }
  return made;
}

}  // namespace hr
