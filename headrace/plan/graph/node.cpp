// SPDX-License-Identifier: Apache-2.0
// Making nodes.
#include "headrace/plan/graph/node.h"

#include "headrace/base/error.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/plan/execute/placement.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/picked_rows.h"
#include "headrace/plan/optimize/common_subplans.h"
#include "headrace/plan/optimize/limit_pushdown.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace hr {

namespace {

bool eager() {
  static const bool value = [] {
    const char* text = std::getenv("HEADRACE_EAGER");
    return text && std::string_view(text) == "1";
  }();
  return value;
}

}  // namespace

Node::Node(std::unique_ptr<Fields> fields)
    : fields_(std::move(fields)), ready_(fields_->value.has_value()) {
  if (ready_) fields_->final_signature = fields_->signature;
}

// A chain of a million nodes must not recurse a million times.
Node::~Node() {
  thread_local std::vector<NodePtr>* pending = nullptr;
  std::vector<NodePtr> inputs = std::move(fields_->inputs);
  if (pending) {
    std::move(inputs.begin(), inputs.end(), std::back_inserter(*pending));
    return;
  }
  pending = &inputs;
  while (!inputs.empty()) {
    const NodePtr last = std::move(inputs.back());
    inputs.pop_back();
  }
  pending = nullptr;
}

NodeKind Node::kind() const {
  return fields_->kind;
}

const std::string& Node::op() const {
  return fields_->op;
}

const std::string& Node::detail() const {
  return fields_->detail;
}

const Signature& Node::signature() const {
  return is_ready() ? fields_->final_signature : fields_->signature;
}

Tag Node::tag() const {
  return fields_->tag;
}

bool Node::is_ready() const {
  return ready_.load(std::memory_order_acquire);
}

const Value& Node::value() const {
  return *fields_->value;
}

void Node::finish(Value value) {
  Signature& signature = fields_->final_signature = fields_->signature;
  signature.shape = signature_of(value).shape;
  if (const auto* column = std::get_if<Column>(&value))
    signature.nullable = column->null_count() > 0;
  for_each_buffer(value, [](const Buffer& buffer) { buffer.seal(); });
  fields_->value = std::move(value);
  ready_.store(true, std::memory_order_release);
  fields_->run = nullptr;
  fields_->run_table = nullptr;
  fields_->run_rows = nullptr;
  fields_->among = nullptr;
  fields_->remade = nullptr;
  fields_->filtered = nullptr;
  fields_->inputs.clear();
}

namespace {

// Whether no row is null for sure: an operator's word is not taken for that.
bool is_whole(const Node::Fields& fields) {
  if (fields.signature.nullable) return false;
  if (fields.value) return true;
  const size_t count = fields.picks ? 1 : fields.inputs.size();
  return (fields.kind == NodeKind::kElementwise || fields.picks) &&
         std::all_of(fields.inputs.begin(),
                     fields.inputs.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const NodePtr& input) { return has_no_nulls(input); });
}

bool has_counted_rows(const Node::Fields& fields) {
  const int64_t rows = fields.signature.rows();
  return rows != kUnknown &&
         std::any_of(fields.inputs.begin(), fields.inputs.end(), [rows](const NodePtr& input) {
           return input->signature().rows() == rows && planned_rows(input) == kUnknown;
         });
}

// Work runs where its data are, values without a dimension stay on the host.
Place place_after(const Node::Fields& fields) {
  if (fields.value) return place_of(*fields.value);
  if (fields.inputs.empty()) return default_place();
  if (fields.signature.form != Form::kTable && fields.signature.shape.empty()) return host;
  for (const NodePtr& input : fields.inputs)
    if (!input->fields().place.is_host()) return input->fields().place;
  return host;
}

}  // namespace

bool has_no_nulls(const NodePtr& node) {
  return node->is_ready() ? !node->signature().nullable : node->fields().whole;
}

NodePtr make_node(Node::Fields&& fields) {
  fields.tag = operator_tag(fields.op);
  const bool over_live = std::any_of(fields.inputs.begin(), fields.inputs.end(),
                                     [](const NodePtr& input) { return input->fields().live; });
  const bool is_operator = fields.kind == NodeKind::kOperator;
  fields.live |= over_live && is_operator && fields.passes == 0;  // a view shares the memory
  fields.whole = is_whole(fields);
  fields.place = place_after(fields);
  fields.counted = has_counted_rows(fields);
  note_inputs(fields, over_live);
  note_structure(fields);
  auto node = std::make_shared<Node>(std::make_unique<Node::Fields>(std::move(fields)));
  // A scan waits until a column is wanted; a table over other nodes runs for all columns at once.
  const bool scan = node->kind() == NodeKind::kTable && node->fields().inputs.empty();
  if ((eager() || over_live) && !node->is_ready() && !scan) force(node);
  return node;
}

int64_t planned_rows(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  return fields.counted ? kUnknown : fields.signature.rows();
}

NodePtr data_node(Value value, std::string detail, uint64_t domain, bool live) {
  const Signature signature = signature_of(value, domain);
  for_each_buffer(value, [](const Buffer& buffer) { buffer.seal(); });
  Node::Fields made;
  made.kind = NodeKind::kData;
  made.op = "data";
  made.detail = std::move(detail);
  made.signature = signature;
  made.value = std::move(value);
  made.live = live;
  return make_node(std::move(made));
}

NodePtr operator_node(std::string op, std::string detail, Signature signature,
                      std::vector<NodePtr> inputs, int passes, Node::Run run, Node::Choice choice,
                      bool has_kernels) {
  Node::Fields made;
  made.kind = NodeKind::kOperator;
  made.op = std::move(op);
  made.detail = std::move(detail);
  made.signature = std::move(signature);
  made.passes = passes;
  made.inputs = std::move(inputs);
  made.run = std::move(run);
  made.choice = std::move(choice);
  made.has_kernels = has_kernels;
  return make_node(std::move(made));
}

NodePtr picked_node(Signature signature, const NodePtr& rows, const NodePtr& mask,
                    std::string detail) {
  if (const auto known = constant_of(mask); known && !known->is_null())
    if (NodePtr made = all_or_none(signature, rows, known->as<bool>())) return made;
  Node::Fields made;
  made.kind = NodeKind::kOperator;
  made.op = "getitem";
  made.detail = std::move(detail);
  made.signature = std::move(signature);
  made.passes = 1;
  made.inputs = {rows, mask};
  made.run = [live = rows->fields().live](std::span<const Value> inputs) -> Value {
    const auto* column = std::get_if<Column>(&inputs[1]);
    const Mask by = column ? Mask(*column) : Mask(std::get<Tensor>(inputs[1]));
    if (!live && by.is_all()) return inputs[0];
    if (const auto* values = std::get_if<Column>(&inputs[0])) return filter(*values, by);
    return filter(std::get<Tensor>(inputs[0]), by);
  };
  made.has_kernels = true;
  made.picks = true;
  made.constant = rows->fields().constant;
  made.unique = keys_after(rows->fields().unique, made.signature.domain);
  return make_node(std::move(made));
}

NodePtr with_traits(NodePtr node, NodeTraits traits) {
  node->fields().unique = std::move(traits.unique);
  node->fields().traits = std::move(traits);
  note_structure(node->fields());
  return node;
}

NodePtr test_node(std::string op, std::string detail, Signature signature,
                  std::vector<NodePtr> inputs, RowTest test, NodeTraits traits,
                  const NodePtr& where) {
  // Other threads may ask when the node ran and let go of its inputs, so these are not held here.
  std::vector<std::weak_ptr<Node>> known(inputs.begin(), inputs.end());
  const auto narrowed = [=, mask = std::weak_ptr(where),
                         masked = where != nullptr](const NodePtr& more) -> NodePtr {
    std::vector<NodePtr> held;
    for (const std::weak_ptr<Node>& each : known) held.push_back(each.lock());
    const NodePtr also = mask.lock();
    if (std::count(held.begin(), held.end(), nullptr) > 0 || (masked && !also)) return nullptr;
    return test_node(op, detail, signature, std::move(held), test, traits,
                     masked ? elementwise_node(Op::kBitwiseAnd, {also, more}) : more);
  };
  if (where) inputs.push_back(where);
  const NodePtr node =
      operator_node(std::move(op), std::move(detail), std::move(signature), std::move(inputs), 1,
                    [test, masked = where != nullptr](std::span<const Value> values) -> Value {
                      if (!masked) return test(values, nullptr);
                      const Mask mask(std::get<Column>(values.back()));
                      return test(values.first(values.size() - 1), &mask);
                    });
  Node::Fields& fields = node->fields();
  fields.narrowed = narrowed;
  fields.test = std::move(test);
  fields.masked = where != nullptr;
  fields.traits = std::move(traits);
  note_structure(fields);
  return node;
}

NodePtr table_node(std::string op, std::string detail, TableOperator table) {
  Node::Fields made;
  made.kind = NodeKind::kTable;
  made.op = std::move(op);
  made.detail = std::move(detail);
  made.signature.form = Form::kTable;
  made.signature.shape = {table.rows};
  made.signature.domain = table.domain ? table.domain : new_domain();
  made.passes = table.passes;
  made.inputs = std::move(table.inputs);
  made.run_table = std::move(table.run);
  made.prefix = std::move(table.prefix);
  made.choice = std::move(table.choice);
  made.names = std::move(table.names);
  made.dtypes = std::move(table.dtypes);
  made.reads = std::move(table.reads);
  made.run_rows = std::move(table.run_rows);
  made.row_keys = std::move(table.row_keys);
  made.row_values = std::move(table.row_values);
  made.partners = std::move(table.partners);
  made.may_meet = std::move(table.may_meet);
  made.among = std::move(table.among);
  made.has_kernels = table.has_kernels;
  made.sources = std::move(table.sources);
  made.remade = std::move(table.remade);
  made.filtered = std::move(table.filtered);
  made.traits.same = std::move(table.same);
  made.guess = std::move(table.guess);
  made.orders_rows = table.orders_rows;
  made.ignores_order = table.ignores_order;
  made.finds_first_rows = table.finds_first_rows;
  if (table.finds_first_rows)
    for (const NodePtr& key : made.inputs) made.first_of.push_back(key->fields().structure);
  made.column_keys.resize(made.names.size());
  for (const RowSource& source : made.sources)
    for (size_t i = 0; source.once && i < source.columns.size(); ++i)
      if (const int64_t place = source.columns[i]; place >= 0)
        made.column_keys[i] = keys_after(made.inputs[static_cast<size_t>(place)]->fields().unique,
                                         made.signature.domain);
  for (int64_t k = 0; k < table.unique_keys; ++k)
    made.column_keys[static_cast<size_t>(k)].push_back(
        {made.signature.domain, k, table.unique_keys});
  return make_node(std::move(made));
}

const std::vector<std::string>& table_names(const NodePtr& table) {
  return table->fields().names;
}

NodePtr part_node(const NodePtr& table, int64_t index) {
  const Node::Fields& fields = table->fields();
  const auto place = static_cast<size_t>(index);
  Node::Fields made;
  made.kind = NodeKind::kPart;
  made.op = fields.op;
  made.detail = fields.names[place];
  made.signature.form = Form::kColumn;
  made.signature.dtype = fields.dtypes[place];
  made.signature.shape = table->signature().shape;
  made.signature.nullable = true;
  made.signature.domain = fields.signature.domain;
  made.inputs = {table};
  made.part = index;
  made.unique = fields.column_keys[place];
  made.first_of = fields.first_of;
  return make_node(std::move(made));
}

NodePtr in_domain(const NodePtr& node, uint64_t domain) {
  NodePtr made;
  if (node->is_ready()) {
    made = data_node(node->value(), node->detail(), domain, node->fields().live);
  } else {
    Signature signature = node->signature();
    signature.domain = domain;
    made = operator_node("rows", "", signature, {node}, 0,
                         [](std::span<const Value> inputs) { return inputs[0]; });
    made->fields().renames = true;
    made->fields().whole = node->fields().whole;
    note_structure(made->fields());
  }
  made->fields().constant = node->fields().constant;
  made->fields().unique = node->fields().unique;
  return made;
}

namespace {

Value slice_value(const Value& value, int64_t begin, int64_t count) {
  if (const auto* table = std::get_if<Table>(&value)) return table->slice(begin, count);
  if (const auto* column = std::get_if<Column>(&value)) return column->slice(begin, count);
  const auto& tensor = std::get<Tensor>(value);
  Shape shape = tensor.shape();
  shape[0] = count;
  return Tensor(tensor.dtype(), shape, tensor.strides(), tensor.buffer(),
                tensor.byte_offset() + begin * tensor.strides()[0] * tensor.dtype().size_bytes());
}

}  // namespace

NodePtr slice_node(const NodePtr& input, int64_t begin, int64_t count) {
  Signature signature = input->signature();
  if (signature.shape.empty())
    throw_error<InvalidArgumentError>("slice", "a 0-d array has no rows");
  begin = std::max<int64_t>(begin, 0);
  count = std::max<int64_t>(count, 0);
  const int64_t rows = signature.rows();
  signature.shape[0] = rows == kUnknown ? kUnknown : std::clamp<int64_t>(rows - begin, 0, count);
  if (signature.shape[0] != rows || rows == kUnknown)
    signature.domain = new_domain() | (begin == 0 ? signature.domain & kPickedRows : kPickedRows);
  NodePtr made =
      operator_node("slice", std::to_string(begin) + ":" + std::to_string(begin + count), signature,
                    {input}, 0, [begin, count](std::span<const Value> inputs) {
                      const int64_t length = signature_of(inputs[0]).rows();
                      const int64_t first = std::min(begin, length);
                      return slice_value(inputs[0], first, std::min(count, length - first));
                    });
  if (begin == 0) made->fields().first_rows = count;
  return made;
}

NodePtr trim_node(const NodePtr& input, int64_t first, int64_t last) {
  Signature signature = input->signature();
  if (signature.shape.empty())
    throw_error<InvalidArgumentError>("slice", "a 0-d array has no rows");
  first = std::max<int64_t>(first, 0);
  last = std::max<int64_t>(last, 0);
  if (signature.rows() != kUnknown)
    return slice_node(input, first, signature.rows() - first - last);
  signature.domain = shorter_domain(signature.domain, first + last);
  return operator_node("slice", std::to_string(first) + ":" + std::to_string(-last), signature,
                       {input}, 0, [first, last](std::span<const Value> inputs) {
                         const int64_t length = signature_of(inputs[0]).rows();
                         const int64_t begin = std::min(first, length);
                         return slice_value(inputs[0], begin,
                                            std::max<int64_t>(length - begin - last, 0));
                       });
}

}  // namespace hr
