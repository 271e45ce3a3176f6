// SPDX-License-Identifier: Apache-2.0
// Checks and dispatches; on the host values are sorted and searched.
#include "headrace/algo/keys/integer_levels.h"

#include "headrace/algo/keys/integer_levels_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>

namespace hr {
namespace {

constexpr size_t kFewLevels = 1024;  // are kept in order as they are found: no memory by row

void check(std::string_view op, const Tensor& x) {
  if (x.num_dimensions() != 1 || !x.dtype().is_integer() || x.dtype() == TypeId::kUInt64)
    throw_error<TypeMismatchError>(
        op, "expected a 1-D array of integers with a sign, or of fewer than 64 bits",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
}

/// Calls f(value of row i as int64) by an accessor.
template <class F>
void visit(const Tensor& x, const F& f) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const data = x.num_elements() == 0 ? nullptr : x.as<T>();
    const int64_t stride = x.strides()[0];
    f([=](int64_t i) { return static_cast<int64_t>(data[i * stride]); });
  });
}

}  // namespace

Tensor distinct_integers(const Tensor& x) {
  check("distinct_integers", x);
  const ScopedTag tag("distinct_integers");
  BudgetedVector<int64_t> found;
  if (x.place().is_gpu() && x.num_elements() > 0) {
    if constexpr (built_with_cuda) found = cuda::distinct_integers(x);
  } else {
    visit(x, [&](const auto& value) {
      const int64_t rows = x.num_elements();
      int64_t i = 0;
      for (; i < rows && found.size() < kFewLevels; ++i) {
        if (i > 0 && value(i) == value(i - 1)) continue;
        const auto at = std::lower_bound(found.begin(), found.end(), value(i));
        if (at == found.end() || *at != value(i)) found.insert(at, value(i));
      }
      if (i == rows) return;
      for (; i < rows; ++i)
        if (found.back() != value(i)) found.push_back(value(i));
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    });
  }
  const auto count = static_cast<int64_t>(found.size());
  Buffer made = Buffer::allocate(count * static_cast<int64_t>(sizeof(int64_t)));
  std::copy(found.begin(), found.end(), made.mutable_as<int64_t>());
  return Tensor(dtype_of<int64_t>(), {count}, std::move(made));
}

Tensor level_places(const Tensor& x, const Tensor& levels) {
  check("level_places", x);
  const int64_t count = levels.num_elements();
  if (levels.dtype() != TypeId::kInt64 || !levels.is_contiguous() || count >= int64_t{1} << 31)
    throw_error<InvalidArgumentError>("level_places", "expected fewer than 2^31 levels of int64",
                                      {{"dtype", levels.dtype().name()}, {"levels", count}});
  const ScopedTag tag("level_places");
  const int64_t rows = x.num_elements();
  Buffer made = allocate_result(rows * static_cast<int64_t>(sizeof(int32_t)), x.place());
  const auto* const level = levels.as<int64_t>();
  if (x.place().is_gpu()) {
    if constexpr (built_with_cuda)
      if (rows > 0) cuda::level_places(x, level, count, made);
  } else {
    auto* const out = made.mutable_as<int32_t>();
    visit(x, [&](const auto& value) {
      parallel_morsels(rows, {reads(x), writes(made, sizeof(int32_t))}, [&](Morsel morsel) {
        for (int64_t i = morsel.begin; i < morsel.end; ++i) {
          const auto* const at = std::lower_bound(level, level + count, value(i));
          out[i] = at < level + count && *at == value(i) ? static_cast<int32_t>(at - level) : -1;
        }
      });
    });
  }
  return Tensor(dtype_of<int32_t>(), {rows}, std::move(made));
}

Tensor row_starts(const Tensor& entries, int64_t width) {
  if (entries.num_dimensions() != 1 ||
      (entries.dtype() != TypeId::kInt32 && entries.dtype() != TypeId::kInt64))
    throw_error<TypeMismatchError>("row_starts", "expected a 1-D array of int32 or int64",
                                   {{"dtype", entries.dtype().name()}});
  if (width < 1 || entries.num_elements() % width != 0)
    throw_error<InvalidArgumentError>("row_starts", "the entries are not rows of one width",
                                      {{"entries", entries.num_elements()}, {"width", width}});
  const ScopedTag tag("row_starts");
  const int64_t count = entries.num_elements() / width + 1;
  const int64_t bytes = count * entries.dtype().size_bytes();
  const Place place = entries.place();
  Buffer made = place.is_host() ? Buffer::allocate(bytes) : allocate_result(bytes, place);
  if (entries.place().is_gpu()) {
    if constexpr (built_with_cuda) cuda::row_starts(entries, width, count, made);
  } else {
    visit_real(entries.dtype(), [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < count; ++i) made.mutable_as<T>()[i] = static_cast<T>(i * width);
    });
  }
  return Tensor(entries.dtype(), {count}, std::move(made));
}

}  // namespace hr
