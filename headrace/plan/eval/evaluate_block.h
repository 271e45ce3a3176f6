// SPDX-License-Identifier: Apache-2.0
// A program bound to its inputs, for those who want its values block after block.
#pragma once
#include "headrace/algo/select/mask_cursor.h"
#include "headrace/base/api.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/eval/evaluate_compile.h"

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace hr {

inline constexpr int64_t kBlockWords = kBlockRows / 64;  ///< of one bit per row

/// Where the values of one block of rows lie; of one worker.
struct EvaluateBlock {
  int64_t row = 0;
  int64_t count = 0;
  std::byte* registers = nullptr;
  PickedRows picked{};                     ///< where a mask picks the rows
  std::vector<const std::byte*> values{};  ///< by value of the program; bools are bytes 0 or 1
  std::vector<const uint64_t*> valid{};    ///< by value: one bit per row; null: all are valid
  std::vector<uint64_t> words{};           ///< behind `valid`
};

class HR_API BoundProgram {
 public:
  static constexpr int64_t kRegisterBytes = kBlockRows * 8;

  /// Takes the program by reference. `picked_from`: rows from which a mask picks `shape`; inputs
  /// with as many rows are read there, through `picked` of a block; -1: there is no mask. Throws as
  /// `evaluate` says.
  BoundProgram(const Program& program, std::span<const Value> values, Shape shape,
               int64_t picked_from = -1);

  /// What the rows read of the inputs.
  const std::vector<BufferAccess>& accesses() const { return accesses_; }

  /// What the rows that a mask picks from read.
  const std::vector<BufferAccess>& picked_accesses() const { return picked_accesses_; }

  /// Of the registers that a worker needs.
  int64_t scratch_bytes() const { return compiled_.num_registers * kRegisterBytes; }

  EvaluateBlock block(std::byte* registers) const;

  /// Evaluates rows [row, row + count), at most kBlockRows: what `values` of the block point to
  /// then lies in inputs, registers or outputs.
  void run(EvaluateBlock& block, int64_t row, int64_t count) const;

  /// Where row 0 of an output lies that a step may write directly; see `writes_directly`.
  void set_output(size_t output, std::byte* data) { out_data_[output] = data; }

  bool writes_directly(size_t output) const {
    const auto value = static_cast<size_t>(program_.outputs()[output].value);
    return compiled_.output_of[value] == static_cast<int>(output);
  }

 private:
  void bind(const Program::Node& node, const Value& value);
  void load(EvaluateBlock& block) const;
  void load_picked(const EvaluateInput& input, EvaluateBlock& block, std::byte* out) const;
  void run_step(const EvaluateStep& step, EvaluateBlock& block) const;
  void check_exponents(const EvaluateStep& step, const EvaluateBlock& block) const;
  void fill_null(const EvaluateStep& step, EvaluateBlock& block, std::byte* out) const;
  void set_validity(const EvaluateStep& step, EvaluateBlock& block) const;
  std::byte* home(int value, const EvaluateBlock& block) const;

  const Program& program_;
  Shape shape_;
  int64_t rows_, picked_from_;
  std::vector<EvaluateInput> inputs_{};  // by input number
  std::vector<BufferAccess> accesses_{}, picked_accesses_{};
  std::vector<bool> needed_{};
  std::vector<int64_t> words_of_{};  // by value: where its validity lies in EvaluateBlock::words
  int64_t num_words_ = 0;
  CompiledProgram compiled_{};
  Buffer once_{};
  std::vector<const std::byte*> once_of_{};  // by value
  std::vector<std::byte*> out_data_{};       // by output
};

/// Registers for the workers of one evaluation, each of which borrows some while it is at work.
class BlockScratch {
 public:
  BlockScratch(int64_t workers, int64_t bytes);

  class Loan {
   public:
    explicit Loan(BlockScratch& scratch);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    std::byte* data() { return buffer_.size_bytes() > 0 ? buffer_.mutable_data() : nullptr; }

   private:
    BlockScratch& scratch_;
    Buffer buffer_;
  };

 private:
  std::vector<Buffer> free_{};
  std::mutex mutex_{};
};

}  // namespace hr
