// SPDX-License-Identifier: Apache-2.0
// Values over several devices: pieces of rows, one a device, that follow each other.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hr {

/// The rows of a value, cut into pieces at devices of their own, in order. Pieces of other values
/// lie next to them where `borders` and the devices are equal; 0: cut evenly at multiples of
/// `shard_unit`, whatever the value.
struct Shards {
  std::vector<NodePtr> parts{};
  std::vector<Place> places{};
  uint64_t borders = 0;
};

/// What the pieces of an even cut have a multiple of rows of, but for the last one: no fold of rows
/// then crosses a border.
int64_t shard_unit(Place place);

/// Where piece `part` of `parts` begins of an even cut.
int64_t shard_begin(int64_t rows, int64_t part, int64_t parts, Place place);

/// The row domain of that piece of rows of `domain`; 0 for 0.
uint64_t shard_domain(uint64_t domain, size_t part, size_t parts);

/// Pieces of one or more values' rows, one value after the other, cut evenly over `places`: rows
/// that are in their place stay there, others are copied. `like`: has the dtype, and the rows if
/// these are known.
std::vector<NodePtr> cut_evenly(const std::vector<NodePtr>& pieces,
                                const std::vector<Place>& places, const Signature& like);

/// All rows of the pieces at one place; of shards the ledger tells what that copied.
NodePtr gather_shards(const std::vector<NodePtr>& pieces, Place place, const Signature& like);

/// All rows of values, one after the other, at one place; and no row of one.
Value rows_at(std::span<const Value> pieces, Place place);
Value no_rows(const Value& like, Place place);

/// An operator whose inputs stay at their places, and which makes its value at `place`.
NodePtr apply_over_places(OperatorPtr op, Signature signature, std::vector<NodePtr> inputs,
                          Place place);

/// What a reduction knows of these rows: the bytes of PartialRows.
NodePtr reduce_partially(Aggregate reduction, const NodePtr& rows, ReduceOptions options);

/// The value cut evenly over devices, `x.to("cuda:0,1")`: its own value, made when it is asked for,
/// is on the host. Throws DeviceError when there is no such device, InvalidArgumentError for a
/// value without rows or a device named twice.
HR_API NodePtr to_places(const NodePtr& input, const std::vector<Place>& places);

/// `force`, but a value over several devices stays there: its node is not ready, and gathers the
/// rows on the host when its value is asked for.
HR_API void force_shards(std::span<const NodePtr> nodes);

/// Has a node that is not ready be made of shards that are.
void make_of_shards(const NodePtr& node, std::shared_ptr<const Shards> shards);

/// The inputs of a table, some of which are in shards.
class ShardedInputs {
 public:
  ShardedInputs() = default;
  virtual ~ShardedInputs() = default;
  ShardedInputs(const ShardedInputs&) = delete;
  ShardedInputs& operator=(const ShardedInputs&) = delete;

  virtual const std::vector<Place>& places() const = 0;
  virtual bool is_cut(int64_t input) const = 0;
  virtual Dtype dtype(int64_t input) const = 0;
  /// Pieces of inputs that have the same rows, at the same borders: by input, then by place.
  virtual std::vector<std::vector<NodePtr>> pieces(std::span<const int64_t> inputs) = 0;
  /// The same at the borders of an even cut.
  virtual std::vector<std::vector<NodePtr>> even_pieces(std::span<const int64_t> inputs) = 0;
  /// All rows of an input.
  virtual NodePtr whole(int64_t input, Place place) = 0;
};

/// What a table is over shards: tables, one a place, whose rows one after the other are the
/// table's; or its columns at the first place; or nothing: there is no such way.
struct ShardedResult {
  std::vector<NodePtr> tables{};
  std::vector<NodePtr> columns{};
};

/// A table that has a way over shards.
class RunsOnShards {
 public:
  virtual ~RunsOnShards() = default;

  /// The same rows, bit for bit, made of `count` inputs.
  virtual ShardedResult on_shards(ShardedInputs& inputs, size_t count) const = 0;
};

}  // namespace hr
