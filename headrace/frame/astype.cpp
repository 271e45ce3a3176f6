// SPDX-License-Identifier: Apache-2.0
// Which function converts which pair of dtypes.
#include "headrace/frame/astype.h"

#include "headrace/base/error.h"
#include "headrace/functions/cast/float_to_int.h"
#include "headrace/functions/cast/format_values.h"
#include "headrace/functions/cast/parse_numbers.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/functions/temporal/timezone.h"
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/graph/view.h"

namespace hr {

namespace {

// Times or durations of a coarser unit, rounded down.
NodePtr coarser(const NodePtr& input, CountUnit from, Dtype dtype) {
  const int64_t scale = nanoseconds_per(count_unit(dtype)) / nanoseconds_per(from);
  const NodePtr counts = retype(input, TypeId::kInt64);
  const NodePtr whole = elementwise(Op::kFloorDivide, {counts, literal(Scalar::weak(scale))});
  return retype(cast(whole, dtype.storage()), dtype);
}

// Dates and times as others, or durations as others.
NodePtr with_unit(const NodePtr& input, Dtype dtype) {
  const Dtype own = input->signature().dtype;
  if (own.has_zone() && dtype.is_date()) return with_unit(local_times(input), dtype);
  if (own.has_zone() != dtype.has_zone())
    throw_error<TypeMismatchError>("astype", "cannot add or drop a time zone implicitly",
                                   {{"from", own.name()}, {"to", dtype.name()}},
                                   "use dt.tz_localize(zone), dt.tz_localize(None) or "
                                   "dt.tz_convert(None)");
  const CountUnit from = count_unit(own), to = count_unit(dtype);
  if (from == to) return retype(input, dtype);
  if (to < from) return coarser(input, from, dtype);
  return retype(rescale_unit(input, *to, false), dtype);
}

}  // namespace

NodePtr astype(const NodePtr& input, Dtype dtype) {
  const Dtype from = input->signature().dtype;
  if (from == dtype || input->signature().form != Form::kColumn) return cast(input, dtype);
  if (dtype.is_category())  // of the dtype that the values have
    return from.is_category() ? input : cast(input, Dtype::category(from));
  if (from.is_category()) return astype(cast(input, from.item()), dtype);
  const DtypeKind own = kind_of(from), wanted = kind_of(dtype);
  const bool timely = wanted == DtypeKind::kTime || wanted == DtypeKind::kDuration;
  if (own == wanted && timely) return with_unit(input, dtype);
  if (own == DtypeKind::kDecimal || wanted == DtypeKind::kDecimal)
    return decimal_cast(input, dtype);
  if (own == DtypeKind::kText) {
    if (timely) return parse_times(input, "", dtype, false);
    if (dtype.is_real()) return parse_numbers(input, dtype, false);
  } else if (dtype.is_string() && !from.is_complex()) {
    return format_values(input);
  }
  if (from.is_floating() && dtype.is_integer()) return float_to_int(input, dtype);
  return cast(input, dtype);
}

}  // namespace hr
