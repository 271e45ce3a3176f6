// SPDX-License-Identifier: Apache-2.0
// Structs from columns, and their fields as columns.
#include "headrace/functions/structs/struct_methods.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/operator.h"

#include <algorithm>
#include <span>

namespace hr {

namespace {

// The place of the field; throws where there is none.
int64_t place_of(Dtype dtype, const std::string& name) {
  const std::vector<Field>& fields = dtype.fields();
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found != fields.end()) return found - fields.begin();
  std::string names;
  for (const Field& field : fields) names += (names.empty() ? "" : ", ") + field.name;
  throw_error<ColumnNotFoundError>("struct.field", "no such field",
                                   {{"field", name}, {"fields", names}}, "use one of the fields");
}

struct StructField final : OperatorOf<StructField> {
  std::string field{};

  std::string_view name() const override { return "struct"; }

  std::string arguments() const override { return "field " + field; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& structs = std::get<Column>(inputs[0]);
    return struct_field("struct.field", structs, place_of(structs.dtype(), field));
  }

  static auto parameters(auto& self) { return std::tie(self.field); }
};

struct StructsOf final : OperatorOf<StructsOf> {
  std::vector<std::string> names{};

  std::string_view name() const override { return "struct"; }

  std::string arguments() const override { return "of columns"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return std::ssize(names); }

  Value execute(std::span<const Value> inputs) const override {
    std::vector<Field> fields;
    std::vector<Column> columns;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto* const tensor = std::get_if<Tensor>(&inputs[i]);
      columns.push_back(tensor ? as_column(*tensor) : std::get<Column>(inputs[i]));
      fields.push_back({names[i], columns.back().dtype()});
    }
    const int64_t rows = columns[0].num_rows();
    return Column::structs(Dtype::structure(fields), rows, std::move(columns));
  }

  static auto parameters(auto& self) { return std::tie(self.names); }
};

}  // namespace

NodePtr struct_field(const NodePtr& structs, const std::string& name) {
  Signature signature = structs->signature();
  if (signature.form != Form::kColumn || !signature.dtype.is_struct())
    throw_error<TypeMismatchError>("struct.field", "expected a column of structs",
                                   {{"dtype", signature.dtype.name()}},
                                   "dicts make structs: Series([{\"x\": 1}])");
  const int64_t place = place_of(signature.dtype, name);
  signature.dtype = signature.dtype.fields()[static_cast<size_t>(place)].dtype;
  signature.nullable = true;
  return apply_operator(StructField::make(name), std::move(signature), {structs});
}

NodePtr structs_of(const std::vector<std::string>& names, const std::vector<NodePtr>& columns) {
  if (names.empty() || names.size() != columns.size())
    throw_error<InvalidArgumentError>("to_struct", "expected a name for each column",
                                      {{"names", names.size()}, {"columns", columns.size()}});
  std::vector<Field> fields;
  for (size_t i = 0; i < names.size(); ++i)
    fields.push_back({names[i], columns[i]->signature().dtype});
  Signature signature = columns[0]->signature();
  signature.form = Form::kColumn;
  signature.dtype = Dtype::structure(fields);
  signature.nullable = false;
  return apply_operator(StructsOf::make(names), std::move(signature), columns);
}

}  // namespace hr
