// SPDX-License-Identifier: Apache-2.0
// What a model in a file consists of: scalers, and models behind them.
#pragma once
#include "headrace/learn/saved_model.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// A matrix on its way through a model, C-contiguous, float32 or float64; a part that changes its
/// values may do so in place.
struct ModelRows {
  Dtype dtype;
  int64_t rows = 0;
  int64_t columns = 0;
  Buffer values{};

  Tensor tensor() const { return Tensor(dtype, {rows, columns}, values); }
};

/// One model. It has at least one of both ways.
class ModelPart {
 public:
  virtual ~ModelPart() = default;
  ModelPart() = default;
  ModelPart(const ModelPart&) = delete;
  ModelPart& operator=(const ModelPart&) = delete;

  virtual int64_t num_features() const = 0;
  /// Columns that `transform` makes.
  virtual int64_t num_outputs() const { return num_features(); }

  virtual ModelRows transform(ModelRows rows) const;
  virtual Column predict(ModelRows rows) const;

  std::string name{};                        ///< the class, for messages
  std::vector<std::string> feature_names{};  ///< none where the fit had none
};

using ModelPartPtr = std::shared_ptr<const ModelPart>;

/// Throws UnsupportedError for classes that have no form in C++.
ModelPartPtr make_part(const SavedModel& saved);

}  // namespace hr
