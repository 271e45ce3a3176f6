// SPDX-License-Identifier: Apache-2.0
// Random numbers as arrays of one dimension.
#include "python/bind/bind.h"

#include "headrace/algo/random/keyed_permutation.h"
#include "headrace/algo/random/random.h"
#include "headrace/base/error.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/slices.h"

namespace {

using hr::RandomKey;

hr::Dtype dtype_from(const char* op, std::string_view name) {
  for (const hr::Dtype dtype : {hr::dtype_of<double>(), hr::dtype_of<float>(),
                                hr::dtype_of<int64_t>(), hr::dtype_of<uint64_t>()})
    if (dtype.name() == name) return dtype;
  hr::throw_error<hr::TypeMismatchError>(op, "no dtype to draw", {{"dtype", name}},
                                         "use float64, float32 or int64, then astype()");
}

/// What `draw` makes on the host, or if `there` where new values go; without a kernel on the host
/// first.
template <class Draw>
hr::NodePtr drawn(const char* op, bool has_kernel, bool there, const Draw& draw) {
  const auto make = [&](hr::Place place) -> hr::Value {
    if (place.is_host() || (place.is_gpu() && has_kernel)) return draw(place);
    const auto on_host = [&](std::span<const hr::Value>) -> std::vector<hr::Value> {
      return {draw(hr::host)};
    };
    if (place.is_gpu()) return hr::run_on_host(op, hr::kNoKernel, place, {}, on_host)[0];
    return hr::to_place(hr::Value(draw(hr::host)), place);
  };
  const hr::ScopedKept no_kept(false);
  const hr::NodePtr made = hr::lazy_value(there ? hr::made_at_default_place(make) : make(hr::host));
  if (hr::is_kept()) hr::keep_for_default_place(made);
  return made;
}

/// A function of (count, dtype, seed, stream).
void bind_floats(nb::module_& m, const char* name,
                 hr::Tensor (*draw)(int64_t, hr::Dtype, RandomKey, hr::Place)) {
  m.def(
      name,
      [name, draw](int64_t count, std::string_view dtype, uint64_t seed, uint32_t stream,
                   bool there) {
        return drawn(name, true, there, [&](hr::Place place) {
          return draw(count, dtype_from(name, dtype), {seed, stream}, place);
        });
      },
      "count"_a, "dtype"_a, "seed"_a, "stream"_a, "there"_a = false, Unlocked());
}

}  // namespace

void bind_random(nb::module_& m) {
  bind_floats(m, "random_uniform", &hr::random_uniform);
  bind_floats(m, "random_normal", &hr::random_normal);
  bind_floats(m, "random_exponential", &hr::random_exponential);
  m.def(
      "random_integers",
      [](int64_t count, std::string_view dtype, uint64_t low, uint64_t range, uint64_t seed,
         uint32_t stream, bool there) {
        return drawn("random_integers", true, there, [&](hr::Place place) {
          return hr::random_integers(count, dtype_from("random_integers", dtype), low, range,
                                     {seed, stream}, place);
        });
      },
      "count"_a, "dtype"_a, "low"_a, "range"_a, "seed"_a, "stream"_a, "there"_a = false,
      Unlocked());
  m.def(
      "random_poisson",
      [](int64_t count, double mean, uint64_t seed, uint32_t stream, bool there) {
        return drawn("random_poisson", false, there,
                     [&](hr::Place) { return hr::random_poisson(count, mean, {seed, stream}); });
      },
      "count"_a, "mean"_a, "seed"_a, "stream"_a, "there"_a = false, Unlocked());
  m.def(
      "random_sample",
      [](int64_t rows, int64_t count, uint64_t seed, uint32_t stream, bool there) {
        return drawn("random_sample", true, there, [&](hr::Place place) {
          return hr::random_sample(rows, count, {seed, stream}, place);
        });
      },
      "rows"_a, "count"_a, "seed"_a, "stream"_a, "there"_a = false, Unlocked());
  m.def(
      "permuted_rows",
      [](int64_t rows, uint64_t seed, uint32_t stream, int64_t first, int64_t step, int64_t count) {
        return hr::lazy_value(hr::permuted_rows(rows, {seed, stream}, first, step, count));
      },
      "rows"_a, "seed"_a, "stream"_a, "first"_a, "step"_a, "count"_a, Unlocked());
  m.def(
      "permuted_places",
      [](int64_t rows, uint64_t seed, uint32_t stream, int64_t first, int64_t count) {
        return hr::lazy_value(hr::permuted_places(rows, {seed, stream}, first, count));
      },
      "rows"_a, "seed"_a, "stream"_a, "first"_a, "count"_a, Unlocked());
}
