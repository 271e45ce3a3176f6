// SPDX-License-Identifier: Apache-2.0
// Deferred signal functions.
#include "headrace/signal/nodes.h"

#include "headrace/algo/reduce/histogram.h"
#include "headrace/algo/scan/diff.h"
#include "headrace/algo/select/nonzero.h"
#include "headrace/base/error.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"

#include <memory>
#include <optional>
#include <utility>

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
    throw_error<TypeMismatchError>(op, "expected one dimension",
                                   {{"dimensions", signature.shape.size()}},
                                   "select a row or ravel");
  return as_tensor(node);
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

struct Ricker final : OperatorOf<Ricker> {
  int64_t points = 0;
  double width = 1;
  Dtype dtype{};

  std::string_view name() const override { return "ricker"; }

  std::string arguments() const override { return "points=" + std::to_string(points); }

  Value execute(std::span<const Value>) const override { return ricker(points, width, dtype); }

  static auto parameters(auto& self) { return std::tie(self.points, self.width, self.dtype); }
};

}  // namespace

NodePtr lazy_ricker(int64_t points, double width, Dtype dtype) {
  check_ricker(points, width, dtype);
  return apply_operator(Ricker::make(points, width, dtype), array_signature(dtype, {points}), {});
}

namespace {

struct FftConvolve final : OperatorOf<FftConvolve> {
  ConvolveMode mode = ConvolveMode::kFull;

  std::string_view name() const override { return "fft_convolve"; }

  std::string arguments() const override {
    constexpr const char* kModes[] = {"full", "same", "valid"};
    return std::string("mode=") + kModes[static_cast<int>(mode)];
  }

  std::string describe(std::span<const NodePtr> inputs) const override {
    const bool is_known = inputs[1]->is_ready() && place_of(inputs[1]->value()).is_host();
    return arguments() + "; " +
           (is_known ? fft_convolve_method(tensor(inputs[1]->value()))
                     : std::string("the method follows from the taps"));
  }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return fft_convolve(tensor(inputs[0]), tensor(inputs[1]), mode);
  }

  static auto parameters(auto& self) { return std::tie(self.mode); }
};

}  // namespace

NodePtr fft_convolve(const NodePtr& signal, const NodePtr& taps, ConvolveMode mode) {
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
    throw_error<InvalidArgumentError>("fft_convolve", "the taps are empty", {{"taps", m}},
                                      "pass at least one; [1.0] keeps the signal");
  if (known && n > 0 && m > n && mode != ConvolveMode::kFull)
    throw_error<InvalidArgumentError>("fft_convolve", "the taps are longer than the signal",
                                      {{"taps", m}, {"signal", n}},
                                      "shorten the taps or use mode='full'");
  return apply_operator(FftConvolve::make(mode), std::move(signature), {x, h});
}

namespace {

struct NonMaxSuppression final : OperatorOf<NonMaxSuppression> {
  int64_t window = 1;

  std::string_view name() const override { return "non_max_suppression"; }

  std::string arguments() const override { return "window=" + std::to_string(window); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return non_max_suppression(tensor(inputs[0]), window, number(inputs[1]));
  }

  static auto parameters(auto& self) { return std::tie(self.window); }
};

}  // namespace

NodePtr non_max_suppression(const NodePtr& x, int64_t window, const NodePtr& threshold) {
  const NodePtr array =
      one_dimension("non_max_suppression", x, &Dtype::is_real, "an integer or float");
  if (window < 1 || window % 2 == 0)
    throw_error<InvalidArgumentError>("non_max_suppression", "the window is not odd and positive",
                                      {{"window", window}}, "use an odd number of samples");
  if (!threshold->signature().is_scalar() || !threshold->signature().dtype.is_real())
    throw_error<TypeMismatchError>("non_max_suppression", "the threshold is not a number",
                                   {{"dtype", threshold->signature().dtype.name()}},
                                   "pass a float or an array without dimensions");
  Signature signature = array->signature();
  signature.dtype = TypeId::kBool;
  return apply_operator(NonMaxSuppression::make(window), std::move(signature), {array, threshold});
}

namespace {

struct Windows final : OperatorOf<Windows> {
  int64_t width = 0;
  Normalize normalize = Normalize::kNone;

  std::string_view name() const override { return "segments"; }

  std::string arguments() const override { return "width=" + std::to_string(width); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    if (inputs.size() == 2) return segments(tensor(inputs[0]), tensor(inputs[1]), width, normalize);
    return segments(tensor(inputs[0]), tensor(inputs[1]), tensor(inputs[2]), width, normalize);
  }

  static auto parameters(auto& self) { return std::tie(self.width, self.normalize); }
};

}  // namespace

NodePtr segments(const NodePtr& x, const NodePtr& begins, const NodePtr& lengths, int64_t width,
                 Normalize normalize) {
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
                                      "pass the number of columns of the result");
  const Signature& rows = inputs[1]->signature();
  Signature signature = array_signature(x->signature().dtype, {rows.rows(), width}, rows.domain);
  return apply_operator(Windows::make(width, normalize), std::move(signature), std::move(inputs));
}

namespace {

struct IndexOfTrue final : OperatorOf<IndexOfTrue> {
  std::string_view name() const override { return "nonzero"; }

  int passes() const override { return 2; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    if (const auto* column = std::get_if<Column>(&inputs[0])) return nonzero(*column);
    return nonzero(tensor(inputs[0]));
  }
};

}  // namespace

NodePtr nonzero(const NodePtr& gate) {
  const Signature& signature = gate->signature();
  if (!signature.dtype.is_bool() || signature.shape.size() != 1)
    throw_error<TypeMismatchError>(
        "nonzero", "expected a 1-D bool array",
        {{"dtype", signature.dtype.name()}, {"dimensions", signature.shape.size()}},
        "compare first, for example x > 0");
  return apply_operator(IndexOfTrue::make(),
                        array_signature(TypeId::kInt64, {kUnknown}, new_domain()), {gate});
}

namespace {

struct Diff final : OperatorOf<Diff> {
  std::string_view name() const override { return "diff"; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override { return diff(tensor(inputs[0])); }
};

}  // namespace

NodePtr diff(const NodePtr& x) {
  const NodePtr array = one_dimension("diff", x, &Dtype::is_real, "an integer or float");
  Signature signature = array->signature();
  const int64_t rows = signature.rows();
  if (rows != kUnknown) {
    signature.shape = {rows > 0 ? rows - 1 : 0};
    signature.domain = 0;
  } else {
    signature.domain = shorter_domain(signature.domain, 1);
  }
  return apply_operator(Diff::make(), std::move(signature), {array});
}

namespace {

/// Counts; leaves the edges for HistogramEdges, which runs after it, so it is equal to itself
/// alone.
struct HistogramCounts final : Operator {
  int64_t bins = 0;  // where edges are no input
  std::optional<HistogramRange> range{};
  bool has_edges = false;
  std::shared_ptr<Tensor> edges = std::make_shared<Tensor>();

  std::string_view name() const override { return "histogram"; }

  int passes() const override { return range || has_edges ? 1 : 2; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    Histogram result = has_edges ? histogram(tensor(inputs[0]), tensor(inputs[1]))
                                 : histogram(tensor(inputs[0]), bins, range);
    *edges = result.edges;
    return result.counts;
  }
};

struct HistogramEdges final : Operator {
  explicit HistogramEdges(std::shared_ptr<const Tensor> from) : edges(std::move(from)) {}

  std::string_view name() const override { return "histogram_edges"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return to_place(*edges, place_of(inputs[0]));
  }

  std::shared_ptr<const Tensor> edges;
};

}  // namespace

HistogramNodes histogram(const NodePtr& x, int64_t bins,
                         std::optional<std::pair<double, double>> range, const NodePtr& edges) {
  const NodePtr array = one_dimension("histogram", x, &Dtype::is_real, "an integer or float");
  if (!edges && bins < 1)
    throw_error<InvalidArgumentError>("histogram", "bins is not positive", {{"bins", bins}},
                                      "pass 1 or more");
  std::vector<NodePtr> inputs{array};
  if (edges) {
    inputs.push_back(one_dimension("histogram", edges, &Dtype::is_real, "an integer or float"));
    const int64_t count = edges->signature().rows();
    bins = count == kUnknown ? kUnknown : std::max<int64_t>(count - 1, 0);
  }
  Signature counts_signature = bins == kUnknown
                                   ? array_signature(TypeId::kInt64, {kUnknown}, new_domain())
                                   : array_signature(TypeId::kInt64, {bins});
  auto op = std::make_shared<HistogramCounts>();
  op->bins = bins;
  if (range) op->range = HistogramRange{range->first, range->second};
  op->has_edges = edges != nullptr;
  const NodePtr counts = apply_operator(op, std::move(counts_signature), inputs);
  if (edges) return {counts, inputs[1]};
  const Dtype edge_dtype =
      array->signature().dtype == Dtype(TypeId::kFloat32) ? TypeId::kFloat32 : TypeId::kFloat64;
  return {counts, apply_operator(std::make_shared<HistogramEdges>(op->edges),
                                 array_signature(edge_dtype, {bins + 1}), {counts})};
}

namespace {

struct Fft final : OperatorOf<Fft> {
  FftKind kind = FftKind::kFft;
  std::optional<int64_t> n{};
  FftNorm norm = FftNorm::kBackward;

  std::string_view name() const override {
    constexpr const char* kNames[] = {"fft", "ifft", "rfft", "irfft"};
    return kNames[static_cast<int>(kind)];
  }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    const int64_t axis = tensor(inputs[0]).shape().back();
    return why_no_fft_kernel(n.value_or(kind == FftKind::kIrfft ? 2 * (axis - 1) : axis));
  }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor& input = tensor(inputs[0]);
    if (kind == FftKind::kFft) return fft(input, n, norm);
    if (kind == FftKind::kIfft) return ifft(input, n, norm);
    if (kind == FftKind::kRfft) return rfft(input, n, norm);
    return irfft(input, n, norm);
  }

  static auto parameters(auto& self) { return std::tie(self.kind, self.n, self.norm); }
};

}  // namespace

NodePtr fft(FftKind kind, const NodePtr& x, std::optional<int64_t> n, FftNorm norm) {
  auto op = Fft::make(kind, n, norm);
  const std::string_view name = op->name();
  const Signature& from = x->signature();
  if (from.shape.empty() || from.dtype.is_string())
    throw_error<TypeMismatchError>(
        name, "expected an array of numbers",
        {{"dtype", from.dtype.name()}, {"dimensions", from.shape.size()}},
        "pass one or more dimensions of numbers");
  if (kind == FftKind::kRfft && from.dtype.is_complex())
    throw_error<TypeMismatchError>(name, "expected real input", {{"dtype", from.dtype.name()}},
                                   "use fft");
  const NodePtr array = from.form == Form::kColumn ? as_tensor(x) : x;
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
  return apply_operator(std::move(op), std::move(signature), {array});
}

namespace {

struct FftAxes final : OperatorOf<FftAxes> {
  std::vector<int64_t> axes{};
  bool inverse = false;
  FftNorm norm = FftNorm::kBackward;

  std::string_view name() const override { return inverse ? "ifftn" : "fftn"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_fft_kernel(tensor(inputs[0]), axes);
  }

  Value execute(std::span<const Value> inputs) const override {
    return fftn(tensor(inputs[0]), axes, inverse, norm);
  }

  static auto parameters(auto& self) { return std::tie(self.axes, self.inverse, self.norm); }
};

}  // namespace

NodePtr fftn(const NodePtr& x, const std::vector<int64_t>& axes, bool inverse, FftNorm norm) {
  auto op = FftAxes::make(axes, inverse, norm);
  Signature signature = x->signature();
  if (signature.form != Form::kTensor || signature.dtype.is_string())
    throw_error<TypeMismatchError>(op->name(), "expected an array of numbers",
                                   {{"dtype", signature.dtype.name()}});
  const bool single = signature.dtype == TypeId::kFloat32 || signature.dtype == TypeId::kComplex64;
  signature.dtype = single ? TypeId::kComplex64 : TypeId::kComplex128;
  signature.nullable = false;
  return apply_operator(std::move(op), std::move(signature), {x});
}

}  // namespace hr
