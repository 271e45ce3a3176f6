// SPDX-License-Identifier: Apache-2.0
// Files in groups of rows that Python objects read and encode.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"

#include "headrace/base/error.h"
#include "headrace/io/parquet_write.h"
#include "headrace/io/row_groups.h"

#include <memory>

using hr::NodePtr;

namespace {

// A Python object that any thread may call and release.
class Outside {
 public:
  Outside(std::string op, nb::handle object) : op_(std::move(op)) {
    const hr::Owner owner = python_owner(object);
    object_ = std::shared_ptr<PyObject>(object.ptr(),
                                        [owner](PyObject*) { owner.release(owner.context); });
  }

  /// What `call` gives of the object, with the GIL held.
  template <class Call>
  auto with(Call&& call) const {
    const GilTaken gil;
    if (!gil) hr::throw_error<hr::InternalError>(op_, "the interpreter has shut down");
    return call(nb::handle(object_.get()));
  }

 private:
  std::string op_;
  std::shared_ptr<PyObject> object_;
};

nb::list places_of(const std::vector<bool>& wanted) {
  nb::list places;
  for (size_t c = 0; c < wanted.size(); ++c)
    if (wanted[c]) places.append(nb::int_(c));
  return places;
}

hr::RowGroups::Batches batches_of(const std::string& op, const Outside& object, int64_t group,
                                  const std::vector<bool>& wanted, int64_t rows) {
  const auto iterator = object.with([&](nb::handle source) {
    return Outside(op, source.attr("batches")(group, places_of(wanted), rows));
  });
  return [iterator] {
    return iterator.with([](nb::handle each) -> std::optional<hr::Table> {
      const nb::object next = nb::steal(PyIter_Next(each.ptr()));
      if (next.is_valid()) return nb::cast<hr::Table>(next);
      if (PyErr_Occurred()) throw nb::python_error();
      return std::nullopt;
    });
  };
}

NodePtr row_groups_table(const std::string& op, const std::string& name, const hr::Table& none,
                         std::vector<int64_t> rows, nb::handle source) {
  const Outside object(op, source);
  return hr::scan_row_groups(
      {.op = op,
       .name = name,
       .none = none,
       .rows = std::move(rows),
       .bounds =
           [object](int64_t column) {
             return object.with([&](nb::handle self) {
               const auto found = nb::cast<hr::Table>(self.attr("bounds")(column));
               return hr::ColumnBounds{found.column(0), found.column(1), found.column(2)};
             });
           },
       .read =
           [object](const std::vector<bool>& wanted) {
             return object.with([&](nb::handle self) {
               return nb::cast<hr::Table>(self.attr("read")(places_of(wanted)));
             });
           },
       .read_group =
           [op, object](int64_t group, const std::vector<bool>& wanted, int64_t batch_rows) {
             return batches_of(op, object, group, wanted, batch_rows);
           }});
}

void write_parquet(const nb::str& path, int64_t rows, int64_t columns, nb::handle encode) {
  const std::string op = "to_parquet";
  const std::string to = file_name(op, path);
  const Outside object(op, encode);
  const GilReleased unlocked;
  hr::write_parquet(to, rows, columns, [&](auto... part) {
    return object.with([&](nb::handle call) { return adopt_bytes(call(part...), op); });
  });
}

}  // namespace

void bind_row_groups(nb::module_& m) {
  m.def("write_parquet", &write_parquet, "path"_a, "rows"_a, "columns"_a, "encode"_a,
        nb::sig("def write_parquet(path: str, rows: int, columns: int, encode: "
                "collections.abc.Callable[[int, int, int, int], typing.Any]) -> None"));
  m.def("row_groups_table", &row_groups_table, "op"_a, "name"_a, "none"_a, "rows"_a, "source"_a,
        nb::sig("def row_groups_table(op: str, name: str, none: Table, rows: "
                "collections.abc.Sequence[int], source: typing.Any) -> Node"));
}
