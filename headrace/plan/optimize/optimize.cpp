// SPDX-License-Identifier: Apache-2.0
// The optimizer's passes.
#include "headrace/plan/optimize/optimize.h"

#include "headrace/plan/optimize/early_aggregation.h"
#include "headrace/plan/optimize/filter_pushdown.h"
#include "headrace/plan/optimize/limit_pushdown.h"
#include "headrace/plan/optimize/redundant_sort.h"
#include "headrace/plan/optimize/semi_join_pushdown.h"

namespace hr {

namespace {

void common_subplans(LogicalPlan& plan) {
  plan.merge_equal();
}

void filter_pushdown(LogicalPlan& plan) {
  while (plan.has_visits_left() && push_filter(plan.nodes())) plan.refresh();
}

void limit_pushdown(LogicalPlan& plan) {
  if (push_first_rows(plan.nodes())) plan.refresh();
}

void early_aggregation(LogicalPlan& plan) {
  while (plan.has_visits_left() && aggregate_early(plan.nodes())) plan.refresh();
}

void semi_join_pushdown(LogicalPlan& plan) {
  while (plan.has_visits_left() && push_keys(plan.nodes())) plan.refresh();
}

void redundant_sort(LogicalPlan& plan) {
  advise_on_order(plan.nodes());
}

void redundant_order(LogicalPlan& plan) {
  while (plan.has_visits_left() && drop_order(plan.nodes())) plan.refresh();
}

struct Pass {
  std::string_view name;
  void (*run)(LogicalPlan& plan);
};

constexpr Pass kPasses[] = {
    {"common_subplans", common_subplans},
    {"filter_pushdown", filter_pushdown},
    {"limit_pushdown", limit_pushdown},
    {"common_subplans", common_subplans},  // moved filters of equal rows became equal
    {"early_aggregation", early_aggregation},
    {"semi_join_pushdown", semi_join_pushdown},
    {"redundant_sort", redundant_sort},
    {"redundant_order", redundant_order},
};

}  // namespace

void optimize(LogicalPlan& plan, const AfterPass& after) {
  if (after) after("plan", plan);
  for (const Pass& pass : kPasses) {
    pass.run(plan);
    if (after) after(pass.name, plan);
  }
}

}  // namespace hr
