// SPDX-License-Identifier: Apache-2.0
// Kernels of fft_convolve. Inputs are checked, of one float dtype and not empty; `out` holds
// job.num_outputs elements behind job.first_output others.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/signal/fft_convolve_plan.h"

namespace hr {
/// Directly or by FFT, where the signal lies; the taps are on the host.
void convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out);
}  // namespace hr

namespace hr::cpu {
void direct_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out);
void fft_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out);
}  // namespace hr::cpu
namespace hr::cuda {
void direct_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out);
void fft_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out);
}  // namespace hr::cuda
