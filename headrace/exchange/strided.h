// SPDX-License-Identifier: Apache-2.0
// Foreign strided memory as a tensor, and columns as dense tensors: what array protocols share.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/memory/buffer/buffer.h"

#include <string_view>
#include <vector>

namespace hr {

/// A tensor over foreign memory at `place`; nothing is copied. `data` is element [0, 0, ...];
/// `strides` count elements and may be negative or zero. The tensor is read-only whatever the owner
/// may do; with `fresh` the memory has no other owner, so it may be handed on for writing. When it
/// throws, `owner` has not been released: InvalidArgumentError for sizes that contradict each
/// other, a missing or a misaligned pointer.
HR_API Tensor adopt_strided(std::string_view op, Dtype dtype, const void* data, Shape shape,
                            Shape strides, Owner owner, Place place = host, bool fresh = false);

/// The rows of a column as a one-dimensional tensor that array libraries understand: the same bytes
/// for numbers and timestamps without nulls. Floats with nulls become NaN, timestamps with nulls
/// NaT and bools bytes, each by one copy in the ledger. Throws ExchangeError for other nulls and
/// for strings, dates and categories, naming the fix.
HR_API Tensor dense(std::string_view op, const Column& column);

/// The same without any copy: throws ExchangeError where `dense` would copy.
HR_API Tensor dense_view(std::string_view op, const Column& column);

/// The same values in memory of our own, which their owner cannot write: one copy by all workers,
/// in the ledger as "snapshot". What `column_of` copies anyway (bools, other strides) and what is
/// not on the host is returned as it is.
HR_API Tensor snapshot(std::string_view op, const Tensor& tensor, bool asked);

/// Writes the rows of columns of one length as a row-major matrix of `dtype`, which each of them
/// has unless it is float64; null is NaN there. By all workers, a block of rows at a time.
HR_API void fill_matrix(const std::vector<Column>& columns, Dtype dtype, std::byte* out);

/// A one-dimensional tensor as a column: the same bytes for contiguous numbers. A strided one is
/// copied and bools become bits, each shown in the ledger under `op`; NaT becomes null. Throws
/// TypeMismatchError for other dimensions and for complex numbers.
HR_API Column column_of(std::string_view op, const Tensor& tensor);

/// A fresh row-major copy, for `copy=True`; the ledger shows it as asked for under `op`, or not
/// asked for and with the `reason`.
HR_API Tensor copy_of(std::string_view op, const Tensor& tensor, std::string_view reason = {});

}  // namespace hr
