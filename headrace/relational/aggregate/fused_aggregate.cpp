// SPDX-License-Identifier: Apache-2.0
// Group-by over rows that are computed while they are read.
#include "headrace/relational/aggregate/fused_aggregate.h"

#include "headrace/algo/select/mask_cursor.h"
#include "headrace/data/access_pattern.h"
#include "headrace/plan/eval/evaluate_block.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/determined_keys.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace hr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Slots of which it does not matter for the number of runs how many there are.
constexpr int64_t kFewSlots = kMorselRows / 8;
// Of so few rows one is picked: then making them costs less than computing all.
constexpr int64_t kMostLeftOut = 4;

// An integer power of a row that is left out may be an error.
bool may_fail(const Program& program) {
  return std::any_of(program.nodes().begin(), program.nodes().end(), [](const Program::Node& node) {
    return node.op == Op::kPower && node.dtype.is_signed();
  });
}

// A program whose values are the lanes of a plan's inputs.
struct InputProgram {
  Program program{};
  std::vector<int> values{};  // by input of the plan; -1: only rows are counted
};

InputProgram input_program(const RowInputs& inputs, const AggregatePlan& plan) {
  InputProgram made{inputs.program, {}};
  for (const AccumulatorInput& input : plan.inputs) {
    int value = input.place < 0 ? -1 : inputs.computed[static_cast<size_t>(input.place)];
    if (input.value_class == ValueClass::kFloating)
      value = made.program.cast(value, TypeId::kFloat64);
    if (input.value_class == ValueClass::kSigned) value = made.program.cast(value, TypeId::kInt64);
    if (input.value_class == ValueClass::kUnsigned)
      value = made.program.cast(value, TypeId::kUInt64);
    made.values.push_back(value);
    if (value >= 0) made.program.add_block(value);
  }
  return made;
}

// The slots of a block; rows that are not picked have `other`.
void read_slots(const NormalizedKeys& packed, const std::optional<Mask>& mask, uint32_t other,
                int64_t row, int64_t count, uint32_t* slots) {
  packed.read(row, count, slots);
  for (int64_t i = 0; mask && i < count; i += 64) {
    const int64_t some = std::min<int64_t>(64, count - i);
    const uint64_t word = mask->word(row + i, some);
    if (some == 64 && word == ~uint64_t{0}) continue;
    for (int64_t k = 0; k < some; ++k) slots[i + k] = (word >> k) & 1 ? slots[i + k] : other;
  }
}

class BlockReader : public AccumulatorReader {
 public:
  BlockReader(const AggregatePlan& plan, const NormalizedKeys& packed,
              const std::optional<Mask>& mask, uint32_t other, const BoundProgram& bound,
              const std::vector<int>& values)
      : plan_(plan),
        packed_(packed),
        mask_(mask),
        other_(other),
        bound_(bound),
        values_(values),
        registers_(Buffer::allocate(std::max<int64_t>(bound.scratch_bytes(), 1))),
        block_(bound.block(registers_.mutable_data())),
        space_(plan.inputs.size() * kBlockRows) {}

  std::vector<BufferAccess> accesses() const override {
    std::vector<BufferAccess> result = packed_.accesses();
    result.insert(result.end(), bound_.accesses().begin(), bound_.accesses().end());
    return result;
  }

  void read(int64_t row, int64_t count, uint32_t* slots) override {
    bound_.run(block_, row, count);
    read_slots(packed_, mask_, other_, row, count, slots);
  }

  AccumulatorRows rows(size_t k, const uint32_t* slots) override {
    const AccumulatorInput& input = plan_.inputs[k];
    AccumulatorRows made{slots, nullptr, nullptr, nullptr, nullptr, block_.row, block_.count};
    if (values_[k] < 0) return made;
    const auto value = static_cast<size_t>(values_[k]);
    if (input.value_class != ValueClass::kNothing) made.values = block_.values[value];
    const uint64_t* valid = block_.valid[value];
    if (!valid) return made;
    uint64_t* const space = space_.data() + k * kBlockRows;
    if (input.value_class == ValueClass::kFloating) {
      const auto* from = reinterpret_cast<const double*>(block_.values[value]);
      auto* to = reinterpret_cast<double*>(space);
      for (int64_t i = 0; i < block_.count; ++i)
        to[i] = (valid[i >> 6] >> (i & 63)) & 1 ? from[i] : kNan;
      made.values = to;
      return made;
    }
    auto* to = reinterpret_cast<uint8_t*>(space);
    for (int64_t i = 0; i < block_.count; ++i) to[i] = (valid[i >> 6] >> (i & 63)) & 1;
    made.valid = to;
    return made;
  }

 private:
  const AggregatePlan& plan_;
  const NormalizedKeys& packed_;
  const std::optional<Mask>& mask_;
  uint32_t other_;
  const BoundProgram& bound_;
  const std::vector<int>& values_;
  Buffer registers_;
  EvaluateBlock block_;
  std::vector<uint64_t> space_;  // a block an input
};

std::vector<Column> columns_at(std::span<const Value> values, const std::vector<int64_t>& places) {
  std::vector<Column> columns;
  for (const int64_t place : places)
    columns.push_back(std::get<Column>(values[static_cast<size_t>(place)]));
  return columns;
}

bool is_few(const NormalizedKeys& packed, int64_t rows) {
  const auto most = std::min<int64_t>(kFewSlots, std::max<int64_t>(4096, rows / 2));
  return packed.domain() > 0 && packed.domain() <= static_cast<uint64_t>(most);
}

}  // namespace

Grouped group_by(std::span<const Value> values, const std::vector<int64_t>& keys,
                 std::vector<AggregateRequest> requests, GroupOptions options) {
  std::vector<Column> columns;
  std::vector<int64_t> places(values.size(), -1);
  for (AggregateRequest& request : requests)
    for (int64_t* at : {&request.column, &request.other}) {
      if (*at < 0) continue;
      int64_t& place = places[static_cast<size_t>(*at)];
      if (place < 0) {
        place = static_cast<int64_t>(columns.size());
        columns.push_back(std::get<Column>(values[static_cast<size_t>(*at)]));
      }
      *at = place;
    }
  return group_by(columns_at(values, keys), columns, requests, options);
}

Grouped group_by(const RowInputs& inputs, const std::vector<int64_t>& keys,
                 const std::vector<AggregateRequest>& requests, GroupOptions options) {
  const auto make = [&] { return group_by(inputs.made(), keys, requests, options); };
  const bool simple =
      std::all_of(requests.begin(), requests.end(), [](const AggregateRequest& request) {
        return aggregate_row(request.aggregate).folds_values() && request.other < 0;
      });
  if (!simple || (inputs.mask && may_fail(inputs.program))) return make();
  const std::optional<Mask> mask = inputs.mask ? std::optional<Mask>(inputs.picks()) : std::nullopt;
  std::vector<int64_t> offsets;
  if (mask) offsets = mask_offsets(*mask);
  const int64_t picked = mask ? offsets.back() : inputs.rows;
  if (picked == 0 || picked < inputs.rows / kMostLeftOut) return make();
  const NormalizeOptions packing{.ordered = options.order == GroupOrder::kSorted,
                                 .drop_missing = options.drop_missing};
  const std::vector<Column> key_columns = columns_at(inputs.given, keys);
  if (!mask)
    if (const auto known = find_determining_key(key_columns, options))
      return with_determined_keys(group_by(inputs, {keys[known->key]}, requests, options),
                                  key_columns, *known);
  if (inputs.rows > 4 * kFewSlots) {  // strings of all rows cost more to number
    std::vector<Column> sample;
    for (const Column& key : key_columns) sample.push_back(key.slice(0, kFewSlots));
    if (!is_few(NormalizedKeys::of("groupby", sample, packing), picked)) return make();
  }
  const NormalizedKeys packed = NormalizedKeys::of("groupby", key_columns, packing);
  if (!is_few(packed, picked)) return make();

  // Columns without rows, for their dtypes.
  std::vector<Column> values;
  for (const int value : inputs.computed)
    values.push_back(value < 0 ? Column() : Column(inputs.program.dtype(value), 0, Buffer()));
  AggregatePlan plan = plan_aggregates(values, requests);
  for (AccumulatorInput& input : plan.inputs) input.computed = input.place >= 0;
  const InputProgram input_values = input_program(inputs, plan);
  const BoundProgram bound(input_values.program, inputs.values, Shape{inputs.rows});
  const auto slots = static_cast<int64_t>(packed.domain());
  AccumulatorSource source;
  source.rows = picked;
  source.slots = slots;
  source.has_others = mask.has_value();
  std::vector<int64_t> begins;
  if (mask) begins = picked_begins(*mask, offsets, morsel_rows());
  source.begin_of = [&](int64_t morsel) {
    return mask ? begins[static_cast<size_t>(morsel)]
                : std::min(morsel * morsel_rows(), inputs.rows);
  };
  source.reader = [&] {
    return std::make_unique<BlockReader>(plan, packed, mask, static_cast<uint32_t>(slots), bound,
                                         input_values.values);
  };
  AggregatePartition partition = dense_aggregate(plan, source);
  const bool first_seen = options.order == GroupOrder::kFirstSeen;
  if (first_seen)
    partition.first_rows =
        first_rows(inputs.rows,
                   {[&](int64_t row, int64_t count, uint32_t* out) {
                      read_slots(packed, mask, static_cast<uint32_t>(slots), row, count, out);
                    },
                    {}},
                   partition);
  std::vector<GroupResults> results{finalize_partition(
      packed, plan, partition, first_seen ? SlotOrder::kFirstRows : SlotOrder::kSlots)};
  return finalize_groups(packed, static_cast<int64_t>(keys.size()), plan, values,
                         std::move(results), first_seen, options);
}

}  // namespace hr
