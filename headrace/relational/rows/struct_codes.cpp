// SPDX-License-Identifier: Apache-2.0
// Structs as keys: numbers that compare as they do.
#include "headrace/relational/rows/struct_codes.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/error.h"
#include "headrace/data/struct_fields.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/plan/graph/operator.h"

#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

namespace hr {

namespace {

constexpr std::string_view kOp = "struct";

// Whether a struct is there, then its fields, and the same of structs among them.
void add_keys(const Column& column, std::vector<Column>& keys) {
  if (!column.dtype().is_struct()) {
    keys.push_back(column);
    return;
  }
  const Nulls null(column);
  const int64_t rows = column.num_rows();
  if (null.any())
    keys.emplace_back(TypeId::kBool, rows,
                      bits_of(rows, {}, [&](int64_t row) { return null(row); }));
  for (size_t f = 0; f < column.fields()->size(); ++f)
    add_keys(struct_field(kOp, column, static_cast<int64_t>(f)), keys);
}

// Whether two rows have the same value; missing ones are equal.
bool are_equal(const Column& key, int64_t a, int64_t b) {
  const Dtype dtype = key.dtype();
  if (key.is_null(a) || key.is_null(b)) return key.is_null(a) == key.is_null(b);
  if (dtype.is_bool()) return key.bit(a) == key.bit(b);
  if (dtype.has_text()) return key.string(a) == key.string(b);
  if (dtype.is_floating())
    return visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
      const T x = key.values<T>()[static_cast<size_t>(a)];
      const T y = key.values<T>()[static_cast<size_t>(b)];
      return x == y || (std::isnan(x) && std::isnan(y));
    });
  const int64_t width = dtype.size_bytes();
  const std::byte* const values = key.values_buffer().data() + key.offset() * width;
  return std::memcmp(values + a * width, values + b * width, static_cast<size_t>(width)) == 0;
}

void check_order(Dtype dtype) {
  for (const Field& field : dtype.fields()) {
    if (field.dtype.has_items() || field.dtype.is_complex())
      throw_error<TypeMismatchError>(kOp, "a field of this dtype has no order",
                                     {{"field", field.name}, {"dtype", field.dtype.name()}},
                                     "use the other fields as keys: struct.field(name)");
    check_order(field.dtype);
  }
}

struct StructCodes final : OperatorOf<StructCodes> {
  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "codes"; }

  Value execute(std::span<const Value> inputs) const override {
    return struct_codes(std::get<Column>(inputs[0]));
  }
};

struct StructCodesOfSide final : OperatorOf<StructCodesOfSide> {
  bool is_right = false;

  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "codes of both sides"; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& left = std::get<Column>(inputs[0]);
    const auto& right = std::get<Column>(inputs[1]);
    const std::vector<Column> both{left, right};
    const Column codes = struct_codes(concatenate(kOp, left.dtype(), both));
    return is_right ? codes.slice(left.num_rows(), right.num_rows())
                    : codes.slice(0, left.num_rows());
  }

  static auto parameters(auto& self) { return std::tie(self.is_right); }
};

struct StructsOfCodes final : OperatorOf<StructsOfCodes> {
  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "of codes"; }

  Value execute(std::span<const Value> inputs) const override {
    return structs_of_codes(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]),
                            std::get<Column>(inputs[2]));
  }
};

Signature codes_signature(const NodePtr& structs) {
  Signature signature = structs->signature();
  if (!signature.dtype.is_struct())
    throw_error<TypeMismatchError>(kOp, "expected a column of structs",
                                   {{"dtype", signature.dtype.name()}});
  check_order(signature.dtype);
  signature.dtype = TypeId::kInt64;
  return signature;
}

NodePtr codes_of_side(const NodePtr& left, const NodePtr& right, bool is_right) {
  const Dtype one = left->signature().dtype, other = right->signature().dtype;
  if (one != other)
    throw_error<TypeMismatchError>("merge", "these dtypes cannot be compared",
                                   {{"left", one.name()}, {"right", other.name()}},
                                   "cast one of them with astype");
  return apply_operator(StructCodesOfSide::make(is_right), codes_signature(is_right ? right : left),
                        {left, right});
}

}  // namespace

Column struct_codes(const Column& structs) {
  check_order(structs.dtype());
  const int64_t rows = structs.num_rows();
  Buffer made = Buffer::allocate_zeroed(8 * rows);
  std::vector<Column> keys;
  for (size_t f = 0; f < structs.fields()->size(); ++f)
    add_keys(struct_field(kOp, structs, static_cast<int64_t>(f)), keys);
  const Nulls null(structs);
  if (rows > 0 && !keys.empty()) {
    const Tensor order = argsort(keys, std::vector<SortOrder>(keys.size()));
    const int64_t* const row_at = order.as<int64_t>();
    auto* const codes = made.mutable_as<int64_t>();
    int64_t code = -1, last = -1;  // the last struct that is not null
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = row_at[i];
      if (null(row)) continue;
      const auto same = [&](const Column& key) { return are_equal(key, row, last); };
      if (last < 0 || !std::ranges::all_of(keys, same)) ++code;
      codes[row] = code;
      last = row;
    }
  }
  return Column(TypeId::kInt64, rows, std::move(made), null.bitmap(rows), null.any() ? -1 : 0);
}

NodePtr struct_codes(const NodePtr& structs) {
  return apply_operator(StructCodes::make(), codes_signature(structs), {structs});
}

NodePtr struct_codes_of_left(const NodePtr& left, const NodePtr& right) {
  return codes_of_side(left, right, false);
}

NodePtr struct_codes_of_right(const NodePtr& left, const NodePtr& right) {
  return codes_of_side(left, right, true);
}

Column structs_of_codes(const Column& structs, const Column& codes, const Column& wanted) {
  const int64_t* const code_of = codes.values<int64_t>().data();
  const Nulls null(codes), null_wanted(wanted);
  int64_t count = 0;
  for (int64_t row = 0; row < codes.num_rows(); ++row)
    if (!null(row)) count = std::max(count, code_of[row] + 1);
  BudgetedVector<int64_t> first(static_cast<size_t>(count), -1);
  for (int64_t row = codes.num_rows(); row-- > 0;)
    if (!null(row)) first[static_cast<size_t>(code_of[row])] = row;
  const int64_t rows = wanted.num_rows();
  Buffer places = Buffer::allocate(8 * rows);
  auto* const out = rows > 0 ? places.mutable_as<int64_t>() : nullptr;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t code = wanted.values<int64_t>()[static_cast<size_t>(row)];
    out[row] = null_wanted(row) ? -1 : first.at(static_cast<size_t>(code));
  }
  return gather_or_null(structs, Tensor(TypeId::kInt64, {rows}, std::move(places)));
}

NodePtr structs_of_codes(const NodePtr& structs, const NodePtr& codes, const NodePtr& wanted) {
  Signature signature = wanted->signature();
  signature.form = Form::kColumn;
  signature.dtype = structs->signature().dtype;
  signature.nullable = true;
  return apply_operator(StructsOfCodes::make(), std::move(signature), {structs, codes, wanted});
}

NodePtr plain_key(const NodePtr& key) {
  return key->signature().dtype.is_struct() ? struct_codes(key) : key;
}

NodePtr values_of_key(const NodePtr& key, const NodePtr& plain) {
  if (!key->signature().dtype.is_struct()) return plain;
  return structs_of_codes(key, struct_codes(key), plain);
}

std::vector<NodePtr> plain_keys(const std::vector<NodePtr>& keys) {
  std::vector<NodePtr> made;
  for (const NodePtr& key : keys) made.push_back(plain_key(key));
  return made;
}

}  // namespace hr
