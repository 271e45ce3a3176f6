// SPDX-License-Identifier: Apache-2.0
// A program bound to its inputs: block after block of rows.
#include "headrace/plan/eval/evaluate_block.h"

#include "headrace/algo/bits/blend.h"
#include "headrace/algo/bits/value_width.h"
#include "headrace/algo/math/vmath.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace hr {

namespace {

using Node = Program::Node;

bool is_picked(const EvaluateInput& input) {
  return input.source == InputSource::kPicked || input.source == InputSource::kPickedBits;
}

}  // namespace

BoundProgram::BoundProgram(const Program& program, std::span<const Value> values, Shape shape,
                           int64_t picked_from)
    : program_(program),
      shape_(std::move(shape)),
      rows_(num_elements(shape_)),
      picked_from_(picked_from) {
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
      num_words_ += kBlockWords;
    }
  compiled_ = compile(program, inputs_);
  out_data_.resize(program.outputs().size());

  once_of_.assign(program.nodes().size(), nullptr);
  once_ = Buffer::allocate(static_cast<int64_t>(compiled_.once.size()) * kRegisterBytes);
  std::byte* next = compiled_.once.empty() ? nullptr : once_.mutable_data();
  const int64_t filled = std::min(kBlockRows, round_up(rows_, 64));  // kernels read whole vectors
  for (const int v : compiled_.once) {
    const Node& node = program.nodes()[at(v)];
    broadcast(node.op == Op::kConstant ? node.constant : inputs_[at(node.input)].once, node.dtype,
              next, filled);
    once_of_[at(v)] = next;
    next += kRegisterBytes;
  }
}

void BoundProgram::bind(const Node& node, const Value& value) {
  for_each_buffer(value, [](const Buffer& buffer) { check_on_host("evaluate", buffer.place()); });
  const bool is_picked = signature_of(value).rows() == picked_from_;
  EvaluateInput& input = inputs_[at(node.input)] =
      is_picked ? bind_input(node, value, Shape{picked_from_}, picked_from_)
                : bind_input(node, value, shape_, rows_);
  if (input.source != InputSource::kPointer && input.source != InputSource::kBits) return;
  std::vector<BufferAccess>& accesses = is_picked ? picked_accesses_ : accesses_;
  if (const auto* column = std::get_if<Column>(&value))
    accesses.push_back(reads(*column));
  else
    accesses.push_back(reads(std::get<Tensor>(value)));
  if (is_picked)
    input.source =
        input.source == InputSource::kBits ? InputSource::kPickedBits : InputSource::kPicked;
}

EvaluateBlock BoundProgram::block(std::byte* registers) const {
  const size_t nodes = program_.nodes().size();
  return {0,
          0,
          registers,
          {},
          std::vector<const std::byte*>(nodes),
          std::vector<const uint64_t*>(nodes),
          std::vector<uint64_t>(at(num_words_))};
}

void BoundProgram::run(EvaluateBlock& block, int64_t row, int64_t count) const {
  block.row = row;
  block.count = count;
  load(block);
  for (const EvaluateStep& step : compiled_.steps) run_step(step, block);
}

std::byte* BoundProgram::home(int value, const EvaluateBlock& block) const {
  if (const int o = compiled_.output_of[at(value)]; o >= 0)
    return out_data_[at(o)] + block.row * program_.dtype(value).size_bytes();
  return block.registers + compiled_.register_of[at(value)] * kRegisterBytes;
}

void BoundProgram::load(EvaluateBlock& block) const {
  for (size_t v = 0; v < program_.nodes().size(); ++v) {
    const Node& node = program_.nodes()[v];
    if (!needed_[v] || !is_leaf(node)) continue;
    uint64_t* words = block.words.data() + words_of_[v];
    if (once_of_[v]) {
      block.values[v] = once_of_[v];
      const Scalar& value = node.op == Op::kConstant ? node.constant : inputs_[at(node.input)].once;
      if (node.nullable) {
        std::fill_n(words, kBlockWords, value.is_null() ? 0 : ~uint64_t{0});
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
      case InputSource::kPicked:
      case InputSource::kPickedBits: {
        std::byte* out = home(static_cast<int>(v), block);
        load_picked(input, block, out);
        block.values[v] = out;
        break;
      }
      default: {
        std::byte* out = home(static_cast<int>(v), block);
        visit_width(input.dtype.size_bytes(), [&]<class T>(std::type_identity<T>) {
          read_strided(input, shape_, block.row, block.count, reinterpret_cast<T*>(out));
        });
        block.values[v] = out;
      }
    }
    block.valid[v] = nullptr;
    if (input.validity) {
      block.valid[v] = words;
      if (is_picked(input)) {
        copy_picked_bits(input.validity, input.validity_offset, picked_from_, block.picked, words);
        continue;
      }
      for (int64_t i = 0; i < block.count; i += 64)
        words[i / 64] = load_bits(input.validity, input.validity_offset + block.row + i,
                                  std::min<int64_t>(64, block.count - i));
    }
  }
}

void BoundProgram::load_picked(const EvaluateInput& input, EvaluateBlock& block,
                               std::byte* out) const {
  if (input.source == InputSource::kPicked) {
    copy_picked(input.data, input.dtype.size_bytes(), block.picked, out);
    return;
  }
  uint64_t words[kBlockWords];
  copy_picked_bits(input.bits, input.bit_offset, picked_from_, block.picked, words);
  cpu::unpack_bits(reinterpret_cast<const uint8_t*>(words), 0, reinterpret_cast<uint8_t*>(out),
                   block.count);
}

void BoundProgram::run_step(const EvaluateStep& step, EvaluateBlock& block) const {
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
    auto* const nulls = reinterpret_cast<uint8_t*>(out);
    if (!valid) std::memset(nulls, 0, static_cast<size_t>(block.count));
    for (int64_t i = 0; valid && i < block.count; i += 8) {
      const uint64_t bytes = bytes_of_bits(~valid[i >> 6] >> (i & 63));
      std::memcpy(nulls + i, &bytes, static_cast<size_t>(std::min<int64_t>(8, block.count - i)));
    }
  } else if (step.op == Op::kFillNull) {
    fill_null(step, block, out);
  } else {
    if (step.op == Op::kPower && step.dtype.is_signed()) check_exponents(step, block);
    step.kernel(operands[0], operands[1], operands[2], out, block.count);
  }
  block.values[at(step.out)] = out;
}

void BoundProgram::check_exponents(const EvaluateStep& step, const EvaluateBlock& block) const {
  const uint64_t* valid = block.valid[at(step.out)];
  visit_real(step.dtype, [&]<class T>(std::type_identity<T>) {
    const T* exponents = reinterpret_cast<const T*>(block.values[at(step.operands[1])]);
    for (int64_t i = 0; i < block.count; ++i)
      if (exponents[i] < 0 && (!valid || ((valid[i >> 6] >> (i & 63)) & 1)))
        throw_error<InvalidArgumentError>("power",
                                          "integers to negative integer powers are not supported",
                                          {{"row", block.row + i}}, "cast the base to float64");
  });
}

void BoundProgram::fill_null(const EvaluateStep& step, EvaluateBlock& block, std::byte* out) const {
  const uint64_t* valid = block.valid[at(step.operands[0])];
  visit_width(step.dtype.size_bytes(), [&]<class T>(std::type_identity<T>) {
    const T* x = reinterpret_cast<const T*>(block.values[at(step.operands[0])]);
    const T* fill = reinterpret_cast<const T*>(block.values[at(step.operands[1])]);
    T* z = reinterpret_cast<T*>(out);
    if (valid)
      blend(x, valid, block.count, [fill](int64_t i) { return fill[i]; }, z);
    else
      std::copy(x, x + block.count, z);
  });
}

// The low bits of up to 64 bytes 0 or 1, from value i on.
uint64_t truth(const std::byte* bytes, int64_t i, int64_t count) {
  uint64_t words[1];
  cpu::pack_bits(reinterpret_cast<const uint8_t*>(bytes) + i, words,
                 std::min<int64_t>(64, count - i));
  return words[0];
}

void BoundProgram::set_validity(const EvaluateStep& step, EvaluateBlock& block) const {
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

BlockScratch::BlockScratch(int64_t workers, int64_t bytes) {
  for (int64_t w = 0; w < workers; ++w) free_.push_back(Buffer::allocate(bytes));
}

BlockScratch::Loan::Loan(BlockScratch& scratch) : scratch_(scratch) {
  const std::lock_guard lock(scratch_.mutex_);
  buffer_ = std::move(scratch_.free_.back());
  scratch_.free_.pop_back();
}

BlockScratch::Loan::~Loan() {
  const std::lock_guard lock(scratch_.mutex_);
  scratch_.free_.push_back(std::move(buffer_));
}

}  // namespace hr
