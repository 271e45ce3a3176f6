// SPDX-License-Identifier: Apache-2.0
// Inputs of an evaluation: how columns, tensors and scalars reach the blocks.
#pragma once
#include "headrace/base/error.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/eval/value.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace hr {

/// How the values of an input reach a block.
enum class InputSource : uint8_t {
  kPointer,
  kBits,
  kStrided,
  kOnce,
  kPicked,      ///< of the rows that a mask picks
  kPickedBits,  ///< the same of bits
};

struct EvaluateInput {
  InputSource source = InputSource::kPointer;
  Dtype dtype;
  const std::byte* data = nullptr;  // of row 0
  const uint8_t* bits = nullptr;
  int64_t bit_offset = 0;
  const uint8_t* validity = nullptr;
  int64_t validity_offset = 0;
  Shape strides;  // over the shape of the evaluation, for kStrided
  Scalar once;
};

/// Checks a value against the program's input node and the shape of the evaluation. Throws as
/// `evaluate` says.
EvaluateInput bind_input(const Program::Node& node, const Value& value, const Shape& shape,
                         int64_t rows);

/// Reads elements [first, first + count) of a broadcast or strided input in row-major order.
template <class T>
void read_strided(const EvaluateInput& input, const Shape& shape, int64_t first, int64_t count,
                  T* out) {
  const T* data = reinterpret_cast<const T*>(input.data);
  const size_t last = shape.size() - 1;
  const bool repeats = std::all_of(input.strides.begin(), input.strides.end() - 1,
                                   [](int64_t stride) { return stride == 0; });
  if (const int64_t period = shape[last]; repeats && count > period) {  // one row, again and again
    for (int64_t i = 0; i < period; ++i) out[i] = data[(first + i) % period * input.strides[last]];
    for (int64_t there = period; there < count; there *= 2)
      std::memcpy(out + there, out,
                  static_cast<size_t>(std::min(there, count - there)) * sizeof(T));
    return;
  }
  Shape index(shape.size());
  int64_t rest = first, element = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = rest % shape[d];
    rest /= shape[d];
    element += index[d] * input.strides[d];
  }
  while (count > 0) {
    const int64_t run = std::min(count, shape[last] - index[last]);
    const int64_t step = input.strides[last];
    for (int64_t i = 0; i < run; ++i) out[i] = data[element + i * step];
    out += run;
    count -= run;
    element += run * step;
    index[last] += run;
    for (size_t d = last; index[d] == shape[d] && d > 0; --d) {
      element += input.strides[d - 1] - index[d] * input.strides[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

/// Fills a block with one value.
inline void broadcast(const Scalar& value, Dtype dtype, void* out, int64_t count) {
  if (dtype.is_bool()) {
    std::memset(out, value.as<uint8_t>() != 0, static_cast<size_t>(count));
    return;
  }
  visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    std::fill_n(static_cast<T*>(out), count, value.as<T>());
  });
}

}  // namespace hr
