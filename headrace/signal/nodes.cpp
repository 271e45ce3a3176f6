// SPDX-License-Identifier: Apache-2.0
// Deferred signal functions.
#include "headrace/signal/nodes.h"

#include "headrace/algo/reduce/histogram.h"
#include "headrace/algo/scan/diff.h"
#include "headrace/algo/select/nonzero.h"
#include "headrace/base/error.h"
#include "headrace/plan/execute/placement.h"
#include "headrace/plan/graph/view.h"

namespace hr {

namespace {

// An array of one dimension, whatever handle it came from.
NodePtr one_dimension(const char* op, const NodePtr& node, bool (Dtype::*fits)() const,
                      const char* wanted) {
  const Signature& signature = node->signature();
  if (!(signature.dtype.*fits)())
    throw_error<TypeMismatchError>(op, "the dtype does not fit",
                                   {{"dtype", signature.dtype.name()}, {"wanted", wanted}},
                                   "convert with astype");
  if (signature.shape.size() != 1)
    throw_error<TypeMismatchError>(op, "one dimension is wanted",
                                   {{"dimensions", signature.shape.size()}},
                                   "select a row or ravel");
  return as_tensor_node(node);
}

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

double number(const Value& value) {
  if (const auto* scalar = std::get_if<Scalar>(&value)) return scalar->as<double>();
  return visit_real(tensor(value).dtype(), [&]<class T>(std::type_identity<T>) {
    return static_cast<double>(tensor(value).item<T>());
  });
}

// Rows that follow from known ones, or a new name for unknown ones.
Signature rows_of(Dtype dtype, bool known, int64_t rows) {
  return known ? array_signature(dtype, {rows}) : array_signature(dtype, {kUnknown}, new_domain());
}

}  // namespace

NodePtr ricker_node(int64_t points, double width, Dtype dtype) {
  check_ricker(points, width, dtype);
  return operator_node(
      "ricker", "points=" + std::to_string(points), array_signature(dtype, {points}), {}, 1,
      [=](std::span<const Value>) -> Value { return ricker(points, width, dtype); });
}

NodePtr fft_convolve_node(const NodePtr& signal, const NodePtr& taps, ConvolveMode mode) {
  const NodePtr x =
      one_dimension("fft_convolve", signal, &Dtype::is_floating, "float32 or float64");
  const NodePtr h = one_dimension("fft_convolve", taps, &Dtype::is_floating, "float32 or float64");
  if (x->signature().dtype != h->signature().dtype)
    throw_error<TypeMismatchError>(
        "fft_convolve", "signal and taps differ in dtype",
        {{"signal", x->signature().dtype.name()}, {"taps", h->signature().dtype.name()}},
        "convert the taps with astype");
  const int64_t n = x->signature().rows();
  const int64_t m = h->signature().rows();
  Signature signature = x->signature();
  const bool known = n != kUnknown && m != kUnknown;
  if (mode == ConvolveMode::kFull)
    signature = rows_of(signature.dtype, known, n == 0 ? 0 : n + m - 1);
  if (mode == ConvolveMode::kValid)
    signature = rows_of(signature.dtype, known, n == 0 ? 0 : n - m + 1);
  if (m == 0)
    throw_error<InvalidArgumentError>("fft_convolve", "there are no taps", {{"taps", m}},
                                      "pass at least one, [1.0] changes nothing");
  if (known && n > 0 && m > n && mode != ConvolveMode::kFull)
    throw_error<InvalidArgumentError>("fft_convolve", "the taps are longer than the signal",
                                      {{"taps", m}, {"signal", n}},
                                      "shorten the taps or use mode='full'");
  constexpr const char* kModes[] = {"full", "same", "valid"};
  // The node that runs leaves its choice here for explain().
  auto chosen = std::make_shared<std::string>();
  return operator_node(
      "fft_convolve", std::string("mode=") + kModes[static_cast<int>(mode)], signature, {x, h}, 1,
      [=](std::span<const Value> inputs) -> Value {
        Value result = fft_convolve(tensor(inputs[0]), tensor(inputs[1]), mode);
        if (place_of(inputs[1]).is_host()) *chosen = fft_convolve_method(tensor(inputs[1]));
        return result;
      },
      [=](std::span<const NodePtr> inputs) {
        if (inputs.empty()) return *chosen;
        if (!inputs[1]->is_ready() || !place_of(inputs[1]->value()).is_host())
          return std::string("the method follows from the taps");
        return fft_convolve_method(tensor(inputs[1]->value()));
      },
      true);
}

NodePtr non_max_suppression_node(const NodePtr& x, int64_t window, const NodePtr& threshold) {
  const NodePtr array =
      one_dimension("non_max_suppression", x, &Dtype::is_real, "an integer or float");
  if (window < 1 || window % 2 == 0)
    throw_error<InvalidArgumentError>("non_max_suppression", "the window is not odd and positive",
                                      {{"window", window}}, "use an odd number of samples");
  if (!threshold->signature().is_scalar() || !threshold->signature().dtype.is_real())
    throw_error<TypeMismatchError>("non_max_suppression", "the threshold is no number",
                                   {{"dtype", threshold->signature().dtype.name()}},
                                   "pass a float or an array without dimensions");
  Signature signature = array->signature();
  signature.dtype = TypeId::kBool;
  return operator_node(
      "non_max_suppression", "window=" + std::to_string(window), signature, {array, threshold}, 1,
      [=](std::span<const Value> inputs) -> Value {
        return non_max_suppression(tensor(inputs[0]), window, number(inputs[1]));
      },
      nullptr, true);
}

NodePtr segments_node(const NodePtr& x, const NodePtr& begins, const NodePtr& lengths,
                      int64_t width, Normalize normalize) {
  for (const NodePtr& places : {begins, lengths})
    if (places && places->signature().dtype != Dtype(TypeId::kInt64))
      throw_error<TypeMismatchError>("segments", "begins and lengths must be int64",
                                     {{"dtype", places->signature().dtype.name()}},
                                     "use astype('int64')");
  std::vector<NodePtr> inputs{
      one_dimension("segments", x, &Dtype::is_floating, "float32 or float64"),
      one_dimension("segments", begins, &Dtype::is_signed, "int64")};
  if (lengths) inputs.push_back(one_dimension("segments", lengths, &Dtype::is_signed, "int64"));
  if (width < 0)
    throw_error<InvalidArgumentError>("segments", "width is negative", {{"width", width}},
                                      "pass the columns of the result");
  const Signature& rows = inputs[1]->signature();
  return operator_node(
      "segments", "width=" + std::to_string(width),
      array_signature(x->signature().dtype, {rows.rows(), width}, rows.domain), std::move(inputs),
      1,
      [=](std::span<const Value> values) -> Value {
        if (values.size() == 2)
          return segments(tensor(values[0]), tensor(values[1]), width, normalize);
        return segments(tensor(values[0]), tensor(values[1]), tensor(values[2]), width, normalize);
      },
      nullptr, true);
}

NodePtr nonzero_node(const NodePtr& gate) {
  const Signature& signature = gate->signature();
  if (!signature.dtype.is_bool() || signature.shape.size() != 1)
    throw_error<TypeMismatchError>(
        "nonzero", "a 1-D bool array is wanted",
        {{"dtype", signature.dtype.name()}, {"dimensions", signature.shape.size()}},
        "compare first, for example x > 0");
  return operator_node(
      "nonzero", "", array_signature(TypeId::kInt64, {kUnknown}, new_domain()), {gate}, 2,
      [](std::span<const Value> inputs) -> Value {
        if (const auto* column = std::get_if<Column>(&inputs[0])) return nonzero(*column);
        return nonzero(tensor(inputs[0]));
      },
      nullptr, true);
}

NodePtr diff_node(const NodePtr& x) {
  const NodePtr array = one_dimension("diff", x, &Dtype::is_real, "an integer or float");
  Signature signature = array->signature();
  const int64_t rows = signature.rows();
  if (rows != kUnknown) {
    signature.shape = {rows > 0 ? rows - 1 : 0};
    signature.domain = 0;
  } else {
    signature.domain = shorter_domain(signature.domain, 1);
  }
  return operator_node(
      "diff", "", signature, {array}, 1,
      [](std::span<const Value> inputs) -> Value { return diff(tensor(inputs[0])); }, nullptr,
      true);
}

HistogramNodes histogram_node(const NodePtr& x, int64_t bins,
                              std::optional<std::pair<double, double>> range,
                              const NodePtr& edges) {
  const NodePtr array = one_dimension("histogram", x, &Dtype::is_real, "an integer or float");
  if (!edges && bins < 1)
    throw_error<InvalidArgumentError>("histogram", "bins is not positive", {{"bins", bins}},
                                      "pass 1 or more");
  // The counting node leaves the edges here for the second node, which runs after it.
  auto made = std::make_shared<Tensor>();
  std::vector<NodePtr> inputs{array};
  if (edges) {
    inputs.push_back(one_dimension("histogram", edges, &Dtype::is_real, "an integer or float"));
    const int64_t count = edges->signature().rows();
    bins = count == kUnknown ? kUnknown : std::max<int64_t>(count - 1, 0);
  }
  Signature counts_signature = bins == kUnknown
                                   ? array_signature(TypeId::kInt64, {kUnknown}, new_domain())
                                   : array_signature(TypeId::kInt64, {bins});
  const int64_t asked = bins;
  const NodePtr counts = operator_node(
      "histogram", "", counts_signature, inputs, range || edges ? 1 : 2,
      [=](std::span<const Value> values) -> Value {
        Histogram result =
            values.size() == 2
                ? histogram(tensor(values[0]), tensor(values[1]))
                : histogram(tensor(values[0]), asked,
                            range ? std::optional(HistogramRange{range->first, range->second})
                                  : std::nullopt);
        *made = result.edges;
        return result.counts;
      },
      nullptr, true);
  if (edges) return {counts, inputs[1]};
  const Dtype edge_dtype =
      array->signature().dtype == Dtype(TypeId::kFloat32) ? TypeId::kFloat32 : TypeId::kFloat64;
  return {counts, operator_node("histogram_edges", "", array_signature(edge_dtype, {bins + 1}),
                                {counts}, 0, [made](std::span<const Value> values) -> Value {
                                  return to_place(*made, place_of(values[0]));
                                })};
}

NodePtr fft_node(FftKind kind, const NodePtr& x, std::optional<int64_t> n, FftNorm norm) {
  constexpr const char* kNames[] = {"fft", "ifft", "rfft", "irfft"};
  const char* name = kNames[static_cast<int>(kind)];
  const Signature& from = x->signature();
  if (from.shape.empty() || from.dtype.is_string())
    throw_error<TypeMismatchError>(
        name, "an array of numbers is wanted",
        {{"dtype", from.dtype.name()}, {"dimensions", from.shape.size()}},
        "pass one or more dimensions of numbers");
  if (kind == FftKind::kRfft && from.dtype.is_complex())
    throw_error<TypeMismatchError>(name, "real input is wanted", {{"dtype", from.dtype.name()}},
                                   "use fft");
  const NodePtr array = from.form == Form::kColumn ? as_tensor_node(x) : x;
  const bool single =
      from.dtype == Dtype(TypeId::kFloat32) || from.dtype == Dtype(TypeId::kComplex64);
  Signature signature = array->signature();
  signature.nullable = false;
  if (kind == FftKind::kIrfft)
    signature.dtype = single ? TypeId::kFloat32 : TypeId::kFloat64;
  else
    signature.dtype = single ? TypeId::kComplex64 : TypeId::kComplex128;
  int64_t& last = signature.shape.back();
  const int64_t length = n                                             ? *n
                         : kind == FftKind::kIrfft && last != kUnknown ? 2 * (last - 1)
                                                                       : last;
  if (length != kUnknown) {
    if (length < 1)
      throw_error<InvalidArgumentError>(name, "the length is not positive", {{"n", length}},
                                        "pass n >= 1");
    last = kind == FftKind::kRfft ? length / 2 + 1 : length;
    if (signature.shape.size() == 1) signature.domain = 0;
  } else if (kind == FftKind::kRfft || kind == FftKind::kIrfft) {
    signature.domain = new_domain();
  }
  return operator_node(name, "", signature, {array}, 1,
                       [=](std::span<const Value> inputs) -> Value {
                         const Tensor& input = tensor(inputs[0]);
                         if (kind == FftKind::kFft) return fft(input, n, norm);
                         if (kind == FftKind::kIfft) return ifft(input, n, norm);
                         if (kind == FftKind::kRfft) return rfft(input, n, norm);
                         return irfft(input, n, norm);
                       });
}

}  // namespace hr
