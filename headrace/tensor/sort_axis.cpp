// SPDX-License-Identifier: Apache-2.0
// Nodes of sorts along an axis.
#include "headrace/tensor/sort_axis.h"

#include "headrace/algo/sort/sort.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/tensor/sort_axis_kernels.h"

namespace hr {

namespace {

int64_t length_of(const Tensor& tensor) {
  return tensor.shape().empty() ? 1 : tensor.shape().back();
}

int64_t lines_of(const Tensor& tensor) {
  return tensor.num_elements() == 0 ? 0 : tensor.num_elements() / length_of(tensor);
}

std::string why_no_sort_kernel(const Tensor& from) {
  return from.num_elements() < cuda::kMostSorted ? ""
                                                 : "2^32 elements and more have no kernel for CUDA";
}

// One line of real numbers that sorts of columns take, by the range of its values.
bool is_long_line(const Tensor& from) {
  return lines_of(from) == 1 && length_of(from) > 2048 && from.dtype().is_real();
}

Column line_of(const Tensor& from) {
  const Tensor packed = contiguous(from, "sort");
  return as_column(
      Tensor(from.dtype(), {from.num_elements()}, packed.buffer(), packed.byte_offset()));
}

struct SortAxis final : OperatorOf<SortAxis> {
  bool descending = false;

  std::string_view name() const override { return "sort"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_sort_kernel(tensor_of(inputs[0]));
  }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor from = tensor_of(inputs[0]);
    if constexpr (built_with_cuda)
      if (from.place().is_gpu() && from.num_elements() > 0) {
        if (is_long_line(from) && from.dtype().is_integer()) {
          const Column line = line_of(from);
          return Tensor(from.dtype(), from.shape(),
                        sort_rows({line}, {{descending, descending}}, {line})[0].values_buffer());
        }
        const Tensor lines = contiguous(from, name());
        Buffer made =
            allocate_result(from.num_elements() * from.dtype().size_bytes(), from.place());
        cuda::sort_lines(lines, lines_of(from), length_of(from), descending, made);
        return Tensor(from.dtype(), from.shape(), std::move(made));
      }
    Buffer buffer = Buffer::allocate(from.num_elements() * from.dtype().size_bytes());
    if (buffer.size_bytes() > 0) {
      copy_strided(from, buffer.mutable_data(), row_major(from.shape()));
      cpu::sort_lines(from.dtype(), buffer.mutable_data(), lines_of(from), length_of(from),
                      descending);
    }
    return Tensor(from.dtype(), from.shape(), std::move(buffer));
  }

  static auto parameters(auto& self) { return std::tie(self.descending); }
};

struct ArgsortAxis final : OperatorOf<ArgsortAxis> {
  bool descending = false;

  std::string_view name() const override { return "argsort"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_sort_kernel(tensor_of(inputs[0]));
  }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor from = contiguous(tensor_of(inputs[0]), "argsort");
    if constexpr (built_with_cuda)
      if (from.place().is_gpu() && from.num_elements() > 0) return argsort_there(from);
    Buffer buffer = Buffer::allocate(checked_multiply("argsort", from.num_elements(), 8));
    if (buffer.size_bytes() > 0)
      cpu::argsort_lines(from.dtype(), from.data(), lines_of(from), length_of(from), descending,
                         buffer.mutable_as<int64_t>());
    return Tensor(TypeId::kInt64, from.shape(), std::move(buffer));
  }

  // One long line by the ranges of its values.
  Tensor argsort_there(const Tensor& from) const {
    const int64_t lines = lines_of(from), length = length_of(from);
    if (is_long_line(from)) {
      const Tensor order = argsort({line_of(from)}, {{descending, descending}});
      return Tensor(TypeId::kInt64, from.shape(), order.buffer(), order.byte_offset());
    }
    Buffer made =
        allocate_result(checked_multiply("argsort", from.num_elements(), 8), from.place());
    if constexpr (built_with_cuda) cuda::argsort_lines(from, lines, length, descending, made);
    return Tensor(TypeId::kInt64, from.shape(), std::move(made));
  }

  static auto parameters(auto& self) { return std::tie(self.descending); }
};

struct SearchSorted final : OperatorOf<SearchSorted> {
  bool right = false;

  std::string_view name() const override { return "searchsorted"; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor line = contiguous(tensor_of(inputs[0]), "searchsorted");
    const Tensor values = contiguous(tensor_of(inputs[1]), "searchsorted");
    Buffer buffer =
        allocate_at(values.place(), checked_multiply("searchsorted", values.num_elements(), 8));
    if constexpr (built_with_cuda)
      if (values.place().is_gpu() && buffer.size_bytes() > 0) {
        cuda::search_line(line, values, right, buffer);
        return Tensor(TypeId::kInt64, values.shape(), std::move(buffer));
      }
    if (buffer.size_bytes() > 0)
      cpu::search_line(line.dtype(), line.num_elements() ? line.data() : nullptr,
                       line.num_elements(), values.data(), values.num_elements(), right,
                       buffer.mutable_as<int64_t>());
    return Tensor(TypeId::kInt64, values.shape(), std::move(buffer));
  }

  static auto parameters(auto& self) { return std::tie(self.right); }
};

void check_sortable(const char* op, const NodePtr& array) {
  const Signature& from = array->signature();
  if (from.form != Form::kTensor || !from.dtype.is_number())
    throw_error<TypeMismatchError>(op, "expected an array of real numbers or bools",
                                   {{"dtype", from.dtype.name()}});
}

}  // namespace

NodePtr sort_last_axis(const NodePtr& array, bool descending) {
  check_sortable("sort", array);
  return apply_operator(SortAxis::make(descending), array->signature(), {array});
}

NodePtr argsort_last_axis(const NodePtr& array, bool descending) {
  check_sortable("argsort", array);
  Signature signature = array->signature();
  signature.dtype = TypeId::kInt64;
  return apply_operator(ArgsortAxis::make(descending), std::move(signature), {array});
}

NodePtr search_sorted(const NodePtr& line, const NodePtr& values, bool right) {
  check_sortable("searchsorted", line);
  check_sortable("searchsorted", values);
  Signature signature = values->signature();
  if (line->signature().shape.size() != 1 || line->signature().dtype != signature.dtype)
    throw_error<TypeMismatchError>("searchsorted", "expected one dimension and one dtype",
                                   {{"dimensions", line->signature().shape.size()},
                                    {"dtype", line->signature().dtype.name()},
                                    {"values", signature.dtype.name()}});
  signature.dtype = TypeId::kInt64;
  return apply_operator(SearchSorted::make(right), std::move(signature), {line, values});
}

}  // namespace hr
