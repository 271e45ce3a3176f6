// SPDX-License-Identifier: Apache-2.0
// Reading and writing of JSON.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"
#include "python/bind/sources.h"

#include "headrace/base/error.h"
#include "headrace/io/json/json.h"
#include "headrace/io/json/json_write.h"
#include "headrace/plan/graph/placement.h"

#include <nanobind/stl/map.h>

#include <map>

namespace {

hr::JsonOptions options_of(const std::optional<bool>& lines, std::vector<std::string> columns,
                           const std::map<std::string, std::string>& dtypes, int64_t num_rows,
                           std::string_view on_bad, std::string_view compression) {
  hr::JsonOptions options;
  if (lines) options.form = *lines ? hr::JsonForm::kLines : hr::JsonForm::kArray;
  options.columns = std::move(columns);
  for (const auto& [name, word] : dtypes)
    options.dtypes.emplace_back(name, hr::dtype_from_name(word));
  options.num_rows = num_rows;
  if (on_bad == "reject") {
    options.on_bad = hr::BadRows::kReject;
  } else if (on_bad != "error") {
    hr::throw_error<hr::InvalidArgumentError>("read_json", "invalid value of an option",
                                              {{"on_bad", on_bad}}, "use 'error' or 'reject'");
  }
  options.compression = hr::compression_from_name(compression);
  return options;
}

}  // namespace

void bind_json(nb::module_& m) {
  nb::class_<hr::JsonOptions>(m, "JsonOptions")
      .def(nb::new_(&options_of), "lines"_a.none(), "columns"_a, "dtypes"_a, "num_rows"_a,
           "on_bad"_a, "compression"_a);
  nb::class_<hr::JsonScan>(m, "JsonScan")
      .def(nb::new_([](nb::handle source, const hr::JsonOptions& options) {
             hr::Source from = source_of("read_json", source);
             const GilReleased unlocked;
             return hr::JsonScan(std::move(from), options);
           }),
           "source"_a, "options"_a)
      .def_prop_ro("names", [](const hr::JsonScan& self) { return self.schema().names; });
  m.def("scan_json", lazy(&hr::scan_json), "scan"_a, Unlocked());
  m.def(
      "read_json",
      [](nb::handle source, const hr::JsonOptions& options) {
        const hr::Source from = source_of("read_json", source);
        const GilReleased unlocked;
        hr::JsonResult result = hr::read_json(from, options);
        result.table = std::get<hr::Table>(hr::at_default_place(result.table));
        return std::pair(std::move(result.table), std::move(result.rejects));
      },
      "source"_a, "options"_a);
  m.def(
      "write_json",
      [](const hr::Table& table, const nb::str& path, bool lines, bool durable) {
        const std::string to = file_name("to_json", path);
        const GilReleased unlocked;
        hr::write_json(table, to, {.lines = lines, .durable = durable});
      },
      "table"_a, "path"_a, "lines"_a, "durable"_a);
  m.def(
      "json_text",
      [](const hr::Table& table, bool lines) {
        std::string text;
        {
          const GilReleased unlocked;
          hr::write_json(table, [&](std::string_view piece) { text.append(piece); },
                         {.lines = lines});
        }
        return nb::bytes(text.data(), text.size());
      },
      "table"_a, "lines"_a);
}
