// SPDX-License-Identifier: Apache-2.0
// Models that Python saved, to predict in C++.
#pragma once
#include "headrace/data/table.h"
#include "headrace/data/tensor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

class ModelPart;
struct ModelFile;

/// A fitted model. Copies share it; any thread may use it. Results have the bits of Python's for a
/// frame or array of the same values, whatever the number of threads.
///
/// Rows are float32 where all of their columns are, else float64 (as which integers and bools are
/// read); null is NaN, which is not looked for. A small number of rows takes no other thread.
class HR_API Model {
 public:
  /// Of the whole: "Pipeline".
  const std::string& class_name() const { return class_name_; }

  int64_t num_features() const { return num_features_; }

  /// Names of the columns of the fit; none if it had none.
  const std::vector<std::string>& feature_names() const { return feature_names_; }

  /// What the model says of each row: a label, a number (float64 or float32) or a cluster (int32).
  /// Throws InvalidArgumentError for another number of columns than `num_features`, or names unlike
  /// `feature_names` or in another order; TypeMismatchError for columns that are not numbers;
  /// UnsupportedError for a transformer and for a model of several numbers a row.
  Column predict(const Table& rows) const;

  /// The same of a matrix, [rows, features], of any real dtype and strides.
  Column predict(const Tensor& rows) const;

  /// The same of `count` rows that lie one after the other, `num_features` values each.
  Column predict(const double* rows, int64_t count) const;
  Column predict(const float* rows, int64_t count) const;

  /// What the transformers make of the rows: [rows, columns], float32 or float64. Throws as
  /// `predict`; UnsupportedError for a model that does not transform.
  Tensor transform(const Table& rows) const;
  Tensor transform(const Tensor& rows) const;

 private:
  friend Model make_model(const ModelFile& file, const std::string& path);

  std::string class_name_{};
  int64_t num_features_ = 0;
  std::vector<std::string> feature_names_{};
  std::shared_ptr<const ModelPart> part_{};
};

/// The model of a file that `model.save(path)` wrote: a linear model, GaussianNB, KMeans, PCA, a
/// forest or a model of neighbours, alone or behind scalers in a pipeline or search. Throws as
/// `read_model_file`; InputError for attributes that do not fit each other; InvalidArgumentError
/// for a model that is not fitted; UnsupportedError, naming the class or parameter, for the rest.
HR_API Model load_model(const std::string& path);

/// The model of what a file would hold; `path` is for messages.
HR_API Model make_model(const ModelFile& file, const std::string& path);

}  // namespace hr
