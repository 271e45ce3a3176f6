// SPDX-License-Identifier: Apache-2.0
// Choice of the SIMD level.
#include "headrace/base/simd.h"

#include "headrace/base/error.h"

#include <atomic>
#include <cstdlib>
#include <string>

namespace hr {

namespace {

constexpr int kNotChosen = -1;
std::atomic<int> chosen{kNotChosen};

SimdLevel first_level() {
  const SimdLevel best = best_simd_level();
  const char* text = std::getenv("HEADRACE_SIMD");
  if (!text || !*text) return best;
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512})
    if (simd_level_name(level) == text) return level < best ? level : best;
  throw_error<InvalidArgumentError>("simd", "invalid value of HEADRACE_SIMD", {{"value", text}},
                                    "set it to base, avx2 or avx512");
}

}  // namespace

std::string_view simd_level_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::kBase:
      return "base";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
  }
  return "";
}

SimdLevel best_simd_level() {
#if defined(__x86_64__)
  // What Highway's AVX2 and AVX3 targets let the compiler use.
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes")))
    return SimdLevel::kBase;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return SimdLevel::kAvx512;
  return SimdLevel::kAvx2;
#else
  return SimdLevel::kBase;
#endif
}

SimdLevel simd_level() {
  int level = chosen.load(std::memory_order_relaxed);
  if (level == kNotChosen) chosen = level = static_cast<int>(first_level());
  return static_cast<SimdLevel>(level);
}

void set_simd_level(SimdLevel level) {
  if (level > best_simd_level())
    throw_error<InvalidArgumentError>(
        "simd", "this machine does not support the level",
        {{"level", simd_level_name(level)}, {"best", simd_level_name(best_simd_level())}});
  chosen = static_cast<int>(level);
}

}  // namespace hr
