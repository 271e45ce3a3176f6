// SPDX-License-Identifier: Apache-2.0
// Logs and text of fixed width.
#include "python/bind/sources.h"

#include "headrace/io/fixed_width.h"
#include "headrace/io/log/log.h"

#include <nanobind/stl/pair.h>

void bind_log(nb::module_& m) {
  m.def("log_formats", &hr::log_formats);
  m.def(
      "read_log",
      [](nb::handle source, const std::string& format, const std::string& pattern,
         const std::vector<std::string>& columns, int64_t num_rows, bool rejects,
         std::string_view compression) {
        const hr::Source from = source_of("read_log", source);
        const hr::LogOptions options{.format = format,
                                     .pattern = pattern,
                                     .columns = columns,
                                     .num_rows = num_rows,
                                     .on_bad = rejects ? hr::BadRows::kReject : hr::BadRows::kError,
                                     .compression = hr::compression_from_name(compression)};
        const GilReleased unlocked;
        hr::CsvResult result = hr::read_log(from, options);
        return std::pair(std::move(result.table), std::move(result.rejects));
      },
      "source"_a.none(), "format"_a, "pattern"_a, "columns"_a, "num_rows"_a, "rejects"_a,
      "compression"_a);
  m.def(
      "read_fwf",
      [](nb::handle source, const std::vector<std::pair<int64_t, int64_t>>& columns,
         int64_t infer_rows, const std::string& blanks, const std::optional<std::string>& comment,
         int64_t skip_rows, const hr::CsvOptions& options) {
        const hr::Source from = source_of("read_fwf", source);
        const GilReleased unlocked;
        hr::FixedWidthOptions places{.columns = columns,
                                     .infer_rows = infer_rows,
                                     .blanks = blanks,
                                     .skip_rows = skip_rows,
                                     .compression = options.compression};
        if (comment && !comment->empty()) places.comment = (*comment)[0];
        hr::CsvOptions of_text = options;
        of_text.delimiter = hr::kFieldSeparator;
        of_text.quote.reset();
        of_text.comment.reset();
        of_text.skip_rows = 0;
        of_text.compression = hr::Compression::kNone;
        hr::CsvResult result = hr::read_csv(hr::fixed_width_source(from, places), of_text);
        return std::pair(std::move(result.table), std::move(result.rejects));
      },
      "source"_a.none(), "columns"_a, "infer_rows"_a, "blanks"_a, "comment"_a.none(), "skip_rows"_a,
      "options"_a);
}
