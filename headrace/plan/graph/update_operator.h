// SPDX-License-Identifier: Apache-2.0
// Operators that replace some elements of an array, in its own memory where nothing else refers to
// it.
#pragma once
#include "headrace/memory/sync/fork_mutex.h"
#include "headrace/plan/graph/node.h"

#include <span>
#include <vector>

namespace hr {

/// An operator whose result is its first input, an array, with some elements replaced. The plan
/// runs `update` on the memory of that array where nothing else refers to it, and else on a copy.
class HR_API UpdateOperator : public Operator {
 public:
  /// A copy, updated.
  Value execute(std::span<const Value> inputs) const final;

  /// Replaces elements of a row-major array of `shape`, which `buffer` holds. `inputs`: all but the
  /// array. Doing it again gives the same.
  virtual void update(const Shape& shape, Buffer& buffer, std::span<const Value> inputs) const = 0;
};

/// The memory of a node's first input, taken out of the plan while it lives: the input and the node
/// are as they were when it ends, unless the result took the memory. For the plan, with
/// `plan_mutex` held.
class SoleArray {
 public:
  /// `inputs`: the caller's handles on the inputs of `node`, all of them ready. Takes nothing where
  /// another handle, a view, an export or a node that has not run refers to the array, and for
  /// other than row-major arrays on the host.
  SoleArray(const NodePtr& node, std::span<const NodePtr> inputs);
  ~SoleArray();
  SoleArray(const SoleArray&) = delete;
  SoleArray& operator=(const SoleArray&) = delete;

  explicit operator bool() const { return static_cast<bool>(buffer_); }

  const Shape& shape() const { return shape_; }

  Buffer& buffer() { return buffer_; }

  /// The array over its memory, which is the result's from then on.
  Tensor release();

 private:
  struct Taken {
    NodePtr node;
    std::vector<NodePtr> inputs;
  };

  bool has_other_handles(std::span<const NodePtr> inputs) const;

  void give_back();

  std::vector<Taken> nodes_{};     // the node, and those that it was copied from for plans
  std::vector<NodePtr> arrays_{};  // the same of the array
  Shape shape_{};
  Dtype dtype_{};
  Buffer buffer_{};
};

/// Held while a node releases its inputs: other threads may look at them meanwhile.
ForkMutex& inputs_mutex();

}  // namespace hr
