// SPDX-License-Identifier: Apache-2.0
// The ECG job in C++ alone: a CSV column to a picture's envelope, beats, intervals and windows.
//   ecg [FILE.csv COLUMN RATE]     (without words: a minute of a real record)
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <headrace/headrace.h>
#include <string>

namespace {

int64_t odd(double seconds, double rate) {
  return 2 * (std::lrint(seconds * rate) / 2) + 1;
}

void run(const std::string& path, const std::string& column, double rate) {
  const double width = 0.02 * rate;
  // docs: beats
  // 1. Open the file: names and dtypes are known, nothing is read yet.
  const hr::Array ecg = hr::asarray(hr::scan_csv(path, {.columns = {column}})[column]);
  // 3 and 4. How much each place looks like a beat, and the places that look most like one.
  const hr::Array wavelet = hr::ricker(2 * std::lrint(5 * width) + 1, width, ecg.dtype());
  const hr::Array response = hr::fft_convolve(ecg, wavelet, hr::ConvolveMode::kSame);
  const hr::Array threshold = 1.6 * response.std();
  const hr::Array gate = hr::non_max_suppression(response, odd(0.3, rate), threshold);
  // 5. Where the beats are, and the times from one to the next.
  const hr::Array positions = hr::nonzero(gate);
  const hr::Array intervals = hr::diff(positions);
  const hr::Array seconds = intervals / rate;
  // docs: end
  const hr::HistogramNodes histogram = hr::histogram(seconds, 85, {{0.3, 2.0}}, nullptr);

  // 6. Without artefacts: one row for each beat, padded, mean 0 and deviation 1.
  const hr::Array kept = (seconds >= 0.3) & (seconds <= 2.0);
  const hr::Array begins = hr::Array(hr::filter(positions.trim(0, 1), kept)) -
                           static_cast<int64_t>(std::lrint(0.25 * rate));
  const hr::Array beats = hr::segments(ecg, begins, hr::filter(intervals, kept),
                                       4 * std::lrint(0.15 * rate), hr::Normalize::kZscore);

  // 2. The curve, 1000 pixels wide. One call runs it all; what follows only reads.
  const hr::EnvelopeNodes curve = hr::envelope(ecg, 0, {}, 1000);
  const hr::NodePtr all[] = {curve.low, curve.high, histogram.counts, histogram.edges, beats};
  hr::force(all);
  const hr::Array counts = histogram.counts;
  std::printf("rows %lld\n", static_cast<long long>(ecg.tensor().num_elements()));
  std::printf("curve %.17g to %.17g\n", hr::Array(curve.low).min().item<double>(),
              hr::Array(curve.high).max().item<double>());
  std::printf("beats %lld\n", static_cast<long long>(positions.tensor().num_elements()));
  std::printf("kept %lld of width %lld\n", static_cast<long long>(beats.tensor().shape()[0]),
              static_cast<long long>(beats.tensor().shape()[1]));
  const hr::Array edges = hr::to_place(histogram.edges, hr::host);
  std::printf("most intervals from %.17g s on\n",
              edges.tensor().as<double>()[counts.argmax().item<int64_t>()]);
  std::printf("mean square of the windows %.17g\n", (beats * beats).mean().item<double>());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) {
    std::fprintf(stderr, "usage: %s [FILE.csv COLUMN RATE]\n", argv[0]);
    return 2;
  }
  try {
    if (argc == 4)
      run(argv[1], argv[2], std::atof(argv[3]));
    else
      run("testdata/ecg/minute.csv", "ecg", 360);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
