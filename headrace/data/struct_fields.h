// SPDX-License-Identifier: Apache-2.0
// Fields of struct columns in the order of their rows.
#pragma once
#include "headrace/data/column.h"

#include <string_view>
#include <vector>

namespace hr {

/// Field `index` of each struct; null where the field or the struct is. The values are shared where
/// the structs have rows of the field one after the other, as those that a reader made; else they
/// are copied: in the ledger as "fields of structs put in order". Throws InternalError for an index
/// that is out of range.
HR_API Column struct_field(std::string_view op, const Column& structs, int64_t index);

/// All fields. Where a struct is null, a shared field may have a value.
HR_API std::vector<Column> struct_fields(std::string_view op, const Column& structs);

/// Throws InvalidArgumentError where a struct that is not null has a place outside the fields:
/// for structs from a message.
void check_structs(std::string_view op, std::string_view name, const Column& structs);

}  // namespace hr
