// SPDX-License-Identifier: Apache-2.0
// The fused evaluator: runs a compiled program over morsels.
#include "headrace/plan/evaluate.h"

#include "headrace/algo/vmath.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/data/touch.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/evaluate_compile.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

namespace hr {

namespace {

using Node = Program::Node;
using OutputKind = Program::OutputKind;

constexpr int64_t kWords = kBlockRows / 64;
constexpr int64_t kRegisterBytes = kBlockRows * 8;

size_t at(int64_t value) {
  return static_cast<size_t>(value);
}

/// Registers of one worker.
struct Scratch {
  Buffer buffer;
  std::byte* registers = nullptr;
};

/// Everything that the morsels of one evaluation share.
class Run {
 public:
  Run(const Program& program, std::span<const Value> values, const Shape& shape);

  std::vector<Value> results();

 private:
  struct Block {
    int64_t row;
    int64_t count;
    std::byte* registers;
    std::vector<const std::byte*> values;
    std::vector<const uint64_t*> valid;
    std::vector<uint64_t> words;  // kWords for each value that may hold nulls
  };

  void bind(const Node& node, const Value& value);
  void run_morsel(const Morsel& morsel, Block& block);
  void load(Block& block) const;
  void run_step(const EvaluateStep& step, Block& block);
  void check_exponents(const EvaluateStep& step, const Block& block) const;
  void fill_null(const EvaluateStep& step, Block& block, std::byte* out) const;
  void set_validity(const EvaluateStep& step, Block& block) const;
  void store(size_t output, Block& block);
  std::byte* home(int value, const Block& block) const;

  const Program& program_;
  const Shape& shape_;
  int64_t rows_;
  std::vector<EvaluateInput> inputs_;  // by input number
  std::vector<Touch> touches_;
  std::vector<bool> needed_;
  std::vector<int64_t> words_of_;  // by value: where its validity lies in Block::words
  int64_t num_words_ = 0;
  CompiledProgram compiled_;
  Buffer once_;
  std::vector<const std::byte*> once_of_;  // by value
  std::vector<Buffer> out_;                // by output
  std::vector<std::byte*> out_data_;
  std::vector<Buffer> out_validity_;
  std::vector<uint8_t*> out_valid_;
  std::vector<std::unique_ptr<Reducer>> reducers_;    // by output
  std::vector<std::vector<ReducePartial>> partials_;  // by output, by morsel
  std::vector<std::vector<int64_t>> nulls_;           // by output, by morsel
  std::vector<Scratch> scratch_;
  std::mutex mutex_;
};

Run::Run(const Program& program, std::span<const Value> values, const Shape& shape)
    : program_(program), shape_(shape), rows_(num_elements(shape)) {
  if (static_cast<int>(values.size()) < program.num_inputs())
    throw_error<InvalidArgumentError>(
        "evaluate", "inputs are missing",
        {{"inputs", values.size()}, {"expected", program.num_inputs()}});
  inputs_.resize(at(program.num_inputs()));
  needed_ = needed_values(program);
  for (size_t v = 0; v < program.nodes().size(); ++v)
    if (const Node& node = program.nodes()[v]; needed_[v] && node.op == Op::kInput)
      bind(node, values[at(node.input)]);
  words_of_.resize(program.nodes().size());
  for (size_t v = 0; v < program.nodes().size(); ++v)
    if (program.nodes()[v].nullable) {
      words_of_[v] = num_words_;
      num_words_ += kWords;
    }
  compiled_ = compile(program, inputs_);

  once_of_.assign(program.nodes().size(), nullptr);
  once_ = Buffer::allocate(static_cast<int64_t>(compiled_.once.size()) * kRegisterBytes);
  std::byte* next = compiled_.once.empty() ? nullptr : once_.mutable_data();
  for (const int v : compiled_.once) {
    const Node& node = program.nodes()[at(v)];
    broadcast(node.op == Op::kConstant ? node.constant : inputs_[at(node.input)].once, node.dtype,
              next, kBlockRows);
    once_of_[at(v)] = next;
    next += kRegisterBytes;
  }

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
    out_[o] = Buffer::allocate_paged(as_bits ? bitmap_bytes(rows_)
                                             : checked_multiply("evaluate", rows_, width));
    touches_.push_back(as_bits ? writes_bits(out_[o]) : writes(out_[o], width));
    if (rows_ > 0) out_data_[o] = out_[o].mutable_data();
    if (program.nullable(output.value)) {
      nulls_[o].resize(morsels);
      out_validity_[o] = Buffer::allocate_paged(bitmap_bytes(rows_));
      touches_.push_back(writes_bits(out_validity_[o]));
      if (rows_ > 0) out_valid_[o] = out_validity_[o].mutable_as<uint8_t>();
    }
  }
  const int64_t workers = std::min<int64_t>(threads(), num_morsels(rows_));
  for (int64_t w = 0; w < workers; ++w) {
    Scratch scratch;
    scratch.buffer = Buffer::allocate(compiled_.num_registers * kRegisterBytes);
    if (compiled_.num_registers > 0) scratch.registers = scratch.buffer.mutable_data();
    scratch_.push_back(std::move(scratch));
  }

  parallel_morsels(rows_, touches_, [&](const Morsel& morsel) {
    Scratch scratch;
    {
      const std::lock_guard lock(mutex_);
      scratch = std::move(scratch_.back());
      scratch_.pop_back();
    }
    struct Return {
      Run& run;
      Scratch& scratch;
      ~Return() {
        const std::lock_guard lock(run.mutex_);
        run.scratch_.push_back(std::move(scratch));
      }
    } give_back{*this, scratch};
    const size_t nodes = program_.nodes().size();
    Block block{0,
                0,
                scratch.registers,
                std::vector<const std::byte*>(nodes),
                std::vector<const uint64_t*>(nodes),
                std::vector<uint64_t>(at(num_words_))};
    run_morsel(morsel, block);
  });
}

void Run::bind(const Node& node, const Value& value) {
  for_each_buffer(value, [](const Buffer& buffer) { check_on_host("evaluate", buffer.place()); });
  EvaluateInput& input = inputs_[at(node.input)] = bind_input(node, value, shape_, rows_);
  if (input.source != InputSource::kPointer && input.source != InputSource::kBits) return;
  if (const auto* column = std::get_if<Column>(&value))
    touches_.push_back(reads(*column));
  else
    touches_.push_back(reads(std::get<Tensor>(value)));
}

void Run::run_morsel(const Morsel& morsel, Block& block) {
  const size_t outputs = program_.outputs().size();
  std::vector<PartialTree> trees;
  std::vector<size_t> tree_of(outputs);
  for (size_t o = 0; o < outputs; ++o)
    if (reducers_[o]) {
      tree_of[o] = trees.size();
      trees.emplace_back(*reducers_[o]);
    }
  for (block.row = morsel.begin; block.row < morsel.end; block.row += kBlockRows) {
    block.count = std::min(kBlockRows, morsel.end - block.row);
    load(block);
    for (const EvaluateStep& step : compiled_.steps) run_step(step, block);
    for (size_t o = 0; o < outputs; ++o) {
      const int value = program_.outputs()[o].value;
      if (reducers_[o])
        trees[tree_of[o]].push(reducers_[o]->block(block.values[at(value)], block.valid[at(value)],
                                                   block.count, block.row));
      else
        store(o, block);
    }
  }
  for (size_t o = 0; o < outputs; ++o)
    if (reducers_[o]) partials_[o][at(morsel.index)] = trees[tree_of[o]].total();
}

std::byte* Run::home(int value, const Block& block) const {
  if (const int o = compiled_.output_of[at(value)]; o >= 0)
    return out_data_[at(o)] + block.row * program_.dtype(value).size_bytes();
  return block.registers + compiled_.register_of[at(value)] * kRegisterBytes;
}

void Run::load(Block& block) const {
  for (size_t v = 0; v < program_.nodes().size(); ++v) {
    const Node& node = program_.nodes()[v];
    if (!needed_[v] || !is_leaf(node)) continue;
    uint64_t* words = block.words.data() + words_of_[v];
    if (once_of_[v]) {
      block.values[v] = once_of_[v];
      const Scalar& value = node.op == Op::kConstant ? node.constant : inputs_[at(node.input)].once;
      if (node.nullable) {
        std::fill_n(words, kWords, value.is_null() ? 0 : ~uint64_t{0});
        block.valid[v] = words;
      }
      continue;
    }
    const EvaluateInput& input = inputs_[at(node.input)];
    switch (input.source) {
      case InputSource::kPointer:
        block.values[v] = input.data + block.row * input.dtype.size_bytes();
        break;
      case InputSource::kBits: {
        std::byte* out = home(static_cast<int>(v), block);
        cpu::unpack_bits(input.bits, input.bit_offset + block.row, reinterpret_cast<uint8_t*>(out),
                         block.count);
        block.values[v] = out;
        break;
      }
      default: {
        std::byte* out = home(static_cast<int>(v), block);
        visit_width(input.dtype, [&]<class T>(std::type_identity<T>) {
          read_strided(input, shape_, block.row, block.count, reinterpret_cast<T*>(out));
        });
        block.values[v] = out;
      }
    }
    block.valid[v] = nullptr;
    if (input.validity) {
      for (int64_t i = 0; i < block.count; i += 64)
        words[i / 64] = load_bits(input.validity, input.validity_offset + block.row + i,
                                  std::min<int64_t>(64, block.count - i));
      block.valid[v] = words;
    }
  }
}

void Run::run_step(const EvaluateStep& step, Block& block) {
  const std::byte* operands[3] = {};
  for (int k = 0; k < 3; ++k)
    if (step.operands[k] >= 0) operands[k] = block.values[at(step.operands[k])];
  std::byte* out = home(step.out, block);
  set_validity(step, block);
  if (step.second_out >= 0) {
    std::byte* second = home(step.second_out, block);
    vector_sin_cos(reinterpret_cast<const double*>(operands[0]), reinterpret_cast<double*>(out),
                   reinterpret_cast<double*>(second), block.count);
    block.values[at(step.second_out)] = second;
    block.valid[at(step.second_out)] = block.valid[at(step.out)];
  } else if (step.op == Op::kIsNull) {
    const uint64_t* valid = block.valid[at(step.operands[0])];
    for (int64_t i = 0; i < block.count; ++i)
      reinterpret_cast<uint8_t*>(out)[i] = valid && !((valid[i >> 6] >> (i & 63)) & 1);
  } else if (step.op == Op::kFillNull) {
    fill_null(step, block, out);
  } else {
    if (step.op == Op::kPower && step.dtype.is_signed()) check_exponents(step, block);
    step.kernel(operands[0], operands[1], operands[2], out, block.count);
  }
  block.values[at(step.out)] = out;
}

void Run::check_exponents(const EvaluateStep& step, const Block& block) const {
  const uint64_t* valid = block.valid[at(step.out)];
  visit_real(step.dtype, [&]<class T>(std::type_identity<T>) {
    const T* exponents = reinterpret_cast<const T*>(block.values[at(step.operands[1])]);
    for (int64_t i = 0; i < block.count; ++i)
      if (exponents[i] < 0 && (!valid || ((valid[i >> 6] >> (i & 63)) & 1)))
        throw_error<InvalidArgumentError>("power", "an integer to a negative integer power",
                                          {{"row", block.row + i}}, "cast the base to float64");
  });
}

void Run::fill_null(const EvaluateStep& step, Block& block, std::byte* out) const {
  const uint64_t* valid = block.valid[at(step.operands[0])];
  visit_width(step.dtype, [&]<class T>(std::type_identity<T>) {
    const T* x = reinterpret_cast<const T*>(block.values[at(step.operands[0])]);
    const T* fill = reinterpret_cast<const T*>(block.values[at(step.operands[1])]);
    T* z = reinterpret_cast<T*>(out);
    for (int64_t i = 0; i < block.count; ++i)
      z[i] = !valid || ((valid[i >> 6] >> (i & 63)) & 1) ? x[i] : fill[i];
  });
}

// The low bits of up to 64 bytes 0 or 1, from value i on.
uint64_t truth(const std::byte* bytes, int64_t i, int64_t count) {
  uint64_t words[1];
  cpu::pack_bits(reinterpret_cast<const uint8_t*>(bytes) + i, words,
                 std::min<int64_t>(64, count - i));
  return words[0];
}

void Run::set_validity(const EvaluateStep& step, Block& block) const {
  block.valid[at(step.out)] = nullptr;
  const uint64_t* valid[3] = {};
  bool any = false;
  for (int k = 0; k < 3; ++k)
    if (step.operands[k] >= 0) {
      valid[k] = block.valid[at(step.operands[k])];
      any |= valid[k] != nullptr;
    }
  if (!any || !program_.nullable(step.out)) return;
  uint64_t* out = block.words.data() + words_of_[at(step.out)];
  const auto word = [&](int k, int64_t i) { return valid[k] ? valid[k][i / 64] : ~uint64_t{0}; };
  const auto value = [&](int k, int64_t i) {
    return truth(block.values[at(step.operands[k])], i, block.count);
  };
  const bool on_bools = program_.dtype(step.out).is_bool();
  for (int64_t i = 0; i < block.count; i += 64) {
    const uint64_t a = word(0, i), b = word(1, i), c = word(2, i);
    uint64_t& result = out[i / 64];
    if (step.op == Op::kFillNull)
      result = a | b;
    else if (step.op == Op::kWhere)
      result = a & ((value(0, i) & b) | (~value(0, i) & c));
    else if (step.op == Op::kLogicalAnd || (step.op == Op::kBitwiseAnd && on_bools))
      result = (a & b) | (a & ~value(0, i)) | (b & ~value(1, i));  // Kleene: a false decides
    else if (step.op == Op::kLogicalOr || (step.op == Op::kBitwiseOr && on_bools))
      result = (a & b) | (a & value(0, i)) | (b & value(1, i));  // a true decides
    else
      result = a & b & c;
  }
  block.valid[at(step.out)] = out;
}

void Run::store(size_t o, Block& block) {
  const Program::Output& output = program_.outputs()[o];
  const size_t v = at(output.value);
  const std::byte* values = block.values[v];
  const uint64_t* valid = block.valid[v];
  const Dtype dtype = program_.dtype(output.value);
  uint64_t masks[kWords];
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
    nulls_[o][at(block.row / kMorselRows)] += block.count - count;
  }
  if (output.kind == OutputKind::kColumn && dtype.is_bool()) {
    uint64_t words[kWords];
    cpu::pack_bits(reinterpret_cast<const uint8_t*>(values), words, block.count);
    if (out_valid_[o])
      for (int64_t i = 0; i < (block.count + 63) / 64; ++i) words[i] &= masks[i];
    std::memcpy(out_data_[o] + block.row / 8, words,
                static_cast<size_t>((block.count + 63) / 64 * 8));
    return;
  }
  if (compiled_.output_of[v] == static_cast<int>(o)) return;
  const int64_t width = dtype.size_bytes();
  std::byte* out = out_data_[o] + block.row * width;
  if (!valid) {
    std::memcpy(out, values, static_cast<size_t>(block.count * width));
    return;
  }
  visit_width(dtype, [&]<class T>(std::type_identity<T>) {
    const T* x = reinterpret_cast<const T*>(values);
    T* z = reinterpret_cast<T*>(out);
    for (int64_t i = 0; i < block.count; ++i)  // null slots are zero
      z[i] = (masks[i >> 6] >> (i & 63)) & 1 ? x[i] : T{0};
  });
}

std::vector<Value> Run::results() {
  std::vector<Value> results;
  for (size_t o = 0; o < program_.outputs().size(); ++o) {
    const Program::Output& output = program_.outputs()[o];
    const Dtype dtype = program_.dtype(output.value);
    if (output.kind == OutputKind::kReduction) {
      PartialTree tree(*reducers_[o]);
      for (const ReducePartial& partial : partials_[o]) tree.push(partial);
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

[[maybe_unused]] bool any_on_gpu(std::span<const Value> inputs) {
  bool found = false;
  for (const Value& input : inputs)
    for_each_buffer(input, [&](const Buffer& buffer) { found |= buffer.place().is_gpu(); });
  return found;
}

}  // namespace

std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                            const Shape& shape) {
  if constexpr (built_with_cuda)
    if (any_on_gpu(inputs)) return cuda::evaluate(program, inputs, shape);
  return Run(program, inputs, shape).results();
}

std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs, int64_t rows) {
  return evaluate(program, inputs, Shape{rows});
}

}  // namespace hr
