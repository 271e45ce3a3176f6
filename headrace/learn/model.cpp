// SPDX-License-Identifier: Apache-2.0
// Rows of tables and matrices on their way into a model.
#include "headrace/learn/model.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/model_parts.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kBlockRows = 256;  // gathered together, while their lines are in the cache

/// Runs `body(begin, end)` over blocks of rows.
template <class F>
void for_blocks(int64_t rows, F body) {
  if (rows <= kBlockRows) return body(int64_t{0}, rows);
  parallel_for(divide_up(rows, kBlockRows), [&](int64_t block) {
    body(block * kBlockRows, std::min(rows, (block + 1) * kBlockRows));
  });
}

void check_width(int64_t columns, int64_t features) {
  if (columns != features)
    throw_error<InvalidArgumentError>("predict", "the number of columns differs from the model's",
                                      {{"columns", columns}, {"model", features}});
}

ModelRows new_rows(bool narrow, int64_t rows, int64_t columns) {
  const Dtype dtype = narrow ? TypeId::kFloat32 : TypeId::kFloat64;
  const int64_t count = checked_multiply("predict", rows, columns);
  return {dtype, rows, columns,
          Buffer::allocate(checked_multiply("predict", count, dtype.size_bytes()))};
}

template <class T>
void gather_column(const Column& column, int64_t begin, int64_t end, int64_t width, T* out) {
  if (column.dtype().is_bool()) {
    for (int64_t row = begin; row < end; ++row) out[row * width] = column.bit(row) ? T{1} : T{0};
  } else {
    visit_real(column.dtype(), [&]<class From>(std::type_identity<From>) {
      const From* const values = column.values<From>().data();
      for (int64_t row = begin; row < end; ++row) out[row * width] = static_cast<T>(values[row]);
    });
  }
  if (column.null_count() == 0) return;
  for (int64_t row = begin; row < end; ++row)
    if (column.is_null(row)) out[row * width] = std::numeric_limits<T>::quiet_NaN();
}

ModelRows rows_of(const Table& table, int64_t features, const std::vector<std::string>& names) {
  check_width(table.num_columns(), features);
  bool narrow = true;
  for (int64_t i = 0; i < features; ++i) {
    const auto at = static_cast<size_t>(i);
    const Dtype dtype = table.column(i).dtype();
    if (!names.empty() && table.names()[at] != names[at])
      throw_error<InvalidArgumentError>(
          "predict", "the names of the columns differ from those of the fit",
          {{"column", i}, {"name", table.names()[at]}, {"fit", names[at]}},
          "select the columns in the order of feature_names()");
    if (!dtype.is_number())
      throw_error<TypeMismatchError>("predict", "a column does not hold numbers",
                                     {{"name", table.names()[at]}, {"dtype", dtype.name()}});
    check_on_host("predict", table.column(i).place());
    narrow &= dtype.id() == TypeId::kFloat32;
  }
  ModelRows made = new_rows(narrow && features > 0, table.num_rows(), features);
  if (made.rows == 0 || features == 0) return made;
  visit_floating(made.dtype, [&]<class T>(std::type_identity<T>) {
    T* const out = made.values.mutable_as<T>();
    for_blocks(made.rows, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < features; ++i)
        gather_column(table.column(i), begin, end, features, out + i);
    });
  });
  return made;
}

ModelRows rows_of(const Tensor& given, int64_t features) {
  if (given.num_dimensions() != 2 || !given.dtype().is_real())
    throw_error<TypeMismatchError>(
        "predict", "expected a matrix of numbers",
        {{"dimensions", given.num_dimensions()}, {"dtype", given.dtype().name()}});
  check_width(given.shape()[1], features);
  check_on_host("predict", given.place());
  ModelRows made = new_rows(given.dtype().id() == TypeId::kFloat32, given.shape()[0], features);
  if (made.rows == 0) return made;
  const int64_t down = given.strides()[0], right = given.strides()[1];
  visit_floating(made.dtype, [&]<class T>(std::type_identity<T>) {
    T* const out = made.values.mutable_as<T>();
    visit_real(given.dtype(), [&]<class From>(std::type_identity<From>) {
      const From* const values = given.as<From>();
      for_blocks(made.rows, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          for (int64_t i = 0; i < features; ++i)
            out[row * features + i] = static_cast<T>(values[row * down + i * right]);
      });
    });
  });
  return made;
}

template <class T>
ModelRows rows_of(const T* rows, int64_t count, int64_t features) {
  ModelRows made = new_rows(std::is_same_v<T, float>, count, features);
  std::copy_n(rows, count * features, made.values.mutable_as<T>());
  return made;
}

}  // namespace

Column Model::predict(const Table& rows) const {
  const ScopedTag tag("predict");
  return part_->predict(rows_of(rows, num_features_, feature_names_));
}

Column Model::predict(const Tensor& rows) const {
  const ScopedTag tag("predict");
  return part_->predict(rows_of(rows, num_features_));
}

Column Model::predict(const double* rows, int64_t count) const {
  return part_->predict(rows_of(rows, count, num_features_));
}

Column Model::predict(const float* rows, int64_t count) const {
  return part_->predict(rows_of(rows, count, num_features_));
}

Tensor Model::transform(const Table& rows) const {
  const ScopedTag tag("transform");
  return part_->transform(rows_of(rows, num_features_, feature_names_)).tensor();
}

Tensor Model::transform(const Tensor& rows) const {
  const ScopedTag tag("transform");
  return part_->transform(rows_of(rows, num_features_)).tensor();
}

Model load_model(const std::string& path) {
  return make_model(read_model_file(path), path);
}

Model make_model(const ModelFile& file, const std::string& path) {
  const auto header = file.header.find("model");
  if (!header)
    throw InputError(error_message("load_model", "the file holds no model", {{"path", path}}),
                     path);
  const SavedModel saved(*header, file, path);
  Model made;
  made.class_name_ = saved.class_name();
  made.part_ = make_part(saved);
  made.num_features_ = made.part_->num_features();
  made.feature_names_ = made.part_->feature_names;
  return made;
}

}  // namespace hr
