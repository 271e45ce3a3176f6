// SPDX-License-Identifier: Apache-2.0
// Timestamps with a zone as what clocks show there, and back.
#pragma once
#include "headrace/data/column.h"
#include "headrace/plan/graph/node.h"

#include <optional>
#include <string_view>

namespace hr {

/// What becomes of a time that clocks show twice, as they go back.
enum class Ambiguous : uint8_t {
  kRaise,
  kNull,
  kEarliest,
  kLatest,
  kInfer,  ///< by the rows: in a run of such times those behind a step back are the latest
};

/// What becomes of a time that clocks jump over: the second of the jump, or the unit before it.
enum class Nonexistent : uint8_t { kRaise, kNull, kForward, kBackward };

/// "raise", "NaT", "earliest", "latest", "infer"; throws InvalidArgumentError for another word.
HR_API Ambiguous ambiguous_from_name(std::string_view name);
/// "raise", "NaT", "shift_forward", "shift_backward"; throws InvalidArgumentError for another word.
HR_API Nonexistent nonexistent_from_name(std::string_view name);

/// Timestamps with a zone as timestamps without one, by the clocks of the zone; null where they
/// are. About 1 ns a row and core where neighbours lie between the same changes. Throws
/// TypeMismatchError for another dtype, InvalidArgumentError with the row of a time that does not
/// fit.
HR_API Column local_times(const Column& instants);
HR_API NodePtr local_times(const NodePtr& instants);

/// How local times become instants where clocks go back or forward.
struct LocalizeOptions {
  Ambiguous ambiguous = Ambiguous::kRaise;
  Nonexistent nonexistent = Nonexistent::kRaise;
  /// If set, in place of `ambiguous`: a bool column, true where the earlier instant is meant.
  NodePtr is_summer_time{};
  /// If set, in place of `nonexistent`: nanoseconds that are added to such times, rounded down.
  std::optional<Int128> shift{};
};

/// Timestamps without a zone as the instants of `zoned`, a dtype of the same unit with a zone.
/// Throws InvalidArgumentError with the row of a time that is there twice or never, where these
/// are to raise, and of a run of times that cannot be inferred.
HR_API Column localize(const Column& local, Dtype zoned, Ambiguous ambiguous,
                       Nonexistent nonexistent);
HR_API NodePtr localize(const NodePtr& local, Dtype zoned, Ambiguous ambiguous,
                        Nonexistent nonexistent);
HR_API NodePtr localize(const NodePtr& local, Dtype zoned, const LocalizeOptions& options);

/// The same by the name of the zone; without one (""), zoned times as local times. Throws
/// TypeMismatchError for dates and for times with a zone.
HR_API NodePtr localize(const NodePtr& local, std::string_view zone,
                        const LocalizeOptions& options = {});

/// The same instants with another zone; without one (""), as times in UTC. Throws
/// TypeMismatchError for times without a zone.
HR_API NodePtr convert_zone(const NodePtr& instants, std::string_view zone);

}  // namespace hr
