// SPDX-License-Identifier: Apache-2.0
// Tables that a Python function makes, column by column as they are wanted.
#include "python/bind/bind.h"

#include "headrace/base/error.h"

#include <memory>

using hr::NodePtr;

namespace {

NodePtr outside_table(const std::string& op, const std::string& detail,
                      std::vector<std::string> names, const std::vector<std::string>& dtypes,
                      int64_t rows, nb::handle read) {
  hr::TableOperator table;
  table.names = std::move(names);
  for (const std::string& word : dtypes) table.dtypes.push_back(hr::dtype_from_name(word));
  table.rows = rows;
  const hr::Owner owner = python_owner(read);
  const std::shared_ptr<PyObject> function(read.ptr(),
                                           [owner](PyObject*) { owner.release(owner.context); });
  table.run = [op, names = table.names, function](const std::vector<bool>& wanted,
                                                  std::span<const hr::Value>) {
    const GilTaken gil;
    if (!gil) hr::throw_error<hr::InternalError>(op, "the interpreter is gone");
    nb::list chosen;
    for (size_t c = 0; c < wanted.size(); ++c)
      if (wanted[c]) chosen.append(nb::str(names[c].c_str(), names[c].size()));
    return nb::cast<hr::Table>(nb::handle(function.get())(chosen));
  };
  return hr::table_node(op, detail, std::move(table));
}

}  // namespace

void bind_outside(nb::module_& m) {
  m.def("outside_table", &outside_table, "op"_a, "detail"_a, "names"_a, "dtypes"_a, "rows"_a,
        "read"_a,
        nb::sig("def outside_table(op: str, detail: str, names: collections.abc.Sequence[str], "
                "dtypes: collections.abc.Sequence[str], rows: int, "
                "read: collections.abc.Callable[[list[str]], Table]) -> Node"));
}
