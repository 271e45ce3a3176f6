// SPDX-License-Identifier: Apache-2.0
// Deferred spectra and their inverse.
#include "headrace/signal/spectral_nodes.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hr {

namespace {

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

NodePtr array_of(const NodePtr& node) {
  return node->signature().form == Form::kColumn ? as_tensor(node) : node;
}

/// The samples of a window, which are there.
int64_t window_length(std::string_view op, const NodePtr& window) {
  const Signature& signature = window->signature();
  if (signature.shape.size() != 1 || signature.rows() == kUnknown)
    throw_error<InvalidArgumentError>(op, "the window has not one dimension of known length",
                                      {{"dimensions", signature.shape.size()}},
                                      "pass one number a sample");
  return signature.rows();
}

/// The window where the signal is, there in its precision, as kernels take it.
NodePtr window_near(const NodePtr& window, const NodePtr& signal) {
  const NodePtr weights = array_of(window);
  const Place place = place_of(signal);
  if (place.is_host()) return weights;
  const Dtype from = signal->signature().dtype;
  const bool single = from == Dtype(TypeId::kFloat32) || from == Dtype(TypeId::kComplex64);
  const NodePtr made = cast(weights, single ? TypeId::kFloat32 : TypeId::kFloat64);
  return place_of(made) == place ? made : to_place(made, place);
}

struct SegmentsNode final : OperatorOf<SegmentsNode> {
  SpectralSegments options{};

  std::string_view name() const override { return "spectral_segments"; }

  std::string arguments() const override {
    constexpr const char* kSpectra[] = {"terms", "power", "cross"};
    return std::string(options.mean ? "mean " : "") + kSpectra[static_cast<int>(options.spectrum)] +
           " of segments=" + std::to_string(options.segments) +
           ", step=" + std::to_string(options.step) + ", nfft=" + std::to_string(options.n);
  }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value>) const override {
    return why_no_segments_kernel(options);
  }

  Value execute(std::span<const Value> inputs) const override {
    const bool cross = options.spectrum == Spectrum::kCross;
    return spectral_segments(tensor(inputs[0]), cross ? &tensor(inputs[1]) : nullptr,
                             tensor(inputs.back()), options);
  }

  static auto parameters(auto& self) {
    auto& o = self.options;
    return std::tie(o.spectrum, o.detrend, o.first, o.step, o.segments, o.n, o.one_sided, o.mean,
                    o.scale);
  }
};

struct SynthesisNode final : OperatorOf<SynthesisNode> {
  SpectralSynthesis options{};

  std::string_view name() const override { return "spectral_synthesis"; }

  std::string arguments() const override {
    return "step=" + std::to_string(options.step) + ", nfft=" + std::to_string(options.n) +
           ", samples=" + std::to_string(options.count);
  }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value>) const override {
    return why_no_synthesis_kernel(options);
  }

  Value execute(std::span<const Value> inputs) const override {
    return spectral_synthesis(tensor(inputs[0]), tensor(inputs[1]), options);
  }

  static auto parameters(auto& self) {
    auto& o = self.options;
    return std::tie(o.step, o.n, o.first, o.count, o.one_sided, o.scale);
  }
};

Dtype result_of(Dtype from, bool real) {
  const bool single = from == Dtype(TypeId::kFloat32) || from == Dtype(TypeId::kComplex64);
  if (real) return single ? TypeId::kFloat32 : TypeId::kFloat64;
  return single ? TypeId::kComplex64 : TypeId::kComplex128;
}

}  // namespace

NodePtr spectral_segments(const NodePtr& x, const NodePtr& y, const NodePtr& window,
                          const SpectralSegments& options) {
  constexpr std::string_view op = "spectral_segments";
  const NodePtr signal = array_of(x);
  const Signature& from = signal->signature();
  check_spectral_segments(options, from.dtype, window_length(op, window));
  if (from.shape.empty())
    throw_error<InvalidArgumentError>(op, "a 0-d array has no samples", {{"dimensions", 0}},
                                      "pass one or more dimensions");
  std::vector<NodePtr> inputs{signal};
  if (y) inputs.push_back(array_of(y));
  inputs.push_back(window_near(window, signal));
  Shape shape = from.shape;
  shape.pop_back();
  if (!options.mean) shape.push_back(options.segments);
  shape.push_back(num_terms(options));
  const uint64_t domain = from.shape.size() > 1 ? from.domain : 0;
  auto made = std::make_shared<SegmentsNode>();
  made->options = options;
  return apply_operator(std::move(made),
                        array_signature(result_of(from.dtype, options.spectrum == Spectrum::kPower),
                                        std::move(shape), domain),
                        std::move(inputs));
}

NodePtr spectral_synthesis(const NodePtr& spectra, const NodePtr& window,
                           const SpectralSynthesis& options) {
  constexpr std::string_view op = "spectral_synthesis";
  const Signature& from = spectra->signature();
  check_spectral_synthesis(options, from.dtype, window_length(op, window));
  if (from.shape.size() < 2)
    throw_error<InvalidArgumentError>(op, "expected two or more dimensions",
                                      {{"dimensions", from.shape.size()}},
                                      "pass segments and terms");
  Shape shape = from.shape;
  shape.pop_back();
  shape.back() = options.count;
  const uint64_t domain = from.shape.size() > 2 ? from.domain : 0;
  auto made = std::make_shared<SynthesisNode>();
  made->options = options;
  return apply_operator(
      std::move(made),
      array_signature(result_of(from.dtype, options.one_sided), std::move(shape), domain),
      {spectra, window_near(window, spectra)});
}

}  // namespace hr
