// SPDX-License-Identifier: Apache-2.0
// Making nodes.
#include "headrace/plan/graph/node.h"

#include "headrace/algo/select/compact_rows.h"
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/buffer/mapped_file.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/device_copies.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/picked_rows.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/plan_nodes.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/graph/update_operator.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace hr {

namespace {

bool eager() {
  static const bool value = [] {
    const char* text = std::getenv("HEADRACE_EAGER");
    return text && std::string_view(text) == "1";
  }();
  return value;
}

thread_local HeldRuns* held_runs = nullptr;

// The value of its only input, with the rows of another domain.
struct Relabel final : OperatorOf<Relabel> {
  std::string_view name() const override { return "rows"; }

  int passes() const override { return 0; }

  RowLineage lineage() const override { return RowLineage::kSame; }

  Value execute(std::span<const Value> inputs) const override { return inputs[0]; }
};

// Only columns and arrays have rows, and are masks.
template <class Rows, class By>
Value compact_there(const Rows& rows, const By& mask) {
  constexpr bool has_rows = std::is_same_v<Rows, Column> || std::is_same_v<Rows, Tensor>;
  if constexpr (has_rows && (std::is_same_v<By, Column> || std::is_same_v<By, Tensor>))
    return compact_rows(rows, mask);
  else
    throw_error<InternalError>("getitem", "these values have no rows");
}

struct Filter final : OperatorOf<Filter> {
  std::string detail{};
  bool live = false;

  std::string_view name() const override { return "getitem"; }

  std::string arguments() const override { return detail; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_strided(inputs[0]);
  }

  RowLineage lineage() const override { return RowLineage::kFiltered; }

  Value execute(std::span<const Value> inputs) const override {
    if (place_of(inputs[0]).is_gpu())
      return std::visit(
          [](const auto& rows, const auto& mask) { return compact_there(rows, mask); }, inputs[0],
          inputs[1]);
    const Mask by = mask_of(inputs[1]);
    return !live && by.is_all() ? inputs[0] : filter(inputs[0], by);
  }

  // A filter that was moved does the same.
  static auto parameters(auto& self) { return std::tie(self.live); }
};

}  // namespace

ForkMutex& inputs_mutex() {
  return process_global([] { return ForkMutex(); });
}

OperatorPtr relabel_operator() {
  static const OperatorPtr shared = Relabel::make();
  return shared;
}

Node::Node(std::unique_ptr<Fields> fields)
    : fields_(std::move(fields)), ready_(fields_->value.has_value()) {}

// A chain of a million nodes must not recurse a million times.
Node::~Node() {
  thread_local std::vector<NodePtr>* pending = nullptr;
  std::vector<NodePtr> inputs = std::move(fields_->inputs);
  if (fields_->optimized) inputs.push_back(std::move(fields_->optimized));
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
  return fields_->kind();
}

std::string Node::op() const {
  return fields_->op ? std::string(fields_->op->name()) : "data";
}

std::string Node::detail() const {
  return fields_->op ? fields_->op->arguments() : fields_->label;
}

const Signature& Node::signature() const {
  return is_ready() && fields_->final_signature ? *fields_->final_signature : fields_->signature;
}

Tag Node::tag() const {
  return fields_->tag;
}

const Value& Node::value() const {
  check_mapped_files();
  return *fields_->value;
}

void Node::finish(Value value) {
  check_mapped_files();  // what was made of a file that was cut is not kept
  const Signature& planned = fields_->signature;
  Shape shape = signature_of(value).shape;
  const auto* const column = std::get_if<Column>(&value);
  const bool nullable = column ? column->null_count() > 0 : planned.nullable;
  if (shape != planned.shape || nullable != planned.nullable) {
    auto signature = std::make_shared<Signature>(planned);
    signature->shape = std::move(shape);
    signature->nullable = nullable;
    fields_->final_signature = std::move(signature);
  }
  for_each_buffer(value, [](const Buffer& buffer) { buffer.seal(); });
  fields_->kept =
      is_kept() && !fields_->place.is_host() && !fields_->shards && has_host_memory(value);
  fields_->value = std::move(value);
  ready_.store(true, std::memory_order_release);
  if (fields_->of_table) fields_->of_table->state.reset();
  fields_->optimized.reset();
  if (const NodePtr source = fields_->copy_of.lock()) keep_device_copy(*source, *fields_->value);
  if (const NodePtr origin = fields_->origin.lock(); origin && !origin->is_ready()) {
    origin->fields_->label = fields_->label;
    origin->fields_->shards = fields_->shards;
    origin->finish(*fields_->value);
  }
  const std::lock_guard lock(inputs_mutex());
  fields_->inputs.clear();
}

void set_inputs(Node& node, std::vector<NodePtr> inputs) {
  const std::lock_guard lock(inputs_mutex());
  node.fields().inputs.swap(inputs);
}

std::vector<NodePtr> held_inputs(const Node& node) {
  const std::lock_guard lock(inputs_mutex());
  return node.fields().inputs;
}

namespace {

// Whether a column of a table repeats rows of an input that have no nulls, and these alone.
bool repeats_whole(const Node& table, size_t index) {
  const std::lock_guard lock(inputs_mutex());
  const std::vector<NodePtr>& inputs = table.fields().inputs;
  const std::vector<RowSource>& sources = table.fields().table().sources;
  return std::any_of(sources.begin(), sources.end(), [&](const RowSource& source) {
    if (source.optional || index >= source.columns.size()) return false;
    const auto place = static_cast<size_t>(source.columns[index]);
    return place < inputs.size() && has_no_nulls(inputs[place]);  // those of one that ran are gone
  });
}

// Whether no row is null for sure: an operator's word is not taken for that.
bool is_whole(const Node::Fields& fields) {
  if (fields.signature.nullable) return false;
  if (fields.kind() == NodeKind::kPart) return true;  // as `table_column` found it
  if (fields.value) return true;
  if (fields.constant) return !fields.constant->is_null();
  const RowLineage lineage = fields.lineage();
  const bool picks = lineage == RowLineage::kFiltered;
  const bool is_known =
      picks || lineage == RowLineage::kSame || fields.kind() == NodeKind::kElementwise;
  const size_t count = picks ? 1 : fields.inputs.size();
  return is_known && std::all_of(fields.inputs.begin(),
                                 fields.inputs.begin() + static_cast<std::ptrdiff_t>(count),
                                 [](const NodePtr& input) { return has_no_nulls(input); });
}

// A chain that is long enough is cut: it gets memory of its own and counts from one again.
int32_t chain_length(const std::vector<NodePtr>& inputs) {
  int32_t length = 1;
  for (const NodePtr& input : inputs)
    if (!input->is_ready() && input->kind() == NodeKind::kElementwise &&
        input->fields().chain_length < kLongestChain)
      length += input->fields().chain_length;
  return length;
}

// What follows of an operator's result from that of its rows.
void note_rows(Node::Fields& fields) {
  const auto& inputs = fields.inputs;
  fields.constant = fields.op->constant();
  switch (fields.op->lineage()) {
    case RowLineage::kSame:
      fields.constant = inputs[0]->fields().constant;
      fields.unique = inputs[0]->fields().unique;
      break;
    case RowLineage::kFiltered:
      fields.constant = inputs[0]->fields().constant;
      fields.unique = keys_after(inputs[0]->fields().unique, fields.signature.domain);
      break;
    case RowLineage::kTaken:
      fields.unique = keys_at(inputs[0], inputs[1]);
      break;
    default:
      break;
  }
}

bool has_counted_rows(const Node::Fields& fields) {
  const int64_t rows = fields.signature.rows();
  return rows != kUnknown &&
         std::any_of(fields.inputs.begin(), fields.inputs.end(), [rows](const NodePtr& input) {
           return input->signature().rows() == rows && planned_rows(input) == kUnknown;
         });
}

// Inputs on the host follow the others to their device, by copies that a plan shows: what a call
// makes for itself, such as a list of values or a small table, and columns of other frames.
void bring_together(std::vector<NodePtr>& inputs) {
  const auto has_rows = [](const NodePtr& input) { return !input->fields().signature.is_scalar(); };
  const auto there = std::ranges::find_if(
      inputs, [&](const NodePtr& input) { return has_rows(input) && !place_of(input).is_host(); });
  if (there == inputs.end()) return;
  const Place place = place_of(*there);
  for (NodePtr& input : inputs)  // but those that are kept there, of which steps take slices
    if (has_rows(input) && place_of(input).is_host() && !is_kept_for(place, input) &&
        may_be_at(input->fields().signature.dtype, place))
      input = to_place_with_room(input, place);
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

// The result of an operator over live memory may share it, as rows that were in order already.
void note_live(Node& node) {
  for_each_buffer(node.value(),
                  [&](const Buffer& buffer) { node.fields().live |= buffer.is_foreign(); });
}

}  // namespace

bool has_no_nulls(const NodePtr& node) {
  return node->is_ready() ? !node->signature().nullable : node->fields().whole;
}

NodePtr make_node(Node::Fields&& fields) {
  fields.tag = operator_tag(fields.op ? fields.op->name() : "data");
  const bool over_live = std::any_of(fields.inputs.begin(), fields.inputs.end(),
                                     [](const NodePtr& input) { return input->fields().live; });
  const bool is_operator = fields.kind() == NodeKind::kOperator;
  fields.live |= over_live && is_operator && fields.op->passes() == 0;  // a view shares the memory
  if (is_operator) note_rows(fields);
  if (fields.kind() == NodeKind::kElementwise) fields.chain_length = chain_length(fields.inputs);
  fields.whole = is_whole(fields);
  bring_together(fields.inputs);
  fields.place = place_after(fields);
  fields.counted = has_counted_rows(fields);
  note_structure(fields, over_live);
  fields.plan = current_plan();
  if (fields.plan == 0) note_marks(fields);
  auto node = std::make_shared<Node>(std::make_unique<Node::Fields>(std::move(fields)));
  // A scan waits until a column is needed; a table over other nodes runs for all columns at once.
  const bool scan = node->kind() == NodeKind::kTable && node->fields().inputs.empty();
  if ((eager() || over_live) && !node->is_ready() && !scan) {
    if (held_runs) {
      held_runs->waits_ = true;
    } else {
      force(node);
      if (over_live) note_live(*node);
    }
  }
  return node;
}

HeldRuns::HeldRuns() : outer_(std::exchange(held_runs, this)) {}

HeldRuns::~HeldRuns() {
  held_runs = outer_;
}

void HeldRuns::add(const NodePtr& node) {
  if (std::exchange(waits_, false)) nodes_.push_back(node);
}

void HeldRuns::run() const {
  if (nodes_.empty()) return;
  force(nodes_);
  for (const NodePtr& node : nodes_) note_live(*node);  // they wait for live memory, or eagerly
}

int64_t planned_rows(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  return fields.counted ? kUnknown : fields.signature.rows();
}

NodePtr lazy_value(Value value, std::string detail, uint64_t domain, bool live) {
  const Signature signature = signature_of(value, domain);
  for_each_buffer(value, [](const Buffer& buffer) { buffer.seal(); });
  Node::Fields made;
  made.label = std::move(detail);
  made.signature = signature;
  made.value = std::move(value);
  made.live = live;
  return make_node(std::move(made));
}

NodePtr apply_operator(OperatorPtr op, Signature signature, std::vector<NodePtr> inputs) {
  Node::Fields made;
  made.op = std::move(op);
  made.signature = std::move(signature);
  made.inputs = std::move(inputs);
  return make_node(std::move(made));
}

NodePtr masked_rows(Signature signature, const NodePtr& rows, const NodePtr& mask,
                    std::string detail) {
  if (const auto known = constant_of(mask); known && !known->is_null())
    if (NodePtr made = all_or_none(signature, rows, known->as<bool>())) return made;
  auto filter = std::make_shared<Filter>();
  filter->detail = std::move(detail);
  filter->live = rows->fields().live;
  return apply_operator(std::move(filter), std::move(signature), {rows, mask});
}

// ---- tests of rows ------------------------------------------------------------------------------

namespace {

OperatorPtr read_masked(ParameterReader& reader) {
  auto test =
      std::dynamic_pointer_cast<const Predicate>(operator_from_bytes(reader.read<std::string>()));
  if (!test) throw_error<InvalidArgumentError>("plan", "a masked operator is not a test of rows");
  return std::make_shared<MaskedPredicate>(std::move(test));
}

const bool is_masked_known = register_operator(typeid(MaskedPredicate), read_masked);

}  // namespace

std::optional<std::string> MaskedPredicate::bytes() const {
  (void)is_masked_known;
  const std::optional<std::string> own = predicate->bytes();
  if (!own) return {};
  ParameterWriter writer;
  writer.write(std::string_view(typeid(MaskedPredicate).name()));
  writer.write(*own);
  return writer.take();
}

bool is_masked(const Node::Fields& fields) {
  return dynamic_cast<const MaskedPredicate*>(fields.op.get()) != nullptr;
}

PredicatePtr predicate_of(const Node::Fields& fields) {
  if (const auto masked = std::dynamic_pointer_cast<const MaskedPredicate>(fields.op))
    return masked->predicate;
  return std::dynamic_pointer_cast<const Predicate>(fields.op);
}

NodePtr apply_predicate(PredicatePtr test, Signature signature, std::vector<NodePtr> inputs,
                        const NodePtr& where) {
  if (!where) return apply_operator(std::move(test), std::move(signature), std::move(inputs));
  inputs.push_back(where);
  return apply_operator(std::make_shared<MaskedPredicate>(std::move(test)), std::move(signature),
                        std::move(inputs));
}

// ---- tables -------------------------------------------------------------------------------------

NodePtr apply_table_operator(TableOperatorPtr table, std::vector<NodePtr> inputs, int64_t rows,
                             uint64_t domain) {
  Node::Fields made;
  made.signature.form = Form::kTable;
  made.signature.shape = {rows};
  made.signature.domain = domain ? domain : new_domain();
  made.inputs = std::move(inputs);
  TableFields& own = *(made.of_table = std::make_shared<TableFields>());
  own.state = table->new_state();
  own.join_keys = table->join_keys();
  if (table->finds_first_rows())
    for (const NodePtr& key : made.inputs) made.first_of.push_back(key->fields().structure);
  own.column_keys.resize(table->names.size());
  for (const RowSource& source : table->sources)
    for (size_t i = 0; source.once && i < source.columns.size(); ++i)
      if (const int64_t place = source.columns[i]; place >= 0)
        own.column_keys[i] = keys_after(made.inputs[static_cast<size_t>(place)]->fields().unique,
                                        made.signature.domain);
  const int64_t keys = table->unique_keys();
  for (int64_t k = 0; k < keys; ++k)
    own.column_keys[static_cast<size_t>(k)].push_back({made.signature.domain, k, keys});
  made.op = std::move(table);
  return make_node(std::move(made));
}

const std::vector<std::string>& table_names(const NodePtr& table) {
  return table->fields().table().names;
}

NodePtr table_column(const NodePtr& table, int64_t index) {
  const Node::Fields& fields = table->fields();
  const auto place = static_cast<size_t>(index);
  Node::Fields made;
  made.op = std::make_shared<Part>(fields.op->name(), fields.table().names[place], index);
  made.signature.form = Form::kColumn;
  made.signature.dtype = fields.table().dtypes[place];
  made.signature.shape = table->signature().shape;
  made.signature.nullable = !repeats_whole(*table, place);
  made.signature.domain = fields.signature.domain;
  made.inputs = {table};
  made.unique = fields.of_table->column_keys[place];
  made.first_of = fields.first_of;
  return make_node(std::move(made));
}

NodePtr in_domain(const NodePtr& node, uint64_t domain) {
  if (node->is_ready()) {
    NodePtr made = lazy_value(node->value(), node->detail(), domain, node->fields().live);
    made->fields().constant = node->fields().constant;
    made->fields().unique = node->fields().unique;
    made->fields().marks = node->fields().marks;
    return made;
  }
  Signature signature = node->signature();
  signature.domain = domain;
  return apply_operator(relabel_operator(), std::move(signature), {node});
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

struct Slice final : OperatorOf<Slice> {
  int64_t begin = 0;
  int64_t count = 0;

  std::string_view name() const override { return "slice"; }

  std::string arguments() const override {
    return std::to_string(begin) + ":" + std::to_string(begin + count);
  }

  int passes() const override { return 0; }

  RowLineage lineage() const override { return begin == 0 ? RowLineage::kFirst : RowLineage::kOwn; }

  int64_t first_rows() const override { return begin == 0 ? count : -1; }

  Value execute(std::span<const Value> inputs) const override {
    const int64_t length = signature_of(inputs[0]).rows();
    const int64_t first = std::min(begin, length);
    return slice_value(inputs[0], first, std::min(count, length - first));
  }

  static auto parameters(auto& self) { return std::tie(self.begin, self.count); }
};

struct Trim final : OperatorOf<Trim> {
  int64_t first = 0;
  int64_t last = 0;

  std::string_view name() const override { return "slice"; }

  std::string arguments() const override {
    return std::to_string(first) + ":" + std::to_string(-last);
  }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    const int64_t length = signature_of(inputs[0]).rows();
    const int64_t begin = std::min(first, length);
    return slice_value(inputs[0], begin, std::max<int64_t>(length - begin - last, 0));
  }

  static auto parameters(auto& self) { return std::tie(self.first, self.last); }
};

Signature signature_of_rows(const NodePtr& input) {
  if (input->signature().shape.empty())
    throw_error<InvalidArgumentError>("slice", "a 0-d array has no rows");
  return input->signature();
}

}  // namespace

NodePtr slice(const NodePtr& input, int64_t begin, int64_t count) {
  Signature signature = signature_of_rows(input);
  begin = std::max<int64_t>(begin, 0);
  count = std::max<int64_t>(count, 0);
  const int64_t rows = signature.rows();
  signature.shape[0] = rows == kUnknown ? kUnknown : std::clamp<int64_t>(rows - begin, 0, count);
  if (signature.shape[0] != rows || rows == kUnknown)
    signature.domain = new_domain() | (begin == 0 ? signature.domain & kPickedRows : kPickedRows);
  NodePtr made = apply_operator(Slice::make(begin, count), std::move(signature), {input});
  // Of a value that is there: no plan has to tell where its rows begin.
  if (input->is_ready() && !made->is_ready())
    made->finish(made->fields().op->execute(std::span(&input->value(), 1)));
  return made;
}

std::vector<NodePtr> slice(std::span<const NodePtr> inputs, int64_t begin, int64_t count,
                           uint64_t domain) {
  std::vector<NodePtr> made;
  made.reserve(inputs.size());
  for (const NodePtr& input : inputs) {
    const bool is_plain = input->is_ready() && !input->fields().live;
    const auto* const column = is_plain ? std::get_if<Column>(&input->value()) : nullptr;
    if (!column) {
      made.push_back(in_domain(slice(input, begin, count), domain));
      continue;
    }
    const int64_t first = std::clamp<int64_t>(begin, 0, column->num_rows());
    const int64_t rows = std::clamp<int64_t>(count, 0, column->num_rows() - first);
    made.push_back(lazy_value(column->slice(first, rows), input->detail(), domain));
    made.back()->fields().marks = input->fields().marks;
  }
  return made;
}

NodePtr trim(const NodePtr& input, int64_t first, int64_t last) {
  Signature signature = signature_of_rows(input);
  first = std::max<int64_t>(first, 0);
  last = std::max<int64_t>(last, 0);
  if (signature.rows() != kUnknown) return slice(input, first, signature.rows() - first - last);
  signature.domain = shorter_domain(signature.domain, first + last);
  return apply_operator(Trim::make(first, last), std::move(signature), {input});
}

}  // namespace hr
