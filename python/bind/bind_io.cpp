// SPDX-License-Identifier: Apache-2.0
// Reading and writing of CSV.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"
#include "python/bind/sources.h"

#include "headrace/base/error.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_row_splitter.h"
#include "headrace/io/csv_write.h"
#include "headrace/io/nodes.h"
#include "headrace/io/npy/npy.h"
#include "headrace/io/sink.h"
#include "headrace/plan/graph/placement.h"

#include <nanobind/stl/map.h>

#include <cstring>
#include <map>
#include <memory>

std::string file_name(std::string_view op, nb::handle path) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!bytes) {
    PyErr_Clear();
    hr::throw_error<hr::InvalidArgumentError>(op, "not a valid file name",
                                              {{"path", printed(path)}});
  }
  const auto name = nb::borrow<nb::bytes>(bytes);
  return {name.c_str(), name.size()};
}

namespace {

// A file object of Python, read piece by piece from whichever thread the reader uses.
class FileObject {
 public:
  FileObject(std::string_view op, nb::handle file) : op_(op), owner_(python_owner(file)) {}

  ~FileObject() { owner_.release(owner_.context); }

  FileObject(const FileObject&) = delete;
  FileObject& operator=(const FileObject&) = delete;

  int64_t read(char* into, int64_t size) {
    const nb::gil_scoped_acquire gil;
    const nb::object piece = nb::handle(static_cast<PyObject*>(owner_.context)).attr("read")(size);
    if (!nb::isinstance<nb::bytes>(piece))
      hr::throw_error<hr::TypeMismatchError>(op_, "the file object's read() did not return bytes",
                                             {}, "open it in binary mode: open(path, 'rb')");
    const auto bytes = nb::borrow<nb::bytes>(piece);
    if (static_cast<int64_t>(bytes.size()) > size)
      hr::throw_error<hr::InvalidArgumentError>(
          op_, "the file object returned more bytes than requested");
    std::memcpy(into, bytes.c_str(), bytes.size());
    return static_cast<int64_t>(bytes.size());
  }

 private:
  std::string op_;
  hr::Owner owner_;
};

}  // namespace

hr::Source source_of(std::string_view op, nb::handle source) {
  if (nb::isinstance<nb::str>(source)) return hr::Source::path(file_name(op, source));
  if (PyObject_CheckBuffer(source.ptr())) return hr::Source::bytes(adopt_bytes(source, op));
  if (!nb::hasattr(source, "read"))
    hr::throw_error<hr::TypeMismatchError>(op, "not a path, bytes or a binary file", {},
                                           "pass a path, bytes, or open(path, 'rb')");
  auto file = std::make_shared<FileObject>(op, source);
  const std::string name = nb::hasattr(source, "full_name")
                               ? nb::cast<std::string>(source.attr("full_name"))
                               : "<stream>";
  return hr::Source::stream([file](char* into, int64_t size) { return file->read(into, size); },
                            name);
}

namespace {

std::optional<char> one_byte(std::string_view option, const std::optional<std::string>& text) {
  if (!text) return {};
  if (text->size() != 1)
    hr::throw_error<hr::InvalidArgumentError>("read_csv", "expected one single-byte character",
                                              {{option, *text}});
  return (*text)[0];
}

hr::CsvHeader header_of(std::string_view word) {
  if (word == "infer") return hr::CsvHeader::kInfer;
  return word == "yes" ? hr::CsvHeader::kYes : hr::CsvHeader::kNo;
}

hr::BadRows bad_rows_of(std::string_view word) {
  if (word == "error") return hr::BadRows::kError;
  if (word == "reject") return hr::BadRows::kReject;
  hr::throw_error<hr::InvalidArgumentError>("read_csv", "invalid value of an option",
                                            {{"on_bad", word}}, "use 'error' or 'reject'");
}

}  // namespace

// A member of an archive, which says how long it is, or a source.
hr::Tensor read_npy(const std::string& op, nb::handle source, int64_t size,
                    const std::string& name) {
  if (size < 0) {
    const hr::Source from = source_of(op, source);
    const GilReleased unlocked;
    return hr::read_npy(op, from.name(), *from.open(op, hr::Compression::kNone));
  }
  FileObject file(op, source);
  const auto read = [&](int64_t, char* into, int64_t count) {
    while (count > 0) {
      const int64_t got = file.read(into, count);
      if (got == 0)
        throw hr::InputError(op + ": the file ends before its last value: path='" + name +
                                 "'; fetch or write the file again",
                             name);
      into += got;
      count -= got;
    }
  };
  return hr::read_npy(op, name, {.read = read, .size = size});
}

// What has the buffer protocol, appended without the GIL; gives the number of bytes.
int64_t write_bytes(hr::Sink& sink, nb::handle data) {
  struct View : Py_buffer {
    ~View() { PyBuffer_Release(this); }
  } view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) nb::raise_python_error();
  const GilReleased unlocked;
  sink.append({static_cast<const char*>(view.buf), static_cast<size_t>(view.len)});
  return view.len;
}

void bind_io(nb::module_& m) {
  bind_log(m);
  nb::class_<hr::CsvOptions>(m, "CsvOptions")
      .def(nb::init<>())
      .def_prop_rw("delimiter", nullptr,
                   [](hr::CsvOptions& self, const std::string& value) {
                     self.delimiter = one_byte("delimiter", value).value();
                   })
      .def_prop_rw(
          "quote", nullptr,
          [](hr::CsvOptions& self, const std::optional<std::string>& value) {
            self.quote = one_byte("quote", value);
          },
          nb::for_setter("value"_a.none()))
      .def_prop_rw(
          "comment", nullptr,
          [](hr::CsvOptions& self, const std::optional<std::string>& value) {
            self.comment = one_byte("comment", value);
          },
          nb::for_setter("value"_a.none()))
      .def_prop_rw(
          "header", nullptr,
          [](hr::CsvOptions& self, std::string_view value) { self.header = header_of(value); })
      .def_rw("names", &hr::CsvOptions::names)
      .def_rw("columns", &hr::CsvOptions::columns)
      .def_rw("column_indices", &hr::CsvOptions::column_indices)
      .def_prop_rw("dtypes", nullptr,
                   [](hr::CsvOptions& self, const std::map<std::string, std::string>& value) {
                     self.dtypes.clear();
                     for (const auto& [name, word] : value)
                       self.dtypes.emplace_back(name, hr::dtype_from_name(word));
                   })
      .def_prop_rw(
          "dtype", nullptr,
          [](hr::CsvOptions& self, const std::optional<std::string>& value) {
            self.dtype.reset();
            if (value) self.dtype = hr::dtype_from_name(*value);
          },
          nb::for_setter("value"_a.none()))
      .def_rw("null_words", &hr::CsvOptions::null_words)
      .def_rw("true_words", &hr::CsvOptions::true_words)
      .def_rw("false_words", &hr::CsvOptions::false_words)
      .def_rw("null_padding", &hr::CsvOptions::null_padding)
      .def_rw("truncate_ragged_lines", &hr::CsvOptions::truncate_ragged_lines)
      .def_rw("skip_rows", &hr::CsvOptions::skip_rows)
      .def_rw("num_rows", &hr::CsvOptions::num_rows)
      .def_rw("few_samples", &hr::CsvOptions::few_samples)
      .def_prop_rw(
          "on_bad", nullptr,
          [](hr::CsvOptions& self, std::string_view value) { self.on_bad = bad_rows_of(value); })
      .def_prop_rw("compression", nullptr, [](hr::CsvOptions& self, std::string_view value) {
        self.compression = hr::compression_from_name(value);
      });
  nb::class_<hr::CsvScan>(m, "CsvScan")
      // The scan reads the head of the source, so it is made without the GIL.
      .def(nb::new_([](nb::handle source, const hr::CsvOptions& options) {
             hr::Source from = source_of("read_csv", source);
             const GilReleased unlocked;
             return hr::CsvScan(std::move(from), options);
           }),
           "source"_a.none(), "options"_a)
      .def_prop_ro("names", [](const hr::CsvScan& self) { return self.schema().names; })
      .def_prop_ro("dtypes",
                   [](const hr::CsvScan& self) { return dtype_names(self.schema().dtypes); })
      .def_prop_ro("estimated_rows",
                   [](const hr::CsvScan& self) { return self.schema().estimated_rows; });
  m.def(
      "open_csv_paths",
      [](const std::vector<nb::str>& paths, const hr::CsvOptions& options) {
        std::vector<std::string> names;
        for (const nb::str& path : paths) names.push_back(file_name("read_csv", path));
        const GilReleased unlocked;
        return hr::CsvScan::open_paths(names, options);
      },
      "paths"_a, "options"_a);
  m.def(
      "csv_whole_rows",
      [](const nb::bytes& text, const hr::CsvOptions& options) {
        hr::CsvSyntax syntax{.delimiter = options.delimiter};
        syntax.quote = options.quote ? static_cast<uint8_t>(*options.quote) : -1;
        syntax.comment = options.comment ? static_cast<uint8_t>(*options.comment) : -1;
        syntax.prepare();
        const std::string_view bytes(text.c_str(), text.size());
        const GilReleased unlocked;
        return hr::whole_rows(syntax, bytes);
      },
      "text"_a, "options"_a);
  m.def("scan_csv", lazy(&hr::scan_csv), "scan"_a, Unlocked());
  m.def(
      "read_csv",
      [](nb::handle source, const hr::CsvOptions& options) {
        const hr::Source from = source_of("read_csv", source);
        const GilReleased unlocked;
        hr::CsvResult result = hr::made_at_default_place(
            [&](hr::Place place) { return hr::read_csv(from, options, place); });
        return std::pair(std::move(result.table), std::move(result.rejects));
      },
      "source"_a.none(), "options"_a);
  m.def(
      "read_csv_files",
      [](const std::vector<hr::CsvScan>& scans, const std::vector<std::string>& dtypes) {
        const GilReleased unlocked;
        std::vector<hr::Dtype> each;
        for (const std::string& word : dtypes) each.push_back(hr::dtype_from_name(word));
        hr::CsvFilesResult result = hr::made_at_default_place(
            [&](hr::Place place) { return hr::read_csv_files(scans, each, place); });
        return std::pair(std::move(result.table), std::move(result.rows));
      },
      "scans"_a, "dtypes"_a);
  m.def(
      "write_csv",
      [](const hr::Table& table, const nb::str& path, const std::string& delimiter, bool header,
         std::string float_format, std::string null_word, bool durable) {
        const std::string to = file_name("to_csv", path);
        const GilReleased unlocked;
        hr::CsvWriteOptions options;
        options.delimiter = one_byte("delimiter", delimiter).value();
        options.header = header;
        options.float_format = std::move(float_format);
        options.null_word = std::move(null_word);
        options.durable = durable;
        hr::write_csv(table, to, options);
      },
      "table"_a, "path"_a, "delimiter"_a, "header"_a, "float_format"_a, "null_word"_a, "durable"_a);
  m.def("read_npy", &read_npy, "op"_a, "source"_a, "size"_a, "name"_a);
  nb::class_<hr::Sink>(m, "Sink")
      .def(
          "__init__",
          [](hr::Sink* self, std::string_view op, const nb::str& path, bool durable) {
            std::string to = file_name(op, path);
            const GilReleased unlocked;
            new (self) hr::Sink(op, std::move(to), durable);
          },
          "op"_a, "path"_a, "durable"_a)
      .def("write", &write_bytes, "data"_a)
      .def("commit", &hr::Sink::commit, Unlocked())
      .def("discard", &hr::Sink::discard, Unlocked());
}
