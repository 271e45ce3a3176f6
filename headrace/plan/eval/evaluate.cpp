// SPDX-License-Identifier: Apache-2.0
// The fused evaluator: runs a compiled program over morsels.
#include "headrace/plan/eval/evaluate.h"

#include "headrace/algo/bits/blend.h"
#include "headrace/algo/bits/value_width.h"
#include "headrace/algo/reduce/partial_run.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/eval/evaluate_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace hr {

namespace {

using OutputKind = Program::OutputKind;

/// Which rows a mask picks; null: all.
struct Picks {
  const Mask* mask = nullptr;
  std::vector<int64_t> begins{};  // of each morsel
};

/// Everything that the morsels of one evaluation share.
class Run {
 public:
  Run(const Program& program, std::span<const Value> values, const Shape& shape,
      const Picks& picks = {});

  std::vector<Value> results(const std::vector<bool>& partial = {});

 private:
  void run_morsel(const Morsel& morsel, EvaluateBlock& block);
  void store(size_t output, const Morsel& morsel, EvaluateBlock& block);

  const Program& program_;
  const Shape& shape_;
  const Picks& picks_;
  int64_t rows_;
  BoundProgram bound_;
  std::vector<Buffer> out_{};  // by output
  std::vector<std::byte*> out_data_{};
  std::vector<Buffer> out_validity_{};
  std::vector<uint8_t*> out_valid_{};
  std::vector<std::unique_ptr<Reducer>> reducers_{};    // by output
  std::vector<std::vector<ReducePartial>> partials_{};  // by output, by morsel
  std::vector<std::vector<int64_t>> nulls_{};           // by output, by morsel
};

Run::Run(const Program& program, std::span<const Value> values, const Shape& shape,
         const Picks& picks)
    : program_(program),
      shape_(shape),
      picks_(picks),
      rows_(num_elements(shape)),
      bound_(program, values, shape, picks.mask ? picks.mask->num_rows() : -1) {
  std::vector<BufferAccess> accesses = bound_.accesses();
  const size_t outputs = program.outputs().size(), morsels = at(num_morsels(rows_));
  out_.resize(outputs);
  out_data_.resize(outputs);
  out_validity_.resize(outputs);
  out_valid_.resize(outputs);
  reducers_.resize(outputs);
  partials_.resize(outputs);
  nulls_.resize(outputs);
  for (size_t o = 0; o < outputs; ++o) {
    const Program::Output& output = program.outputs()[o];
    const Dtype dtype = program.dtype(output.value);
    if (output.kind == OutputKind::kReduction) {
      reducers_[o] = std::make_unique<Reducer>(output.reduction, dtype, output.options);
      partials_[o].resize(morsels);
      continue;
    }
    const bool as_bits = output.kind == OutputKind::kColumn && dtype.is_bool();
    const int64_t width = dtype.size_bytes();
    out_[o] = Buffer::allocate_spillable(as_bits ? bitmap_bytes(rows_)
                                                 : checked_multiply("evaluate", rows_, width));
    accesses.push_back(as_bits ? writes_bits(out_[o]) : writes(out_[o], width));
    if (rows_ > 0) bound_.set_output(o, out_data_[o] = out_[o].mutable_data());
    if (program.nullable(output.value)) {
      nulls_[o].resize(morsels);
      out_validity_[o] = Buffer::allocate_spillable(bitmap_bytes(rows_));
      accesses.push_back(writes_bits(out_validity_[o]));
      if (rows_ > 0) out_valid_[o] = out_validity_[o].mutable_as<uint8_t>();
    }
  }
  const int64_t workers = std::min<int64_t>(threads(), num_morsels(rows_));
  BlockScratch scratch(workers, bound_.scratch_bytes());
  const auto run = [&](const Morsel& morsel) {
    BlockScratch::Loan loan(scratch);
    EvaluateBlock block = bound_.block(loan.data());
    run_morsel(morsel, block);
  };
  if (!picks_.mask) {
    parallel_morsels(rows_, accesses, run);
    return;
  }
  parallel_morsels(rows_, [&](const Morsel& morsel) {
    std::vector<PinnedRange> ranges = ranges_of(accesses, morsel.begin, morsel.end);
    const auto base = ranges_of(bound_.picked_accesses(), picks_.begins[at(morsel.index)],
                                picks_.begins[at(morsel.index) + 1]);
    ranges.insert(ranges.end(), base.begin(), base.end());
    const Pin pin(ranges);
    run(morsel);
  });
}

void Run::run_morsel(const Morsel& morsel, EvaluateBlock& block) {
  const size_t outputs = program_.outputs().size();
  std::vector<PartialTree> trees;
  std::vector<size_t> tree_of(outputs);
  for (size_t o = 0; o < outputs; ++o)
    if (reducers_[o]) {
      tree_of[o] = trees.size();
      trees.emplace_back(*reducers_[o]);
    }
  std::optional<MaskCursor> cursor;
  if (picks_.mask) cursor.emplace(*picks_.mask, picks_.begins[at(morsel.index)]);
  for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
    const int64_t count = std::min(kBlockRows, morsel.end - row);
    if (cursor) cursor->next(count, block.picked);
    bound_.run(block, row, count);
    for (size_t o = 0; o < outputs; ++o) {
      const int value = program_.outputs()[o].value;
      if (reducers_[o])
        trees[tree_of[o]].push(reducers_[o]->block(block.values[at(value)], block.valid[at(value)],
                                                   block.count, block.row));
      else
        store(o, morsel, block);
    }
  }
  for (size_t o = 0; o < outputs; ++o)
    if (reducers_[o]) partials_[o][at(morsel.index)] = trees[tree_of[o]].total();
}

void Run::store(size_t o, const Morsel& morsel, EvaluateBlock& block) {
  const Program::Output& output = program_.outputs()[o];
  const size_t v = at(output.value);
  const std::byte* values = block.values[v];
  const uint64_t* valid = block.valid[v];
  const Dtype dtype = program_.dtype(output.value);
  uint64_t masks[kBlockWords];
  if (out_valid_[o]) {
    int64_t count = 0;
    for (int64_t i = 0; i < block.count; i += 64) {
      const int64_t rest = block.count - i;
      const uint64_t inside = rest < 64 ? (uint64_t{1} << rest) - 1 : ~uint64_t{0};
      masks[i / 64] = (valid ? valid[i / 64] : ~uint64_t{0}) & inside;
      count += std::popcount(masks[i / 64]);
    }
    // whole words: the padding of the buffer takes the last one's end
    std::memcpy(out_valid_[o] + block.row / 8, masks,
                static_cast<size_t>((block.count + 63) / 64 * 8));
    nulls_[o][at(morsel.index)] += block.count - count;
  }
  if (output.kind == OutputKind::kColumn && dtype.is_bool()) {
    uint64_t words[kBlockWords];
    cpu::pack_bits(reinterpret_cast<const uint8_t*>(values), words, block.count);
    if (out_valid_[o])
      for (int64_t i = 0; i < (block.count + 63) / 64; ++i) words[i] &= masks[i];
    std::memcpy(out_data_[o] + block.row / 8, words,
                static_cast<size_t>((block.count + 63) / 64 * 8));
    return;
  }
  if (bound_.writes_directly(o)) return;
  const int64_t width = dtype.size_bytes();
  std::byte* out = out_data_[o] + block.row * width;
  if (!valid) {
    std::memcpy(out, values, static_cast<size_t>(block.count * width));
    return;
  }
  visit_width(dtype.size_bytes(), [&]<class T>(std::type_identity<T>) {
    const T* x = reinterpret_cast<const T*>(values);
    T* z = reinterpret_cast<T*>(out);
    blend(x, masks, block.count, [](int64_t) { return T{}; }, z);  // null slots are zero
  });
}

std::vector<Value> Run::results(const std::vector<bool>& partial) {
  std::vector<Value> results;
  for (size_t o = 0; o < program_.outputs().size(); ++o) {
    const Program::Output& output = program_.outputs()[o];
    const Dtype dtype = program_.dtype(output.value);
    if (output.kind == OutputKind::kReduction && !partial.empty() && partial[o]) {
      results.emplace_back(PartialRows{rows_, morsel_rows(rows_), std::move(partials_[o])}.bytes());
    } else if (output.kind == OutputKind::kReduction) {
      PartialTree tree(*reducers_[o]);
      for (const ReducePartial& each : partials_[o]) tree.push(each);
      results.emplace_back(reducers_[o]->finish(tree.total()));
    } else if (output.kind == OutputKind::kTensor) {
      results.emplace_back(Tensor(dtype, shape_, std::move(out_[o])));
    } else {
      int64_t nulls = 0;
      for (const int64_t count : nulls_[o]) nulls += count;
      Buffer validity = nulls > 0 ? std::move(out_validity_[o]) : Buffer();
      results.emplace_back(Column(dtype, rows_, std::move(out_[o]), std::move(validity), nulls));
    }
  }
  return results;
}

bool any_on_gpu(std::span<const Value> inputs) {
  bool found = false;
  for (const Value& input : inputs) {
    const auto* const column = std::get_if<Column>(&input);
    if (column && column->num_rows() == 0 && column->place().is_host()) continue;  // text alone
    for_each_buffer(input, [&](const Buffer& buffer) { found |= buffer.place().is_gpu(); });
  }
  return found;
}

}  // namespace

std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                            const Shape& shape) {
  if constexpr (built_with_cuda)
    if (any_on_gpu(inputs))
      if (const std::string why = cuda::why_unsupported(program, inputs, shape); !why.empty())
        throw_error<UnsupportedError>("evaluate", why, {}, "move the values first: x.to('cpu')");
  return evaluate_supported(program, inputs, shape);
}

std::vector<Value> evaluate_supported(const Program& program, std::span<const Value> inputs,
                                      const Shape& shape, const std::vector<bool>& partial) {
  if constexpr (built_with_cuda)
    if (any_on_gpu(inputs)) return cuda::evaluate(program, inputs, shape, partial);
  return Run(program, inputs, shape).results(partial);
}

Tensor PartialRows::bytes() const {
  const auto size = static_cast<int64_t>(partials.size() * sizeof(ReducePartial));
  Buffer made = Buffer::allocate(16 + size);
  std::byte* const out = made.mutable_data();
  std::memcpy(out, &rows, 8);
  std::memcpy(out + 8, &step, 8);
  if (size > 0) std::memcpy(out + 16, partials.data(), static_cast<size_t>(size));
  return Tensor(TypeId::kUInt8, {16 + size}, std::move(made));
}

PartialRows PartialRows::of(const Tensor& bytes) {
  PartialRows made;
  const std::byte* const from = bytes.data();
  std::memcpy(&made.rows, from, 8);
  std::memcpy(&made.step, from + 8, 8);
  const auto size = static_cast<size_t>(bytes.num_elements() - 16);
  made.partials.resize(size / sizeof(ReducePartial));
  if (size > 0) std::memcpy(made.partials.data(), from + 16, size);
  return made;
}

Scalar reduce_partials(std::span<const PartialRows> pieces, Aggregate reduction, Dtype dtype,
                       const ReduceOptions& options) {
  const Reducer reducer(reduction, dtype, options);
  int64_t unit = INT64_MAX;
  for (const PartialRows& piece : pieces)
    if (piece.rows > 0) unit = std::min(unit, piece.step);
  PartialRun run(reducer, 0);
  int64_t first = 0;
  for (const PartialRows& piece : pieces) {
    if (piece.rows == 0) continue;
    const int level = std::bit_width(static_cast<uint64_t>(piece.step / unit)) - 1;
    for (ReducePartial partial : piece.partials) {
      if (partial.index >= 0) partial.index += first;
      run.push(PartialRun::Part{level, partial});
    }
    first += piece.rows;
  }
  return reducer.finish(run.total());
}

std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                            const Mask& mask) {
  const auto is_base = [&](const Value& value) {
    return signature_of(value).rows() == mask.num_rows();
  };
  std::vector<Value> values(inputs.begin(), inputs.end());
  if (any_on_gpu(inputs)) {
    int64_t rows = kUnknown;
    for (Value& value : values) {
      if (!is_base(value)) continue;
      value = filter(value, mask);
      rows = signature_of(value).rows();
    }
    if (rows == kUnknown) rows = mask.positions().num_elements();
    return evaluate_supported(program, values, Shape{rows});
  }
  for (Value& value : values)
    if (const auto* tensor = std::get_if<Tensor>(&value); tensor && is_base(value))
      value = contiguous(*tensor, "getitem");
  const std::vector<int64_t> offsets = mask_offsets(mask);
  const int64_t rows = offsets.back();
  if (rows == mask.num_rows()) return Run(program, values, Shape{rows}).results();
  return Run(program, values, Shape{rows}, {&mask, picked_begins(mask, offsets, morsel_rows(rows))})
      .results();
}

std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs, int64_t rows) {
  return evaluate(program, inputs, Shape{rows});
}

std::string why_unsupported(const Program& program, std::span<const Value> inputs,
                            const Shape& shape) {
  if constexpr (built_with_cuda) return cuda::why_unsupported(program, inputs, shape);
  return "this build has no kernel for CUDA";
}

}  // namespace hr
