// SPDX-License-Identifier: Apache-2.0
// Checked values of a model's parameters and attributes, in the words of
// python/headrace/learn/files.py.
#include "headrace/learn/saved_model.h"

#include "headrace/base/error.h"

#include <limits>

namespace hr {

namespace {

Json member(const Json& object, std::string_view key, const std::string& path) {
  if (auto found = object.find(key)) return *found;
  throw InputError(error_message("load_model", "the file is damaged",
                                 {{"path", path}, {"missing", key}}, "save the model again"),
                   path);
}

}  // namespace

SavedModel::SavedModel(const Json& model, const ModelFile& file, const std::string& path)
    : file_(file),
      path_(path),
      class_name_(text(member(model, "class", path), "class")),
      params_(member(model, "params", path)),
      attributes_(member(model, "attributes", path)) {}

void SavedModel::refuse(std::string_view name) const {
  throw InputError(error_message("load_model", "the file is damaged",
                                 {{"path", path_}, {"class", class_name_}, {"attribute", name}},
                                 "save the model again"),
                   path_);
}

void SavedModel::refuse_param(std::string_view name) const {
  throw_error<UnsupportedError>("load_model", "this parameter has no form in C++",
                                {{"class", class_name_}, {"parameter", name}},
                                "use the model in Python");
}

Json SavedModel::param(std::string_view name) const {
  if (auto found = params_.find(name)) return *found;
  refuse(name);
}

Json SavedModel::attribute(std::string_view name) const {
  if (auto found = attributes_.find(name)) return *found;
  throw_error<InvalidArgumentError>("load_model", "the model is not fitted",
                                    {{"path", path_}, {"class", class_name_}, {"missing", name}},
                                    "fit it before you save it");
}

bool SavedModel::is_none(std::string_view name) const {
  return attribute(name).kind() == Json::Kind::kNull;
}

bool SavedModel::flag(std::string_view name) const {
  const Json value = param(name);
  if (value.kind() != Json::Kind::kBool) refuse_param(name);
  return value.boolean();
}

std::string SavedModel::text(const Json& value, std::string_view name) const {
  if (value.kind() != Json::Kind::kString) refuse(name);
  return value.string();
}

double SavedModel::number(const Json& value, std::string_view name) const {
  if (value.kind() == Json::Kind::kNumber) return value.number();
  if (const auto found = value.find("float")) {
    const std::string word = text(*found, name);
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf" || word == "-inf")
      return (word == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  }
  const auto scalar = value.find("scalar");
  if (!scalar || scalar->items().size() != 2) refuse(name);
  return number(scalar->items()[1], name);
}

int64_t SavedModel::integer(const Json& value, std::string_view name) const {
  const auto scalar = value.find("scalar");
  if (scalar && scalar->items().size() == 2) return integer(scalar->items()[1], name);
  const auto found = value.kind() == Json::Kind::kNumber ? value.integer() : std::nullopt;
  if (!found) refuse(name);
  return *found;
}

std::vector<Json> SavedModel::items(const Json& value, std::string_view name) const {
  const auto tuple = value.find("tuple");
  const Json& list = tuple ? *tuple : value;
  if (list.kind() != Json::Kind::kArray) refuse(name);
  return list.items();
}

const ModelArray& SavedModel::array(const Json& value, std::string_view key,
                                    std::string_view name) const {
  const auto place = value.find(key);
  const int64_t index = place ? integer(*place, name) : -1;
  if (index < 0 || index >= static_cast<int64_t>(file_.arrays.size())) refuse(name);
  return file_.arrays[static_cast<size_t>(index)];
}

Tensor SavedModel::tensor(const Json& value, std::string_view name) const {
  const auto* const found =
      std::get_if<Tensor>(&array(value, value.find("array") ? "array" : "numpy", name));
  if (!found || value.find("dtype") || !found->dtype().is_real()) refuse(name);
  return *found;
}

Tensor SavedModel::floats(std::string_view name, const Shape& shape) const {
  Tensor found = tensor(name);
  bool fits = found.dtype().is_floating() && found.shape().size() == shape.size();
  for (size_t axis = 0; fits && axis < shape.size(); ++axis)
    fits = shape[axis] < 0 || shape[axis] == found.shape()[axis];
  if (!fits) refuse(name);
  return found;
}

std::vector<double> SavedModel::doubles(std::string_view name, int64_t count) const {
  const Json value = attribute(name);
  if (value.kind() == Json::Kind::kNumber || value.find("scalar") || value.find("float"))
    return std::vector<double>(static_cast<size_t>(count), number(value, name));
  const Tensor found = tensor(name);
  if (!found.dtype().is_floating() || found.num_elements() != count) refuse(name);
  std::vector<double> made(static_cast<size_t>(count));
  visit_floating(found.dtype(), [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<double>(found.as<T>()[i]);
  });
  return made;
}

Column SavedModel::labels(std::string_view name) const {
  const Json value = attribute(name);
  const ModelArray& found = array(value, "numpy", name);
  if (const auto* const column = std::get_if<Column>(&found)) return *column;
  const auto& numbers = std::get<Tensor>(found);
  if (value.find("dtype") || numbers.num_dimensions() != 1 || numbers.dtype().is_complex())
    refuse(name);
  if (!numbers.dtype().is_bool()) return as_column(numbers);
  Buffer bits = Buffer::allocate_zeroed((numbers.num_elements() + 7) / 8);
  for (int64_t i = 0; i < numbers.num_elements(); ++i)
    if (numbers.as<uint8_t>()[i] != 0)
      bits.mutable_as<uint8_t>()[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
  return Column(TypeId::kBool, numbers.num_elements(), std::move(bits));
}

SavedModel SavedModel::inside(const Json& value, std::string_view name) const {
  const auto model = value.find("model");
  if (!model) refuse(name);
  return SavedModel(*model, file_, path_);
}

}  // namespace hr
