// SPDX-License-Identifier: Apache-2.0
// Checks of the parts of a sparse matrix.
#include "headrace/data/sparse.h"

#include "headrace/base/error.h"
#include "headrace/data/device.h"

namespace hr {
namespace {

constexpr const char* kOp = "csr_matrix";

void check_part(std::string_view name, const Tensor& part, bool index) {
  const Dtype dtype = part.dtype();
  const bool fits = index ? dtype == dtype_of<int32_t>() || dtype == dtype_of<int64_t>()
                          : dtype == dtype_of<float>() || dtype == dtype_of<double>() ||
                                dtype == dtype_of<int64_t>();
  if (!fits)
    throw_error<TypeMismatchError>(kOp, "no dtype of this part",
                                   {{"part", name}, {"dtype", dtype.name()}},
                                   index ? "use int32 or int64" : "use float32, float64 or int64");
  if (part.num_dimensions() != 1 || !part.is_contiguous())
    throw_error<InvalidArgumentError>(kOp, "a part is not contiguous with one dimension",
                                      {{"part", name}, {"dimensions", part.num_dimensions()}});
  check_on_host(kOp, part.place());
}

Tensor first_pointer() {
  Buffer zero = Buffer::allocate(static_cast<int64_t>(sizeof(int64_t)));
  *zero.mutable_as<int64_t>() = 0;
  return Tensor(dtype_of<int64_t>(), {1}, std::move(zero));
}

}  // namespace

Sparse::Sparse()
    : indptr_(first_pointer()),
      indices_(dtype_of<int64_t>(), {0}, Buffer()),
      pointers_(indptr_.data()) {}

Sparse::Sparse(int64_t rows, int64_t columns, Tensor indptr, Tensor indices, Tensor data)
    : rows_(rows),
      columns_(columns),
      indptr_(std::move(indptr)),
      indices_(std::move(indices)),
      data_(std::move(data)),
      pointers_(indptr_.data()),
      wide_(indptr_.dtype() == dtype_of<int64_t>()) {
  check_part("indptr", indptr_, true);
  check_part("indices", indices_, true);
  check_part("data", data_, false);
  if (rows < 0 || columns < 0 || indptr_.num_elements() - 1 != rows)
    throw_error<InvalidArgumentError>(
        kOp, "indptr must have one element more than there are rows",
        {{"rows", rows}, {"columns", columns}, {"indptr", indptr_.num_elements()}});
  const int64_t begin = row_begin(0), end = row_begin(rows);
  if (indices_.num_elements() != data_.num_elements() || begin < 0 || end < begin ||
      end > indices_.num_elements())
    throw_error<InvalidArgumentError>(kOp, "indices and data do not have the entries of indptr",
                                      {{"indices", indices_.num_elements()},
                                       {"data", data_.num_elements()},
                                       {"first", begin},
                                       {"end", end}});
}

Tensor Sparse::entries_of(const Tensor& part) const {
  return Tensor(part.dtype(), {num_entries()}, part.buffer(),
                part.byte_offset() + row_begin(0) * part.dtype().size_bytes());
}

Sparse Sparse::with_data(Tensor data) const {
  return Sparse(rows_, columns_, indptr_, indices_, std::move(data));
}

Sparse Sparse::slice(int64_t begin, int64_t count) const {
  const int64_t width = indptr_.dtype().size_bytes();
  Tensor pointers(indptr_.dtype(), {count + 1}, indptr_.buffer(),
                  indptr_.byte_offset() + begin * width);
  return Sparse(count, columns_, std::move(pointers), indices_, data_);
}

}  // namespace hr
