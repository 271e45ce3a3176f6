// SPDX-License-Identifier: Apache-2.0
// What operators have in common.
#include "headrace/plan/graph/operator.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"

#include <algorithm>
#include <map>

namespace hr {

namespace {

using Readers = std::map<std::string, ReadOperator, std::less<>>;

// Filled while the library is loaded.
Readers& readers() {
  return process_global<Readers>();
}

}  // namespace

bool register_operator(const std::type_info& type, ReadOperator read) {
  return readers().try_emplace(type.name(), read).second;
}

OperatorPtr operator_from_bytes(std::string_view bytes) {
  ParameterReader reader(bytes);
  const auto name = reader.read<std::string>();
  const auto found = readers().find(name);
  if (found == readers().end())
    throw_error<InvalidArgumentError>("plan", "the bytes name no known operator", {},
                                      "send plans between processes of the same build only");
  OperatorPtr made = found->second(reader);
  if (!reader.is_at_end())
    throw_error<InvalidArgumentError>("plan", "the bytes of an operator are too long");
  return made;
}

Table TableOperator::execute_fused(const std::vector<bool>&, const RowInputs&) const {
  throw_error<InternalError>(name(), "the table does not read fused inputs");
}

std::vector<LateColumn> TableOperator::execute_late(const std::vector<bool>&,
                                                    std::span<const LateColumn>,
                                                    TableState*) const {
  throw_error<InternalError>(name(), "the table does not take late columns");
}

int64_t TableOperator::guess_rows(const InputEstimates& inputs) const {
  int64_t most = kUnknown;
  for (int64_t place = 0; place < inputs.size(); ++place) most = std::max(most, inputs.rows(place));
  return most;
}

Value TableOperator::execute(std::span<const Value>) const {
  throw_error<InternalError>(name(), "a table runs for some columns");
}

}  // namespace hr
