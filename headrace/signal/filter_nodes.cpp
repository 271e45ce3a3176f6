// SPDX-License-Identifier: Apache-2.0
// Deferred filters.
#include "headrace/signal/filter_nodes.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/view.h"

#include <memory>
#include <utility>

namespace hr {

namespace {

NodePtr float_array(const std::string& word, const NodePtr& x) {
  const Signature& signature = x->signature();
  if (!signature.dtype.is_floating())
    throw_error<TypeMismatchError>(
        word, "the dtype does not fit",
        {{"dtype", signature.dtype.name()}, {"wanted", "float32 or float64"}},
        "convert with astype");
  return as_tensor(x);
}

void check_axis(const std::string& word, const NodePtr& x, int64_t axis) {
  const auto dimensions = static_cast<int64_t>(x->signature().shape.size());
  if (axis < 0 || axis >= dimensions)
    throw_error<InvalidArgumentError>(word, "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", dimensions}});
}

Signature filtered_signature(const NodePtr& x, bool single) {
  Signature signature = x->signature();
  if (!single) signature.dtype = TypeId::kFloat64;
  return signature;
}

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

std::string arguments_of(const FilterSections& sections, int64_t axis) {
  return "order=" + std::to_string(sections.order) +
         ", sections=" + std::to_string(sections.count()) + ", axis=" + std::to_string(axis);
}

struct RecursiveFilter final : OperatorOf<RecursiveFilter> {
  std::string word{};
  FilterSections sections{};
  int64_t axis = 0;
  bool single = false;

  std::string_view name() const override { return word; }

  std::string arguments() const override { return arguments_of(sections, axis); }

  Value execute(std::span<const Value> inputs) const override {
    return recursive_filter(tensor(inputs[0]), sections, axis, single, nullptr).values;
  }

  static auto parameters(auto& self) {
    return std::tie(self.word, self.sections, self.axis, self.single);
  }
};

/// Leaves the state for FinalState, which runs after it, so it is equal to itself alone.
struct ContinuedFilter final : Operator {
  std::string word{};
  FilterSections sections{};
  int64_t axis = 0;
  bool single = false;
  std::shared_ptr<Tensor> state = std::make_shared<Tensor>();

  std::string_view name() const override { return word; }

  std::string arguments() const override { return arguments_of(sections, axis); }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor initial = tensor(inputs[1]);
    FilteredSignal result = recursive_filter(tensor(inputs[0]), sections, axis, single, &initial);
    *state = result.state;
    return result.values;
  }
};

struct FinalState final : Operator {
  explicit FinalState(std::shared_ptr<const Tensor> from) : state(std::move(from)) {}

  std::string_view name() const override { return "final_state"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value>) const override { return *state; }

  std::shared_ptr<const Tensor> state;
};

struct FilterBothWays final : OperatorOf<FilterBothWays> {
  std::string word{};
  FilterSections sections{};
  int64_t axis = 0;
  bool single = false;
  std::vector<double> steady{};
  FilterPadding padding = FilterPadding::kOdd;
  int64_t padding_length = 0;

  std::string_view name() const override { return word; }

  std::string arguments() const override { return arguments_of(sections, axis); }

  int passes() const override { return 2; }

  Value execute(std::span<const Value> inputs) const override {
    return recursive_filter_both_ways(tensor(inputs[0]), sections, axis, single, steady, padding,
                                      padding_length);
  }

  static auto parameters(auto& self) {
    return std::tie(self.word, self.sections, self.axis, self.single, self.steady, self.padding,
                    self.padding_length);
  }
};

}  // namespace

FilteredNodes recursive_filter(std::string word, const NodePtr& x, FilterSections sections,
                               int64_t axis, bool single, const NodePtr& initial) {
  const NodePtr array = float_array(word, x);
  check_axis(word, array, axis);
  Signature signature = filtered_signature(array, single);
  if (!initial)
    return {
        apply_operator(RecursiveFilter::make(std::move(word), std::move(sections), axis, single),
                       std::move(signature), {array}),
        nullptr};
  int64_t lines = 1;
  for (size_t d = 0; d < signature.shape.size(); ++d)
    if (d != static_cast<size_t>(axis))
      lines = lines == kUnknown || signature.shape[d] == kUnknown ? kUnknown
                                                                  : lines * signature.shape[d];
  Signature state_signature = array_signature(TypeId::kFloat64, {lines, sections.state_size()},
                                              lines == kUnknown ? new_domain() : 0);
  auto op = std::make_shared<ContinuedFilter>();
  op->word = std::move(word);
  op->sections = std::move(sections);
  op->axis = axis;
  op->single = single;
  const NodePtr values = apply_operator(op, std::move(signature), {array, as_tensor(initial)});
  return {values, apply_operator(std::make_shared<FinalState>(op->state),
                                 std::move(state_signature), {values})};
}

NodePtr recursive_filter_both_ways(std::string word, const NodePtr& x, FilterSections sections,
                                   int64_t axis, bool single, std::vector<double> steady,
                                   FilterPadding padding, int64_t padding_length) {
  const NodePtr array = float_array(word, x);
  check_axis(word, array, axis);
  const int64_t samples = array->signature().shape[static_cast<size_t>(axis)];
  if (padding == FilterPadding::kNone) padding_length = 0;
  if (samples != kUnknown && (padding_length < 0 || samples <= padding_length))
    throw_error<InvalidArgumentError>(word, "the signal is not longer than its padding",
                                      {{"samples", samples}, {"padlen", padding_length}},
                                      "pass a shorter padlen");
  Signature signature = filtered_signature(array, single);
  return apply_operator(FilterBothWays::make(std::move(word), std::move(sections), axis, single,
                                             std::move(steady), padding, padding_length),
                        std::move(signature), {array});
}

}  // namespace hr
