// SPDX-License-Identifier: Apache-2.0
// Plans as bytes.
#include "headrace/plan/graph/plan_bytes.h"

#include "headrace/base/error.h"
#include "headrace/exchange/serialize.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/picked_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <unordered_map>

namespace hr {

namespace {

constexpr std::string_view kOp = "plan";
constexpr std::string_view kMagic = "headrace plan 1";

enum class Record : uint8_t { kScalar, kValue, kOperator, kTable, kPart, kSource };

bool is_source(const NodePtr& node) {
  return node->fields().source.source != nullptr;
}

/// The nodes above some others, inputs before users; with `apart`, no further than sources.
std::vector<NodePtr> ordered(std::span<const NodePtr> roots, bool apart = false) {
  std::vector<NodePtr> order;
  std::unordered_map<const Node*, bool> seen;  // whether its inputs were visited
  std::vector<NodePtr> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    const NodePtr node = stack.back();
    const auto [place, is_new] = seen.try_emplace(node.get(), false);
    if (place->second) {
      stack.pop_back();
      continue;
    }
    if (is_new && !(apart && is_source(node)))
      for (const NodePtr& input : node->fields().inputs)
        if (!seen.contains(input.get())) stack.push_back(input);
    if (stack.back() != node) continue;
    place->second = true;
    order.push_back(node);
    stack.pop_back();
  }
  return order;
}

void write(ParameterWriter& writer, const Signature& signature) {
  writer.write(signature.form);
  writer.write(signature.dtype);
  writer.write(signature.shape);
  writer.write(signature.nullable);
  writer.write(signature.domain);
}

void write_value(ParameterWriter& writer, const Value& value) {
  if (const auto* scalar = std::get_if<Scalar>(&value)) {
    writer.write(Record::kScalar);
    writer.write(*scalar);
    return;
  }
  writer.write(Record::kValue);
  const Serializable given =
      std::holds_alternative<Column>(value)   ? Serializable(std::get<Column>(value))
      : std::holds_alternative<Tensor>(value) ? Serializable(std::get<Tensor>(value))
                                              : Serializable(std::get<Table>(value));
  const Serialized made = serialize(kOp, given);
  writer.write(made.header);
  writer.write(made.pieces.size());
  for (const SerializedBuffer& piece : made.pieces)
    writer.write(std::string_view(reinterpret_cast<const char*>(piece.data()),
                                  static_cast<size_t>(piece.size_bytes)));
}

class Reader {
 public:
  Reader(std::string_view bytes, std::span<const NodePtr> sources)
      : reader_(bytes), sources_(sources) {}

  std::vector<NodePtr> run() {
    if (reader_.read<std::string>() != kMagic)
      throw_error<InvalidArgumentError>(kOp, "the bytes are not a plan");
    const auto count = reader_.read<size_t>();
    for (size_t i = 0; i < count; ++i) nodes_.push_back(read_node());
    std::vector<NodePtr> roots;
    for (const uint64_t root : reader_.read<std::vector<uint64_t>>()) roots.push_back(at(root));
    return roots;
  }

 private:
  const NodePtr& at(uint64_t number) const {
    if (number >= nodes_.size())
      throw_error<InvalidArgumentError>(kOp, "an input is missing",
                                        {{"input", number}, {"nodes", nodes_.size()}});
    return nodes_[number];
  }

  std::vector<NodePtr> read_inputs() {
    std::vector<NodePtr> inputs;
    for (const uint64_t number : reader_.read<std::vector<uint64_t>>())
      inputs.push_back(at(number));
    return inputs;
  }

  // Row domains get new names here.
  uint64_t read_domain() {
    const auto written = reader_.read<uint64_t>();
    if (written == 0) return 0;
    const auto [place, is_new] = domains_.try_emplace(written);
    if (is_new) place->second = new_domain() | (written & kPickedRows);
    return place->second;
  }

  Signature read_signature() {
    Signature signature;
    reader_.read(signature.form);
    reader_.read(signature.dtype);
    reader_.read(signature.shape);
    reader_.read(signature.nullable);
    signature.domain = read_domain();
    return signature;
  }

  NodePtr read_node() {
    const auto record = reader_.read<Record>();
    switch (record) {
      case Record::kScalar: {
        const auto scalar = reader_.read<Scalar>();
        std::string label = reader_.read<std::string>();
        return lazy_value(scalar, std::move(label), read_domain());
      }
      case Record::kValue:
        return read_value();
      case Record::kSource:
        return read_source();
      case Record::kPart: {
        const auto table = reader_.read<uint64_t>();
        const auto index = reader_.read<int64_t>();
        if (at(table)->kind() != NodeKind::kTable || index < 0 ||
            index >= static_cast<int64_t>(table_names(at(table)).size()))
          throw_error<InvalidArgumentError>(kOp, "a column's input is not a table",
                                            {{"column", index}});
        return table_column(at(table), index);
      }
      case Record::kOperator: {
        OperatorPtr op = operator_from_bytes(reader_.read<std::string>());
        Signature signature = read_signature();
        return apply_operator(std::move(op), std::move(signature), read_inputs());
      }
      case Record::kTable: {
        auto op = std::dynamic_pointer_cast<const TableOperator>(
            operator_from_bytes(reader_.read<std::string>()));
        if (!op) throw_error<InvalidArgumentError>(kOp, "an operator makes no table");
        const auto rows = reader_.read<int64_t>();
        const uint64_t domain = read_domain();
        return apply_table_operator(std::move(op), read_inputs(), rows, domain);
      }
    }
    throw_error<InvalidArgumentError>(kOp, "an unknown record",
                                      {{"record", static_cast<int64_t>(record)}});
  }

  // The planner and kernels take a plan's word for what its sources are.
  NodePtr read_source() {
    const auto number = reader_.read<uint64_t>();
    Signature before;
    reader_.read(before.form);
    reader_.read(before.dtype);
    reader_.read(before.shape);
    reader_.read(before.nullable);
    reader_.read(before.domain);
    if (number >= sources_.size())
      throw_error<InvalidArgumentError>(kOp, "a source is missing",
                                        {{"source", number}, {"sources", sources_.size()}});
    const NodePtr& given = sources_[number];
    const Signature& now = given->signature();
    if (now.form != before.form || now.dtype != before.dtype)
      throw_error<InvalidArgumentError>(
          kOp, "a source has another dtype",
          {{"source", number}, {"dtype", now.dtype.name()}, {"before", before.dtype.name()}});
    if (now.nullable && !before.nullable)
      throw_error<InvalidArgumentError>(kOp, "a source has nulls now", {{"source", number}});
    if (now.shape.size() != before.shape.size() ||
        (before.rows() != kUnknown && now.rows() != before.rows()))
      throw_error<InvalidArgumentError>(
          kOp, "a source has another shape",
          {{"source", number}, {"rows", now.rows()}, {"before", before.rows()}});
    // Rows that the plan knows as those of one source are those of one here.
    if (before.domain != 0) {
      const auto [place, is_new] = domains_.try_emplace(before.domain, now.domain);
      if (!is_new && place->second != now.domain)
        throw_error<InvalidArgumentError>(kOp, "sources of the same rows have other rows now",
                                          {{"source", number}});
    }
    return given;
  }

  NodePtr read_value() {
    const auto header = reader_.read<std::string>();
    const auto count = reader_.read<size_t>();
    std::vector<Buffer> pieces;
    for (size_t i = 0; i < count; ++i) {
      const auto bytes = reader_.read<std::string>();
      Buffer buffer = Buffer::allocate(static_cast<int64_t>(bytes.size()));
      std::memcpy(buffer.mutable_data(), bytes.data(), bytes.size());
      pieces.push_back(std::move(buffer));
    }
    Value value = std::visit([](auto&& each) -> Value { return std::move(each); },
                             deserialize(kOp, header, std::move(pieces)).value);
    std::string label = reader_.read<std::string>();
    return lazy_value(std::move(value), std::move(label), read_domain());
  }

  ParameterReader reader_;
  std::span<const NodePtr> sources_;
  std::vector<NodePtr> nodes_{};
  std::unordered_map<uint64_t, uint64_t> domains_{};
};

/// Row domains by number in the order in which they come.
class Domains {
 public:
  uint64_t of(uint64_t domain) {
    if (domain == 0) return 0;
    return numbers_.try_emplace(domain, numbers_.size() + 1).first->second | (domain & kPickedRows);
  }

 private:
  std::unordered_map<uint64_t, uint64_t> numbers_{};
};

int64_t bytes_of(const Value& value) {
  int64_t bytes = 0;
  for_each_buffer(value, [&](const Buffer& buffer) { bytes += buffer.size_bytes(); });
  return bytes;
}

/// `most_bytes` below 0: sources are written as what they are.
SourcePlan written(std::span<const NodePtr> nodes, int64_t most_bytes) {
  const bool apart = most_bytes >= 0;
  const std::lock_guard lock(plan_mutex());
  std::vector<NodePtr> order = ordered(nodes, apart);
  if (apart)  // a reader has to know their rows before others name them
    std::ranges::stable_partition(order, is_source);
  std::unordered_map<const Node*, uint64_t> numbers;
  SourcePlan made;
  Domains domains;
  ParameterWriter writer;
  writer.write(kMagic);
  writer.write(order.size());
  for (const NodePtr& node : order) {
    const Node::Fields& fields = node->fields();
    Signature signature = fields.signature;
    if (apart) signature.domain = domains.of(signature.domain);
    numbers.emplace(node.get(), numbers.size());
    const auto write_inputs = [&] {
      std::vector<uint64_t> inputs;
      for (const NodePtr& input : fields.inputs) inputs.push_back(numbers.at(input.get()));
      writer.write(inputs);
    };
    if (apart && is_source(node)) {
      writer.write(Record::kSource);
      writer.write(made.sources.size());
      write(writer, signature);
      made.sources.push_back(fields.source);
      continue;
    }
    if (node->is_ready()) {
      check_export(*node);
      if (apart && fields.op && std::ranges::find(nodes, node) != nodes.end())
        throw_error<UnsupportedError>(kOp, "the plan has run and is gone",
                                      {{"operator", node->op()}}, "ask before the values are used");
      if (apart && bytes_of(node->value()) > most_bytes)
        throw_error<UnsupportedError>(
            kOp, "a value is too large to be part of a plan",
            {{"operator", node->op()}, {"bytes", bytes_of(node->value())}, {"most", most_bytes}},
            "ask before the plan has run, or read the data from a file");
      write_value(writer, node->value());
      writer.write(apart ? std::string() : node->detail());
      writer.write(signature.domain);
      continue;
    }
    if (node->kind() == NodeKind::kPart) {
      writer.write(Record::kPart);
      writer.write(numbers.at(fields.inputs[0].get()));
      writer.write(fields.part());
      continue;
    }
    const auto bytes = fields.op->bytes();
    if (!bytes)
      throw_error<UnsupportedError>(kOp, "an operator cannot travel to another process",
                                    {{"operator", fields.op->name()}},
                                    "evaluate its result first with hr.eval");
    writer.write(node->kind() == NodeKind::kTable ? Record::kTable : Record::kOperator);
    writer.write(*bytes);
    if (node->kind() == NodeKind::kTable) {
      writer.write(signature.rows());
      writer.write(signature.domain);
    } else {
      write(writer, signature);
    }
    write_inputs();
  }
  std::vector<uint64_t> roots;
  for (const NodePtr& node : nodes) roots.push_back(numbers.at(node.get()));
  writer.write(roots);
  made.bytes = writer.take();
  return made;
}

}  // namespace

std::string plan_to_bytes(std::span<const NodePtr> nodes) {
  return written(nodes, -1).bytes;
}

SourcePlan plan_of_sources(std::span<const NodePtr> nodes, int64_t most_bytes) {
  return written(nodes, most_bytes);
}

std::vector<NodePtr> plan_from_bytes(std::string_view bytes, std::span<const NodePtr> sources) {
  return Reader(bytes, sources).run();
}

std::vector<NodePtr> plan_from_bytes(std::string_view bytes) {
  return Reader(bytes, {}).run();
}

uint64_t plan_fingerprint(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  ParameterWriter writer;
  for (const NodePtr& node : ordered(nodes)) {
    const Node::Fields& fields = node->fields();
    writer.write(fields.serial);
    writer.write(std::string_view(node->op()));
    writer.write(std::string_view(node->detail()));
    writer.write(node->is_ready());
    write(writer, fields.signature);
    writer.write(fields.op ? fields.op->bytes() : std::nullopt);
    for (const NodePtr& input : fields.inputs) writer.write(input->fields().serial);
  }
  return std::hash<std::string>{}(writer.take());
}

}  // namespace hr
