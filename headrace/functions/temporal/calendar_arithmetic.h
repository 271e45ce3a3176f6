// SPDX-License-Identifier: Apache-2.0
// Fields of the calendar as element-wise integer arithmetic, which devices fuse into one kernel.
#pragma once
#include "headrace/functions/temporal/calendar.h"

namespace hr {

/// What `date_field` gives, bit for bit, of dates or timestamps without a zone: made of
/// element-wise operations alone (about 20), so that the fields of one column share the parts they
/// have in common and what is computed of them needs no memory between. On the host `date_field` is
/// faster.
HR_API NodePtr date_field_arithmetic(const NodePtr& times, DateField field);

/// What `rescale_unit` gives with `clamp`: counts times `factor`, at most what int64 holds.
HR_API NodePtr clamped_multiple(const NodePtr& times, int64_t factor);

}  // namespace hr
