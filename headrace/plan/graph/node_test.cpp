// SPDX-License-Identifier: Apache-2.0
// Plan nodes: what runs, in how many passes, and what is refused at its line.
#include "headrace/plan/graph/node.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/operator_testing.h"
#include "headrace/plan/graph/view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

namespace hr {

namespace {

NodePtr numbers(int64_t rows, uint64_t domain = 0) {
  Buffer buffer = Buffer::allocate(rows * 8);
  std::iota(buffer.mutable_as<double>(), buffer.mutable_as<double>() + rows, 0.0);
  return lazy_value(Tensor(TypeId::kFloat64, {rows}, buffer), "x", domain);
}

double item(const NodePtr& node) {
  return std::get<Tensor>(force(node)).item<double>();
}

NodePtr weak(int64_t value) {
  return literal(Scalar::weak(value));
}

Explanation explain_one(const NodePtr& node) {
  return explain(std::span(&node, 1));
}

TEST(Node, ChainAndReductionAreOnePass) {
  const NodePtr x = numbers(200'000);
  const NodePtr y = elementwise(Op::kAdd, {elementwise(Op::kMultiply, {x, x}), weak(1)});
  const NodePtr total = reduce(Aggregate::kSum, y);
  EXPECT_EQ(explain_one(total).full_passes, 1);
  EXPECT_FALSE(total->is_ready());
  const double n = 200'000;
  EXPECT_DOUBLE_EQ(item(total), (n - 1) * n * (2 * n - 1) / 6 + n);
  EXPECT_FALSE(y->is_ready()) << "an intermediate that nobody looks at takes no memory";
  EXPECT_EQ(explain_one(total).steps, 0);
}

TEST(Node, SeveralReductionsOfOneColumnShareThePass) {
  const NodePtr x = numbers(100'000);
  const std::vector<NodePtr> wanted{reduce(Aggregate::kMean, x), reduce(Aggregate::kMin, x),
                                    reduce(Aggregate::kMax, x)};
  EXPECT_EQ(explain(wanted).steps, 1);
  force(wanted);
  EXPECT_EQ(item(wanted[0]), 49'999.5);
  EXPECT_EQ(item(wanted[2]), 99'999);
}

// Otherwise many small pieces leave memory under a limit before their turn comes.
TEST(Node, PiecesThatNobodyElseHoldsArePutTogetherFirst) {
  std::vector<std::string> ran;
  const auto logged = [&](std::string op, std::vector<NodePtr> inputs,
                          RowLineage lineage = RowLineage::kOwn) {
    const Signature signature = inputs[0]->signature();
    const auto run = [&ran, op](std::span<const Value> values) {
      ran.push_back(op);
      return values.back();
    };
    return test_node(op, signature, std::move(inputs), run, lineage);
  };
  const auto joined = [&](std::string op, std::vector<NodePtr> pieces) {
    return logged(std::move(op), std::move(pieces), RowLineage::kConcatenated);
  };
  const NodePtr kept = numbers(8);
  const std::vector<NodePtr> wanted{
      logged("last", {logged("first", {numbers(8)}), joined("of kept pieces", {kept, numbers(8)}),
                      joined("of its own", {numbers(8), numbers(8)})})};
  force(wanted);
  EXPECT_EQ(ran, (std::vector<std::string>{"of its own", "first", "of kept pieces", "last"}));
}

TEST(Node, AReductionInsideAChainIsAPassOfItsOwn) {
  const NodePtr x = numbers(1000);
  const NodePtr centred = elementwise(Op::kSubtract, {x, reduce(Aggregate::kMean, x)});
  const NodePtr total = reduce(Aggregate::kSum, elementwise(Op::kAbsolute, {centred}));
  EXPECT_EQ(explain_one(total).full_passes, 2);
  EXPECT_EQ(item(total), 250'000);
}

TEST(Node, OperatorsSeeMaterialisedInputs) {
  const NodePtr x = numbers(10);
  const NodePtr doubled = elementwise(Op::kAdd, {x, x});
  int runs = 0;
  const NodePtr op =
      test_node("op", doubled->signature(), {doubled}, [&runs](std::span<const Value> inputs) {
        ++runs;
        return inputs[0];
      });
  const NodePtr sum = reduce(Aggregate::kSum, elementwise(Op::kAdd, {op, doubled}));
  EXPECT_EQ(item(sum), 180);
  EXPECT_EQ(item(sum), 180);
  EXPECT_EQ(runs, 1);
}

// Columns "a", "b" of 1,000 rows; notes what was asked for.
std::shared_ptr<TestTable> two_columns(std::vector<std::vector<bool>>& asked) {
  const auto run = [&asked](const std::vector<bool>& wanted, std::span<const Value>) {
    asked.push_back(wanted);
    std::vector<std::string> names;
    std::vector<Column> columns;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      names.push_back(i ? "b" : "a");
      columns.push_back(as_column(std::get<Tensor>(numbers(1000)->value())));
    }
    return Table(std::move(names), std::move(columns));
  };
  return std::make_shared<TestTable>("read", std::vector<std::string>{"a", "b"}, run);
}

TEST(Node, OnlyTheWantedPartsOfATableRun) {
  std::vector<std::vector<bool>> asked;
  const NodePtr table = apply_table_operator(two_columns(asked), {});
  EXPECT_EQ(item(reduce(Aggregate::kMax, table_column(table, 1))), 999);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0], (std::vector<bool>{false, true}));
}

// A table of columns "k", "x", "y" that reads key and payload nodes; notes which payloads ran.
NodePtr keyed_table(std::vector<std::string>& ran) {
  std::vector<NodePtr> inputs;
  for (const char* name : {"k", "x", "y"})
    inputs.push_back(
        test_node(name, signature_of(Value(Column(TypeId::kFloat64, 3, Buffer::allocate(24)))), {},
                  [&ran, name](std::span<const Value>) -> Value {
                    ran.emplace_back(name);
                    return Column(TypeId::kFloat64, 3, Buffer::allocate(24));
                  }));
  const auto run = [](const std::vector<bool>& wanted, std::span<const Value> values) {
    std::vector<std::string> names;
    std::vector<Column> columns;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Column& column = std::get<Column>(values[i]);
      EXPECT_EQ(column.num_rows(), wanted[i] || i == 0 ? 3 : 0);
      if (!wanted[i]) continue;
      names.emplace_back(1, "kxy"[i]);
      columns.push_back(column);
    }
    return Table(std::move(names), std::move(columns));
  };
  auto keyed =
      std::make_shared<TestTable>("sort_values", std::vector<std::string>{"k", "x", "y"}, run);
  keyed->columns_needed = {{}, {1}, {2}};
  return apply_table_operator(std::move(keyed), std::move(inputs), 3);
}

TEST(Node, ATableReadsOnlyWhatTheWantedColumnsNeed) {
  std::vector<std::string> ran;
  const NodePtr table = keyed_table(ran);
  const NodePtr y = table_column(table, 2);
  EXPECT_EQ(explain_one(y).steps, 3);
  force(y);
  EXPECT_EQ(ran, (std::vector<std::string>{"k", "y"}));
  force(table_column(table, 0));
  EXPECT_EQ(ran, (std::vector<std::string>{"k", "y"}));
  force(table);
  EXPECT_EQ(ran, (std::vector<std::string>{"k", "y", "x"}));
  EXPECT_EQ(std::get<Column>(force(table_column(table, 1))).num_rows(), 3);
}

TEST(Node, TwoTablesInARowReadOnlyWhatTheLastOneNeeds) {
  std::vector<std::string> ran;
  const NodePtr first = keyed_table(ran);
  std::vector<std::vector<bool>> asked;
  const auto second = two_columns(asked);
  second->columns_needed = {{0}, {1}};
  force(table_column(apply_table_operator(second, {table_column(first, 1), table_column(first, 2)}),
                     1));
  EXPECT_EQ(ran, (std::vector<std::string>{"k", "y"}));
}

TEST(Node, RowsOfDifferentFramesAreAnErrorAtTheirLine) {
  const NodePtr a = numbers(5, new_domain());
  const NodePtr b = numbers(5, new_domain());
  EXPECT_THROW(elementwise(Op::kAdd, {a, b}), InvalidArgumentError);
  EXPECT_THROW(elementwise(Op::kAdd, {numbers(5), numbers(6)}), InvalidArgumentError);
}

TEST(Node, UnknownLengthsFitWhenTheyComeFromOneSource) {
  const auto unknown = [] {
    Signature signature = signature_of(scalar_tensor(1.0));
    signature.shape = {kUnknown};
    signature.domain = new_domain();
    return test_node("source", signature, {}, [](std::span<const Value>) {
      return Value(std::get<Tensor>(numbers(10)->value()));
    });
  };
  const NodePtr x = unknown();
  const NodePtr steps = elementwise(Op::kSubtract, {trim(x, 1, 0), trim(x, 0, 1)});
  EXPECT_EQ(steps->signature().rows(), kUnknown);
  EXPECT_THROW(elementwise(Op::kSubtract, {x, trim(x, 1, 0)}), InvalidArgumentError);
  EXPECT_THROW(elementwise(Op::kSubtract, {x, unknown()}), InvalidArgumentError);
  EXPECT_EQ(item(reduce(Aggregate::kSum, steps)), 9);
  EXPECT_EQ(steps->signature().rows(), kUnknown);
}

TEST(Node, ErrorsNameTheLineAndTheNextCallWorks) {
  const ScopedTag tag(intern_tag("", "etl.py:12"));
  bool broken = true;
  const NodePtr op = test_node("parse", signature_of(scalar_tensor(1.0)), {},
                               [&broken](std::span<const Value>) -> Value {
                                 if (broken) throw InvalidArgumentError("parse: bad");
                                 return scalar_tensor(1.0);
                               });
  try {
    force(op);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_STREQ(error.what(), "parse: bad\n  made by parse at etl.py:12");
  }
  broken = false;
  EXPECT_EQ(item(op), 1);
}

TEST(Node, OverLiveMemoryEachNodeRunsWhenItIsMade) {
  double foreign[] = {1, 2, 3};
  const Buffer buffer = Buffer::adopt(foreign, sizeof foreign, {});
  const NodePtr x = lazy_value(Tensor(TypeId::kFloat64, {3}, buffer), "", 0, true);
  const NodePtr view = slice(x, 1, 2);
  const NodePtr twice = elementwise(Op::kMultiply, {in_domain(view, 7), weak(2)});
  const NodePtr later = elementwise(Op::kAdd, {twice, weak(1)});
  const NodePtr total = reduce(Aggregate::kSum, as_tensor(as_column(view)));
  EXPECT_TRUE(twice->is_ready());
  EXPECT_FALSE(later->is_ready());  // over memory of our own
  foreign[1] = foreign[2] = 100;
  EXPECT_EQ(std::get<Tensor>(force(view)).as<double>()[0], 100);
  EXPECT_EQ(std::get<Tensor>(force(later)).as<double>()[0], 5);
  EXPECT_EQ(item(total), 5);
}

TEST(Node, PrefixReadsOnlyTheFirstRows) {
  const NodePtr x = numbers(1'000'000);
  const NodePtr first = head(elementwise(Op::kSquare, {x}), 3);
  EXPECT_NE(explain_one(first).text.find("1 full-size pass over 3 elements"), std::string::npos);
  EXPECT_EQ(std::get<Tensor>(force(first)).num_elements(), 3);
  EXPECT_EQ(std::get<Tensor>(force(first)).as<double>()[2], 4);
}

TEST(Node, ColumnsOfOneTableFitWhenOneIsReadBeforeTheOther) {
  std::vector<std::vector<bool>> asked;
  const NodePtr table = apply_table_operator(two_columns(asked), {});
  const NodePtr a = table_column(table, 0), b = table_column(table, 1);
  const NodePtr later = elementwise(Op::kMultiply, {a, weak(2)});
  force(a);
  EXPECT_EQ(std::get<Column>(force(head(later, 3))).num_rows(), 3);
  const NodePtr sum = elementwise(Op::kAdd, {b, later});
  EXPECT_EQ(item(reduce(Aggregate::kMax, sum)), 3 * 999);
  EXPECT_EQ(item(reduce(Aggregate::kMax, elementwise(Op::kAdd, {sum, a}))), 4 * 999);
}

TEST(Node, PassesOverASourceOfUnknownLengthAreFullSize) {
  std::vector<std::vector<bool>> asked;
  const auto scan = two_columns(asked);
  scan->walks = 2;
  const NodePtr table = apply_table_operator(scan, {});
  const NodePtr column = table_column(table, 0);
  const NodePtr total = reduce(Aggregate::kSum, elementwise(Op::kSquare, {column}));
  const NodePtr rest = elementwise(Op::kAdd, {total, weak(1)});
  EXPECT_EQ(explain_one(rest).full_passes, 3);
  EXPECT_EQ(explain_one(rest).text.substr(0, 48),
            "plan: 3 steps, 3 full-size passes over all rows\n");
}

TEST(Node, OtherThreadsMayReadANodeThatRuns) {
  const NodePtr x = numbers(300'000);
  const NodePtr kept = test_node("kept", x->signature(), {x},
                                 [](std::span<const Value> inputs) { return inputs[0]; });
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      const NodePtr more = elementwise(Op::kAdd, {kept, weak(1)});
      ASSERT_EQ(more->signature().rows(), 300'000);
      if (kept->is_ready()) {
        ASSERT_EQ(std::get<Tensor>(kept->value()).num_elements(), 300'000);
      }
    }
  });
  force(kept);
  stop = true;
  reader.join();
}

// Memory that others write to.
NodePtr live_numbers(int64_t rows) {
  return lazy_value(numbers(rows)->value(), "x", 0, true);
}

TEST(Node, NodesThatRunWhenTheyAreMadeRunTogetherWhereTheyAreHeld) {
  const NodePtr x = live_numbers(10);
  std::vector<NodePtr> made;
  HeldRuns held;
  for (int64_t i = 0; i < 3; ++i) {
    made.push_back(elementwise(Op::kMultiply, {elementwise(Op::kAdd, {x, weak(i)}), weak(2)}));
    held.add(made.back());
  }
  const NodePtr waits = elementwise(Op::kAdd, {numbers(10), weak(1)});
  held.add(waits);
  for (const NodePtr& node : made) EXPECT_FALSE(node->is_ready());
  EXPECT_EQ(explain(made).steps, 1);
  held.run();
  EXPECT_FALSE(waits->is_ready()) << "nobody else may write to what it reads";
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(made[i]->is_ready());
    EXPECT_EQ(item(reduce(Aggregate::kMin, made[i])), 2.0 * static_cast<double>(i));
  }
}

TEST(Node, AnErrorOfAHeldNodeEndsTheHold) {
  const NodePtr x = live_numbers(10);
  const auto fails = [](std::span<const Value>) -> Value { throw InvalidArgumentError("no"); };
  const auto run = [&] {
    HeldRuns held;
    held.add(test_node("op", x->signature(), {x}, fails));
    held.run();
  };
  EXPECT_THROW(run(), InvalidArgumentError);
  EXPECT_TRUE(elementwise(Op::kAdd, {x, weak(1)})->is_ready());
}

TEST(Node, ThousandsOfReductionsTakeSeveralPasses) {
  const NodePtr x = numbers(10);
  std::vector<NodePtr> sums;
  for (int64_t i = 0; i < 3000; ++i)
    sums.push_back(reduce(Aggregate::kSum, elementwise(Op::kAdd, {x, weak(i)})));
  EXPECT_EQ(explain(sums).steps, 3);
  force(sums);
  for (int64_t i = 0; i < 3000; ++i)
    ASSERT_EQ(item(sums[static_cast<size_t>(i)]), 45 + 10 * static_cast<double>(i));
}

TEST(Node, ADeepChainRunsAndDies) {
  NodePtr x = numbers(2);
  for (int i = 0; i < 20'000; ++i) x = elementwise(Op::kAdd, {x, weak(1)});
  EXPECT_EQ(item(reduce(Aggregate::kMax, x)), 20'001);
}

TEST(View, StridesAndShapesShareTheMemory) {
  const NodePtr x = numbers(12);
  const NodePtr grid = reshape(x, {3, 4});
  const NodePtr column = strided_view(transpose(grid, {1, 0}), {{1, 0, 1}, {2, -1, 3}});
  const Tensor& tensor = std::get<Tensor>(force(column));
  EXPECT_EQ(tensor.shape(), Shape{3});
  EXPECT_EQ(tensor.buffer(), std::get<Tensor>(x->value()).buffer());
  EXPECT_EQ(item(reduce(Aggregate::kSum, column)), 1 + 5 + 9);
  EXPECT_THROW(reshape(x, {5, 2}), InvalidArgumentError);
  EXPECT_THROW(transpose(grid, {0, 0}), InvalidArgumentError);
}

}  // namespace

}  // namespace hr
