// SPDX-License-Identifier: Apache-2.0
// The rules that were given, and how one finds the time in them.
#include "headrace/data/timezone_rules.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kDay = 86'400;
constexpr int64_t kFarthest = int64_t{1} << 40;  // some 34,000 years

struct Known {
  ForkMutex mutex;
  std::vector<std::shared_ptr<const TimezoneRules>> by_number;
};

Known& known() {
  return process_global<Known>();
}

void check(Dtype dtype, const TimezoneRules& rules) {
  bool good = rules.offsets.size() == rules.changes.size() + 1;
  for (const int32_t offset : rules.offsets) good &= offset > -kDay && offset < kDay;
  for (size_t i = 0; i < rules.changes.size(); ++i)
    good &= std::abs(rules.changes[i]) < kFarthest &&
            (i == 0 || rules.changes[i] - rules.changes[i - 1] >= 2 * kDay);
  if (!good)
    throw_error<InvalidArgumentError>("set_timezone_rules", "invalid time zone rules",
                                      {{"zone", dtype.zone()}, {"changes", rules.changes.size()}});
}

void require_zone(std::string_view op, Dtype dtype) {
  if (!dtype.has_zone())
    throw_error<TypeMismatchError>(op, "expected timestamps with a time zone",
                                   {{"dtype", dtype.name()}}, "use dt.tz_localize first");
}

}  // namespace

void set_timezone_rules(Dtype dtype, TimezoneRules rules) {
  require_zone("set_timezone_rules", dtype);
  check(dtype, rules);
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  if (all.by_number.size() < dtype.zone_number()) all.by_number.resize(dtype.zone_number());
  auto& place = all.by_number[dtype.zone_number() - 1u];
  if (!place) place = std::make_shared<const TimezoneRules>(std::move(rules));
}

std::shared_ptr<const TimezoneRules> timezone_rules(std::string_view op, Dtype dtype) {
  require_zone(op, dtype);
  Known& all = known();
  {
    const std::lock_guard lock(all.mutex);
    if (all.by_number.size() >= dtype.zone_number())
      if (auto found = all.by_number[dtype.zone_number() - 1u]) return found;
  }
  throw_error<UnsupportedError>(op, "the rules of this time zone are unknown",
                                {{"zone", dtype.zone()}}, "pass them to set_timezone_rules");
}

void ZoneClock::find(int64_t instant) {
  const auto next = std::upper_bound(rules_.changes.begin(), rules_.changes.end(), instant);
  begin_ = next == rules_.changes.begin() ? std::numeric_limits<int64_t>::min() : next[-1];
  end_ = next == rules_.changes.end() ? std::numeric_limits<int64_t>::max() : *next;
  offset_ = rules_.offsets[static_cast<size_t>(next - rules_.changes.begin())];
}

ZoneClock::Instants ZoneClock::instants_of(int64_t local) const {
  const int64_t second = folded(local), moved = local - second;
  // Offsets are below a day and changes are two days apart, so one change alone is near enough.
  const auto next = std::upper_bound(rules_.changes.begin(), rules_.changes.end(), second + kDay) -
                    rules_.changes.begin();
  const auto at = static_cast<size_t>(next);
  const auto only = [&](int32_t offset) -> Instants { return {local - offset, local - offset}; };
  if (at == 0) return only(rules_.offsets[0]);
  const int64_t change = rules_.changes[at - 1];
  const int32_t before = rules_.offsets[at - 1], after = rules_.offsets[at];
  const bool was = second - before < change, is = second - after >= change;
  if (was && is) return {local - before, local - after};
  if (!was && !is) return {change + moved, change + moved - 1};
  return only(was ? before : after);
}

}  // namespace hr
