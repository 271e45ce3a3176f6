// SPDX-License-Identifier: Apache-2.0
// Deferred signal functions.
#include "python/bind/bind.h"

#include "headrace/base/error.h"
#include "headrace/signal/nodes.h"
#include "headrace/signal/spectral_nodes.h"

#include <utility>

namespace {

using hr::NodePtr;

template <class Choice, size_t N>
Choice choose(std::string_view op, std::string_view option, std::string_view word,
              const std::pair<std::string_view, Choice> (&choices)[N]) {
  std::string known;
  for (const auto& [name, choice] : choices) {
    if (name == word) return choice;
    known.append(known.empty() ? "use one of " : ", ").append(name);
  }
  hr::throw_error<hr::InvalidArgumentError>(op, "invalid value of an option", {{option, word}},
                                            known);
}

constexpr std::pair<std::string_view, hr::ConvolveMode> kModes[] = {
    {"full", hr::ConvolveMode::kFull},
    {"same", hr::ConvolveMode::kSame},
    {"valid", hr::ConvolveMode::kValid}};
constexpr std::pair<std::string_view, hr::Normalize> kNormalize[] = {
    {"none", hr::Normalize::kNone},
    {"zscore", hr::Normalize::kZscore},
    {"minmax", hr::Normalize::kMinMax},
    {"max", hr::Normalize::kMax}};
constexpr std::pair<std::string_view, hr::FftKind> kKinds[] = {{"fft", hr::FftKind::kFft},
                                                               {"ifft", hr::FftKind::kIfft},
                                                               {"rfft", hr::FftKind::kRfft},
                                                               {"irfft", hr::FftKind::kIrfft}};
constexpr std::pair<std::string_view, hr::FftNorm> kNorms[] = {{"backward", hr::FftNorm::kBackward},
                                                               {"ortho", hr::FftNorm::kOrtho},
                                                               {"forward", hr::FftNorm::kForward}};
constexpr std::pair<std::string_view, hr::Spectrum> kSpectra[] = {{"terms", hr::Spectrum::kTerms},
                                                                  {"power", hr::Spectrum::kPower},
                                                                  {"cross", hr::Spectrum::kCross}};
constexpr std::pair<std::string_view, hr::Detrend> kDetrend[] = {
    {"none", hr::Detrend::kNone},
    {"constant", hr::Detrend::kConstant},
    {"linear", hr::Detrend::kLinear}};

}  // namespace

void bind_signal(nb::module_& m) {
  m.def(
      "ricker",
      [](int64_t points, double width, std::string_view dtype) {
        return hr::lazy_ricker(points, width, hr::dtype_from_name(dtype));
      },
      "points"_a, "width"_a, "dtype"_a, Unlocked());
  m.def(
      "fft_convolve",
      [](const NodePtr& signal, const NodePtr& taps, std::string_view mode) {
        return hr::fft_convolve(signal, taps, choose("fft_convolve", "mode", mode, kModes));
      },
      "signal"_a, "taps"_a, "mode"_a, Unlocked());
  m.def("non_max_suppression", lazy(&hr::non_max_suppression), "x"_a, "window"_a, "threshold"_a,
        Unlocked());
  m.def(
      "segments",
      [](const NodePtr& x, const NodePtr& begins, std::optional<NodePtr> lengths, int64_t width,
         std::string_view normalize) {
        return hr::segments(x, begins, lengths.value_or(nullptr), width,
                            choose("segments", "normalize", normalize, kNormalize));
      },
      "x"_a, "begins"_a, "lengths"_a.none(), "width"_a, "normalize"_a, Unlocked());
  m.def("nonzero", lazy(&hr::nonzero), "gate"_a, Unlocked());
  m.def("diff", lazy(&hr::diff), "x"_a, Unlocked());
  m.def(
      "histogram",
      [](const NodePtr& x, int64_t bins, std::optional<std::pair<double, double>> range,
         std::optional<NodePtr> edges) {
        hr::HistogramNodes nodes = hr::histogram(x, bins, range, edges.value_or(nullptr));
        return std::pair(std::move(nodes.counts), std::move(nodes.edges));
      },
      "x"_a, "bins"_a, "range"_a.none(), "edges"_a.none(), Unlocked());
  m.def(
      "fft",
      [](std::string_view kind, const NodePtr& x, std::optional<int64_t> n, std::string_view norm) {
        return hr::fft(choose("fft", "kind", kind, kKinds), x, n,
                       choose(kind, "norm", norm, kNorms));
      },
      "kind"_a, "x"_a, "n"_a.none(), "norm"_a, Unlocked());
  m.def(
      "fftn",
      [](const NodePtr& x, const std::vector<int64_t>& axes, bool inverse, std::string_view norm) {
        return hr::fftn(x, axes, inverse, choose("fftn", "norm", norm, kNorms));
      },
      "x"_a, "axes"_a, "inverse"_a, "norm"_a, Unlocked());
  m.def(
      "spectral_segments",
      [](const NodePtr& x, std::optional<NodePtr> y, const NodePtr& window,
         std::string_view spectrum, std::string_view detrend, int64_t first, int64_t step,
         int64_t segments, int64_t n, bool one_sided, bool mean, double scale) {
        return hr::spectral_segments(x, y.value_or(nullptr), window,
                                     {choose("spectral_segments", "spectrum", spectrum, kSpectra),
                                      choose("spectral_segments", "detrend", detrend, kDetrend),
                                      first, step, segments, n, one_sided, mean, scale});
      },
      "x"_a, "y"_a.none(), "window"_a, "spectrum"_a, "detrend"_a, "first"_a, "step"_a, "segments"_a,
      "n"_a, "one_sided"_a, "mean"_a, "scale"_a, Unlocked());
  m.def(
      "spectral_synthesis",
      [](const NodePtr& spectra, const NodePtr& window, int64_t step, int64_t n, int64_t first,
         int64_t count, bool one_sided, double scale) {
        return hr::spectral_synthesis(spectra, window, {step, n, first, count, one_sided, scale});
      },
      "spectra"_a, "window"_a, "step"_a, "n"_a, "first"_a, "count"_a, "one_sided"_a, "scale"_a,
      Unlocked());
}
