// SPDX-License-Identifier: Apache-2.0
// Parquet files.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"

#include "headrace/base/error.h"
#include "headrace/io/parquet/file.h"
#include "headrace/io/parquet/write.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

// A file object that can seek: only the parts asked for are read, by one thread at a time.
class FileObjectSource final : public hr::ByteSource {
 public:
  FileObjectSource(std::string op, nb::handle file)
      : op_(std::move(op)), file_(op_, file), size_(nb::cast<int64_t>(file.attr("seek")(0, 2))) {}

  int64_t load(int64_t end) override { return std::min(end, size_); }

  void read(int64_t offset, char* into, int64_t size) const override {
    // The lock comes before the GIL, which reading gives away: the other order would block.
    const std::lock_guard lock(mutex_);
    file_.with([&](nb::handle file) {
      file.attr("seek")(offset);
      while (size > 0) {
        const nb::object piece = file.attr("read")(size);
        if (!nb::isinstance<nb::bytes>(piece))
          hr::throw_error<hr::TypeMismatchError>(op_,
                                                 "the file object's read() did not return bytes",
                                                 {}, "open it in binary mode: open(path, 'rb')");
        const auto bytes = nb::borrow<nb::bytes>(piece);
        const auto got = static_cast<int64_t>(bytes.size());
        if (got == 0 || got > size)
          throw hr::InputError(hr::error_message(
              op_, "the file object returned another number of bytes than it said"));
        std::memcpy(into, bytes.c_str(), bytes.size());
        into += got;
        size -= got;
      }
    });
  }

  int64_t known_size() const override { return size_; }

  int64_t packed_size() const override { return size_; }

  void check_unchanged() const override {}

 private:
  std::string op_;
  Outside file_;
  mutable std::mutex mutex_{};
  int64_t size_;
};

// A file object that cannot: all of it is read, in order.
hr::Source stream_of(const std::string& op, nb::handle file) {
  const Outside object(op, file);
  return hr::Source::stream([op, object](char* into, int64_t size) {
    return object.with([&](nb::handle self) {
      const nb::object piece = self.attr("read")(size);
      if (!nb::isinstance<nb::bytes>(piece))
        hr::throw_error<hr::TypeMismatchError>(op, "the file object's read() did not return bytes",
                                               {}, "open it in binary mode: open(path, 'rb')");
      const auto bytes = nb::borrow<nb::bytes>(piece);
      const size_t got = std::min(bytes.size(), static_cast<size_t>(size));
      std::memcpy(into, bytes.c_str(), got);
      return static_cast<int64_t>(got);
    });
  });
}

bool can_seek(nb::handle file) {
  return nb::hasattr(file, "seek") &&
         (!nb::hasattr(file, "seekable") || nb::cast<bool>(file.attr("seekable")()));
}

hr::ParquetFile open_parquet(const std::string& op, nb::handle source, bool stays_open,
                             int64_t begin, std::optional<int64_t> end) {
  const auto of_source = [&](const hr::Source& from) {
    const GilReleased unlocked;
    return hr::ParquetFile(
        op, from.name(), [op, from] { return from.open(op, hr::Compression::kNone); }, stays_open,
        begin, end);
  };
  if (nb::isinstance<nb::str>(source)) return of_source(hr::Source::path(file_name(op, source)));
  if (PyObject_CheckBuffer(source.ptr()))
    return of_source(hr::Source::bytes(adopt_bytes(source, op)));
  if (!nb::hasattr(source, "read"))
    hr::throw_error<hr::TypeMismatchError>(
        op, "expected a path, bytes or a file",
        {{"type", nb::cast<std::string>(nb::handle(source.type()).attr("__name__"))}},
        "pass a path, bytes, or open(path, 'rb')");
  if (!can_seek(source)) return of_source(stream_of(op, source));
  std::shared_ptr<hr::ByteSource> file = std::make_shared<FileObjectSource>(op, source);
  const std::string name = nb::hasattr(source, "full_name")
                               ? nb::cast<std::string>(source.attr("full_name"))
                               : "a file object";
  const GilReleased unlocked;
  return hr::ParquetFile(op, name, [file] { return file; }, true, begin, end);
}

// To a path, or piece by piece to the `write` of an object.
void write_parquet(const hr::Table& table, nb::handle to, std::string compression,
                   std::optional<int> level, std::optional<int64_t> row_group_rows,
                   std::string layout, std::vector<std::string> bloom_filter, bool checksums) {
  const std::string op = "to_parquet";
  const hr::ParquetWriteOptions options{.compression = std::move(compression),
                                        .level = level,
                                        .row_group_rows = row_group_rows,
                                        .layout = std::move(layout),
                                        .bloom_filter = std::move(bloom_filter),
                                        .checksums = checksums};
  if (nb::isinstance<nb::str>(to)) {
    const std::string path = file_name(op, to);
    const GilReleased unlocked;
    return hr::write_parquet(table, path, options);
  }
  const Outside object(op, to);
  const GilReleased unlocked;
  hr::write_parquet(
      table,
      [&](std::string_view bytes) {
        object.with([&](nb::handle file) {
          file.attr("write")(nb::bytes(bytes.data(), bytes.size()));
          return 0;
        });
      },
      options);
}

}  // namespace

void bind_parquet(nb::module_& m) {
  nb::class_<hr::ParquetFile>(m, "ParquetFile")
      .def(nb::new_(&open_parquet), "op"_a, "source"_a, "stays_open"_a = true, "begin"_a = 0,
           "end"_a.none() = nb::none())
      .def_prop_ro("names", &hr::ParquetFile::names)
      .def_prop_ro("row_group_sizes", &hr::ParquetFile::row_group_sizes)
      .def("read", &hr::ParquetFile::read, "columns"_a, Unlocked())
      .def("scan", &hr::ParquetFile::scan, "columns"_a);
  m.def(
      "open_parquet_paths",
      [](const std::string& op, const std::vector<nb::str>& paths) {
        std::vector<std::string> names;
        for (const nb::str& path : paths) names.push_back(file_name(op, path));
        const GilReleased unlocked;
        return hr::ParquetFile::open_paths(op, names);
      },
      "op"_a, "paths"_a);
  m.def(
      "read_parquet_files",
      [](const std::vector<hr::ParquetFile>& files,
         const std::vector<std::vector<int64_t>>& columns, const hr::Table& values) {
        const GilReleased unlocked;
        return hr::ParquetFile::read_files(files, columns, values);
      },
      "files"_a, "columns"_a, "values"_a);
  m.def(
      "scan_parquet_files",
      [](const std::vector<hr::ParquetFile>& files,
         const std::vector<std::vector<int64_t>>& columns, const hr::Table& values,
         const std::string& name) {
        return hr::ParquetFile::scan_files(files, columns, values, name);
      },
      "files"_a, "columns"_a, "values"_a, "name"_a);
  m.def("write_parquet", &write_parquet, "table"_a, "to"_a, "compression"_a, "level"_a.none(),
        "row_group_rows"_a.none(), "layout"_a, "bloom_filter"_a, "checksums"_a);
}
