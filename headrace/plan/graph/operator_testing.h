// SPDX-License-Identifier: Apache-2.0
// Operators of tests: what they do is a function.
#pragma once
#include "headrace/plan/graph/node.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hr {

struct TestOperator final : Operator {
  using Run = std::function<Value(std::span<const Value> inputs)>;

  TestOperator(std::string of, Run does, RowLineage rows)
      : word(std::move(of)), run(std::move(does)), row_lineage(rows) {}

  std::string_view name() const override { return word; }

  RowLineage lineage() const override { return row_lineage; }

  Value execute(std::span<const Value> inputs) const override { return run(inputs); }

  std::string word;
  Run run;
  RowLineage row_lineage;
};

inline NodePtr test_node(std::string word, Signature signature, std::vector<NodePtr> inputs,
                         TestOperator::Run run, RowLineage lineage = RowLineage::kOwn) {
  return apply_operator(std::make_shared<TestOperator>(std::move(word), std::move(run), lineage),
                        std::move(signature), std::move(inputs));
}

struct TestTable final : TableOperator {
  using Run = std::function<Table(const std::vector<bool>& wanted, std::span<const Value> inputs)>;

  TestTable(std::string of, std::vector<std::string> column_names, Run does)
      : word(std::move(of)), run(std::move(does)) {
    names = std::move(column_names);
    dtypes.assign(names.size(), TypeId::kFloat64);
  }

  std::string_view name() const override { return word; }

  int passes() const override { return walks; }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
    return run(wanted, inputs);
  }

  std::string word;
  Run run;
  int walks = 1;
};

}  // namespace hr
