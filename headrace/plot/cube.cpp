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

namespace hr {
namespace {

/// Parts of a job whose sums are combined in order. More of them keep more cores busy, fewer take
/// less memory.
constexpr int64_t kMostParts = 16;
/// Below this number of cells neighbouring rows add to copies of a counter in turn: rows of one
/// cell would wait for each other.
constexpr int64_t kFewCells = 1024;
constexpr int64_t kLanes = 4;

void check_cells(int64_t cells) {
  if (cells < 1 || cells > kMostAxisCells)
    throw_error<InvalidArgumentError>("bin_codes", "unsupported number of cells",
                                      {{"cells", cells}}, "use 1 to 65535");
}

Tensor codes_of(int64_t rows, Buffer codes) {
  return Tensor(dtype_of<uint16_t>(), {rows}, std::move(codes));
}

void check_length(std::string_view name, int64_t got, int64_t rows) {
  if (got != rows)
    throw_error<InvalidArgumentError>("count_cubes", "length mismatch",
                                      {{"input", name}, {"got", got}, {"expected", rows}});
}

void check_codes(const Tensor& tensor, std::string_view name) {
  if (tensor.dtype() != dtype_of<uint16_t>() || tensor.num_dimensions() != 1 ||
      !tensor.is_contiguous())
    throw_error<TypeMismatchError>("count_cubes", "expected a contiguous 1-D array of uint16",
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
    check_codes(axis.codes, "codes");
    check_codes(axis.cells, "cells");
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

/// The tables of all axes: by code the place of a cell.
Buffer place_tables(std::span<const CubeRequest> requests, std::span<cpu::CubeJob> jobs) {
  int64_t axes = 0;
  for (const CubeRequest& request : requests) axes += std::ssize(request.axes);
  Buffer tables = Buffer::allocate(axes * cpu::kCodes * static_cast<int64_t>(sizeof(uint32_t)));
  auto* next = axes > 0 ? tables.mutable_as<uint32_t>() : nullptr;
  for (size_t k = 0; k < requests.size(); ++k) {
    int64_t stride = jobs[k].cells;
    for (size_t a = 0; a < requests[k].axes.size(); ++a) {
      const CubeAxis& axis = requests[k].axes[a];
      const int64_t count = std::min(axis.cells.num_elements(), cpu::kCodes);
      stride /= axis.num_cells + 1;
      jobs[k].codes[a] = axis.codes.as<uint16_t>();
      jobs[k].places[a] = next;
      for (int64_t code = 0; code < count; ++code) {
        const int64_t cell = std::min<int64_t>(axis.cells.as<uint16_t>()[code], axis.num_cells);
        *next++ = static_cast<uint32_t>(cell * stride);
      }
      next = std::fill_n(next, cpu::kCodes - count, static_cast<uint32_t>(axis.num_cells * stride));
    }
  }
  return tables;
}

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
  const ScopedTag tag("bin_codes");
  Buffer codes = Buffer::allocate(2 * column.num_rows());
  cpu::bin_codes(column, grid, codes.mutable_as<uint16_t>());
  return codes_of(column.num_rows(), std::move(codes));
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
  const ScopedTag tag("bin_codes");
  Buffer codes = Buffer::allocate(2 * column.num_rows());
  cpu::bin_codes(column, grid, codes.mutable_as<uint16_t>());
  return codes_of(column.num_rows(), std::move(codes));
}

Tensor row_codes(int64_t rows, int64_t cells) {
  check_cells(cells);
  if (rows < 0 || rows > (int64_t{1} << 46))
    throw_error<InvalidArgumentError>("row_codes", "unsupported number of rows", {{"rows", rows}});
  const ScopedTag tag("row_codes");
  Buffer codes = Buffer::allocate(2 * rows);
  cpu::row_codes(rows, cells, codes.mutable_as<uint16_t>());
  return codes_of(rows, std::move(codes));
}

std::vector<Cube> count_cubes(int64_t rows, std::span<const CubeRequest> requests) {
  if (rows < 0 || rows > int64_t{std::numeric_limits<uint32_t>::max()})
    throw_error<InvalidArgumentError>("count_cubes", "unsupported number of rows", {{"rows", rows}},
                                      "use fewer than 2^32 rows");
  std::vector<cpu::CubeJob> jobs;
  int64_t slot_cells = 0, part_sums = 0;
  for (const CubeRequest& request : requests) {
    cpu::CubeJob job{};
    job.cells = check_request(rows, request);
    job.num_axes = static_cast<int64_t>(request.axes.size());
    job.masks = request.masks;
    job.values = request.values ? &*request.values : nullptr;
    job.lanes = job.cells < kFewCells ? kLanes : 1;
    job.first = slot_cells;
    job.first_sum = part_sums;
    slot_cells += round_up(job.lanes * (job.cells + 1), 16);
    if (job.values) part_sums += round_up(job.lanes * (job.cells + 1), 8);
    jobs.push_back(job);
  }
  const ScopedTag tag("count_cubes");
  const Buffer tables = place_tables(requests, jobs);
  cpu::CubeParts parts{rows, 0, std::clamp<int64_t>(divide_up(rows, kMorselRows), 1, kMostParts)};
  parts.step = round_up(std::max<int64_t>(divide_up(rows, parts.count), 1), 64);
  parts.count = std::max<int64_t>(divide_up(rows, parts.step), 1);
  const auto slot_bytes = slot_cells * static_cast<int64_t>(sizeof(uint32_t));
  const auto sum_bytes = parts.count * part_sums * static_cast<int64_t>(sizeof(double));
  const WorkingMemory working({.all = sum_bytes, .thread = slot_bytes});
  const int64_t slots = std::min<int64_t>(working.threads(), parts.count);
  Buffer counts = Buffer::allocate_zeroed(slots * slot_bytes);
  Buffer sums = Buffer::allocate_zeroed(sum_bytes);
  auto* count = slot_bytes > 0 ? counts.mutable_as<uint32_t>() : nullptr;
  auto* sum = sum_bytes > 0 ? sums.mutable_as<double>() : nullptr;
  cpu::count_cubes(jobs, parts, slots, slot_cells, count, part_sums, sum);
  std::vector<Cube> made;
  for (size_t k = 0; k < jobs.size(); ++k) {
    Shape shape;
    for (const CubeAxis& axis : requests[k].axes) shape.push_back(axis.num_cells);
    Cube& cube = made.emplace_back();
    cube.counts =
        total_of<uint32_t>(shape, count, copies_of(jobs[k], jobs[k].first, slots, slot_cells));
    if (jobs[k].values)
      cube.sums = total_of<double>(shape, sum,
                                   copies_of(jobs[k], jobs[k].first_sum, parts.count, part_sums));
  }
  return made;
}

}  // namespace hr
