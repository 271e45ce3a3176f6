// SPDX-License-Identifier: Apache-2.0
// Deferred filters.
#include "headrace/signal/filter_nodes.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/view.h"
#include "headrace/signal/fft_convolve_rows.h"
#include "headrace/signal/median_filter.h"
#include "headrace/signal/polyphase_filter.h"

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

namespace {

struct PolyphaseFilter final : OperatorOf<PolyphaseFilter> {
  std::string word{};
  std::vector<double> taps{};
  int64_t up = 1;
  int64_t down = 1;
  int64_t shift = 0;
  int64_t count = 0;
  bool single = false;

  std::string_view name() const override { return word; }

  std::string arguments() const override {
    return "taps=" + std::to_string(taps.size()) + ", up=" + std::to_string(up) +
           ", down=" + std::to_string(down);
  }

  Value execute(std::span<const Value> inputs) const override {
    return polyphase_filter(tensor(inputs[0]), taps, up, down, shift, count, single);
  }

  static auto parameters(auto& self) {
    return std::tie(self.word, self.taps, self.up, self.down, self.shift, self.count, self.single);
  }
};

struct MedianFilter final : OperatorOf<MedianFilter> {
  int64_t size = 1;

  std::string_view name() const override { return "medfilt"; }

  std::string arguments() const override { return "size=" + std::to_string(size); }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value>) const override {
    return why_no_median_kernel(size);
  }

  Value execute(std::span<const Value> inputs) const override {
    return median_filter(tensor(inputs[0]), size);
  }

  static auto parameters(auto& self) { return std::tie(self.size); }
};

}  // namespace

NodePtr polyphase_filter(std::string word, const NodePtr& x, std::vector<double> taps, int64_t up,
                         int64_t down, int64_t shift, int64_t count, bool single) {
  const NodePtr array = float_array(word, x);
  Signature signature = filtered_signature(array, single);
  signature.shape.back() = count;
  signature.domain = signature.shape.size() == 1 ? 0 : signature.domain;
  return apply_operator(
      PolyphaseFilter::make(std::move(word), std::move(taps), up, down, shift, count, single),
      std::move(signature), {array});
}

NodePtr median_filter(const NodePtr& x, int64_t size) {
  if (size < 1 || size % 2 == 0)
    throw_error<InvalidArgumentError>("medfilt", "the window is not odd and positive",
                                      {{"kernel_size", size}}, "add 1 to an even window");
  const NodePtr array = as_tensor(x);
  return apply_operator(MedianFilter::make(size), array->signature(), {array});
}

namespace {

struct Convolve2d final : OperatorOf<Convolve2d> {
  std::string word{};
  ConvolveMode mode = ConvolveMode::kFull;
  MatrixBoundary boundary = MatrixBoundary::kFill;
  double fill = 0;
  bool later_middle = false;

  std::string_view name() const override { return word; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return convolve2d(tensor(inputs[0]), tensor(inputs[1]), mode, boundary, fill, later_middle);
  }

  static auto parameters(auto& self) {
    return std::tie(self.word, self.mode, self.boundary, self.fill, self.later_middle);
  }
};

struct ConvolveWithEach final : OperatorOf<ConvolveWithEach> {
  std::string word{};
  std::vector<std::vector<double>> taps{};

  std::string_view name() const override { return word; }

  std::string arguments() const override { return "rows=" + std::to_string(taps.size()); }

  int passes() const override { return static_cast<int>(taps.size()); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return convolve_with_each(tensor(inputs[0]), taps);
  }

  static auto parameters(auto& self) { return std::tie(self.word, self.taps); }
};

struct ConvolveWithEnds final : OperatorOf<ConvolveWithEnds> {
  std::string word{};
  std::vector<double> taps{};
  std::vector<double> first{};
  std::vector<double> last{};

  std::string_view name() const override { return word; }

  std::string arguments() const override { return "taps=" + std::to_string(taps.size()); }

  Value execute(std::span<const Value> inputs) const override {
    return convolve_with_ends(tensor(inputs[0]), taps, first, last);
  }

  static auto parameters(auto& self) {
    return std::tie(self.word, self.taps, self.first, self.last);
  }
};

}  // namespace

NodePtr convolve2d(std::string word, const NodePtr& x, const NodePtr& kernel, ConvolveMode mode,
                   MatrixBoundary boundary, double fill, bool later_middle) {
  const NodePtr array = float_array(word, x), taps = float_array(word, kernel);
  const Shape &size = array->signature().shape, &by = taps->signature().shape;
  if (size.size() != 2 || by.size() != 2 || array->signature().dtype != taps->signature().dtype)
    throw_error<TypeMismatchError>(word, "expected two matrices of one dtype",
                                   {{"dimensions", size.size()}, {"kernel_dimensions", by.size()}},
                                   "reshape, convert with astype");
  Shape shape = size;
  bool known = true;
  for (size_t d = 0; d < 2; ++d) {
    known = known && size[d] != kUnknown && by[d] != kUnknown;
    if (mode == ConvolveMode::kFull) shape[d] = size[d] + by[d] - 1;
    if (mode == ConvolveMode::kValid) shape[d] = size[d] - by[d] + 1;
  }
  if (!known || by[0] == 0 || by[1] == 0 || size[0] == 0 || size[1] == 0 || shape[0] < 0 ||
      shape[1] < 0)
    throw_error<InvalidArgumentError>(word, "a matrix is empty, or smaller than its kernel",
                                      {{"rows", size[0]},
                                       {"columns", size[1]},
                                       {"kernel_rows", by[0]},
                                       {"kernel_columns", by[1]}},
                                      "use mode='full' for large kernels");
  const Dtype dtype = array->signature().dtype;
  return apply_operator(Convolve2d::make(std::move(word), mode, boundary, fill, later_middle),
                        array_signature(dtype, std::move(shape)), {array, taps});
}

NodePtr convolve_with_each(std::string word, const NodePtr& x,
                           std::vector<std::vector<double>> taps) {
  const NodePtr array = float_array(word, x);
  const Signature& signature = array->signature();
  if (signature.shape.size() != 1)
    throw_error<TypeMismatchError>(word, "expected one dimension",
                                   {{"dimensions", signature.shape.size()}}, "select a row");
  const auto rows = static_cast<int64_t>(taps.size());
  return apply_operator(ConvolveWithEach::make(std::move(word), std::move(taps)),
                        array_signature(signature.dtype, {rows, signature.rows()}), {array});
}

NodePtr convolve_with_ends(std::string word, const NodePtr& x, std::vector<double> taps,
                           std::vector<double> first, std::vector<double> last) {
  const NodePtr array = float_array(word, x);
  return apply_operator(
      ConvolveWithEnds::make(std::move(word), std::move(taps), std::move(first), std::move(last)),
      array->signature(), {array});
}

namespace {

/// Leaves the properties for PeakProperty, which runs after it, so it is equal to itself alone.
struct FindPeaks final : Operator {
  PeakOptions options{};
  std::shared_ptr<Peaks> found = std::make_shared<Peaks>();

  std::string_view name() const override { return "find_peaks"; }

  Value execute(std::span<const Value> inputs) const override {
    *found = find_peaks(tensor(inputs[0]), options);
    return found->positions;
  }
};

struct PeakProperty final : Operator {
  PeakProperty(std::shared_ptr<const Peaks> from, Tensor Peaks::* which)
      : found(std::move(from)), property(which) {}

  std::string_view name() const override { return "peak_property"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value>) const override { return (*found).*property; }

  std::shared_ptr<const Peaks> found;
  Tensor Peaks::* property;
};

}  // namespace

std::vector<NodePtr> find_peaks(const NodePtr& x, const PeakOptions& options) {
  const Signature& given = x->signature();
  if (given.dtype != Dtype(TypeId::kFloat64) || given.shape.size() != 1)
    throw_error<TypeMismatchError>(
        "find_peaks", "expected one dimension of float64",
        {{"dtype", given.dtype.name()}, {"dimensions", given.shape.size()}},
        "select a row, convert with astype");
  auto op = std::make_shared<FindPeaks>();
  op->options = options;
  const uint64_t domain = new_domain();
  const auto rows_of_peaks = [&](Dtype dtype) {
    return array_signature(dtype, {kUnknown}, domain);
  };
  std::vector<NodePtr> nodes{apply_operator(op, rows_of_peaks(TypeId::kInt64), {as_tensor(x)})};
  const auto add = [&](Tensor Peaks::* property, TypeId dtype) {
    nodes.push_back(apply_operator(std::make_shared<PeakProperty>(op->found, property),
                                   rows_of_peaks(dtype), {nodes[0]}));
  };
  if (options.plateau_size)
    for (Tensor Peaks::* each : {&Peaks::plateau_sizes, &Peaks::left_edges, &Peaks::right_edges})
      add(each, TypeId::kInt64);
  if (options.height) add(&Peaks::heights, TypeId::kFloat64);
  if (options.threshold)
    for (Tensor Peaks::* each : {&Peaks::left_thresholds, &Peaks::right_thresholds})
      add(each, TypeId::kFloat64);
  if (options.prominence || options.width) {
    add(&Peaks::prominences, TypeId::kFloat64);
    add(&Peaks::left_bases, TypeId::kInt64);
    add(&Peaks::right_bases, TypeId::kInt64);
  }
  if (options.width)
    for (Tensor Peaks::* each :
         {&Peaks::widths, &Peaks::width_heights, &Peaks::left_positions, &Peaks::right_positions})
      add(each, TypeId::kFloat64);
  return nodes;
}

}  // namespace hr
