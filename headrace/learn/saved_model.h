// SPDX-License-Identifier: Apache-2.0
// Parameters and attributes of a model in a file, each checked when it is asked for.
#pragma once
#include "headrace/learn/model_file.h"

#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// A model as the file says it: its class, parameters and attributes, all to be checked. Each
/// throws InputError for what is of another kind or size.
class SavedModel {
 public:
  SavedModel(const Json& model, const ModelFile& file, const std::string& path);

  const std::string& class_name() const { return class_name_; }

  [[noreturn]] void refuse(std::string_view name) const;
  [[noreturn]] void refuse_param(std::string_view name) const;

  bool has(std::string_view attribute) const { return attributes_.find(attribute).has_value(); }

  /// Whether an attribute is None.
  bool is_none(std::string_view attribute) const;

  Json param(std::string_view name) const;
  Json attribute(std::string_view name) const;
  bool flag(std::string_view param) const;
  std::string text(const Json& value, std::string_view name) const;
  double number(const Json& value, std::string_view name) const;
  int64_t integer(const Json& value, std::string_view name) const;
  /// Of a list or tuple.
  std::vector<Json> items(const Json& value, std::string_view name) const;

  /// An array of numbers, contiguous.
  Tensor tensor(const Json& value, std::string_view name) const;
  Tensor tensor(std::string_view name) const { return tensor(attribute(name), name); }
  /// A float matrix or vector of this shape; -1: any.
  Tensor floats(std::string_view name, const Shape& shape) const;
  /// The same, or a single number, as float64 values.
  std::vector<double> doubles(std::string_view name, int64_t count) const;
  /// Numbers or strings.
  Column labels(std::string_view name) const;

  /// A model among parameters or attributes.
  SavedModel inside(const Json& value, std::string_view name) const;

 private:
  const ModelArray& array(const Json& value, std::string_view key, std::string_view name) const;

  const ModelFile& file_;
  const std::string& path_;
  std::string class_name_;
  Json params_;
  Json attributes_;
};

}  // namespace hr
