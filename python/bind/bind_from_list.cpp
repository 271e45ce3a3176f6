// SPDX-License-Identifier: Apache-2.0
// Columns from Python lists: construction, not a copy of values that were data before.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"
#include "python/bind/times.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/exchange/list_offsets.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace {

constexpr std::string_view kOp = "Series";

enum class Kind {
  kNone,
  kBool,
  kInteger,
  kUnsigned,
  kFloat,
  kText,
  kDate,
  kTime,
  kInstant,
  kSpan,
  kDecimal,
  kList,
  kStruct
};

// A list or tuple, or a NumPy array with rows.
bool is_list(nb::handle value) {
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) ||
         (nb::hasattr(value, "__array_interface__") && nb::hasattr(value, "__len__") &&
          nb::cast<int>(value.attr("ndim")) > 0);
}

[[noreturn]] void refuse_value(nb::handle value, int64_t row) {
  hr::throw_error<hr::TypeMismatchError>(
      kOp, "unsupported value in a list",
      {{"row", row}, {"type", nb::cast<std::string>(value.type().attr("__name__"))}},
      "use bool, int, float, Decimal, str, date, datetime, timedelta, lists or dicts of them or "
      "None");
}

[[noreturn]] void refuse_range(nb::handle value, int64_t row, hr::Dtype dtype) {
  hr::throw_error<hr::InvalidArgumentError>(
      kOp, "a number does not fit the dtype",
      {{"row", row}, {"value", printed(value)}, {"dtype", dtype.name()}},
      "pass a wider dtype, or float64");
}

[[noreturn]] void refuse_time(nb::handle value, int64_t row, hr::Dtype dtype) {
  hr::throw_error<hr::InvalidArgumentError>(
      kOp, "a time does not fit the dtype",
      {{"row", row}, {"value", printed(value)}, {"dtype", dtype.name()}},
      dtype.has_zone() ? "pass a finer unit, and times with a tzinfo"
                       : "pass a finer unit, and times without a zone");
}

// A Python int or float, also for NumPy's scalars; null for anything else.
nb::object as_number(nb::handle value) {
  if (PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr())) return nb::borrow(value);
  PyObject* number = nullptr;
  if (PyIndex_Check(value.ptr()))
    number = PyNumber_Index(value.ptr());
  else if (nb::hasattr(value, "__float__"))
    number = PyNumber_Float(value.ptr());
  if (!number) PyErr_Clear();
  return nb::steal(number);
}

bool is_numpy_bool(nb::handle value) {
  const auto name = nb::cast<std::string>(value.type().attr("__name__"));
  return name == "bool" || name == "bool_";
}

bool is_decimal(nb::handle value) {
  return nb::isinstance(value, nb::module_::import_("decimal").attr("Decimal"));
}

// A whole number, a Decimal or a string of plain digits; nothing of other values.
std::optional<std::string> digits_of(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return printed(value);
  if (PyIndex_Check(value.ptr()))
    return nb::cast<std::string>(nb::str(nb::steal(PyNumber_Index(value.ptr()))));
  if (!is_decimal(value)) return {};
  return nb::cast<std::string>(value.attr("__format__")("f"));
}

Kind kind_of(nb::handle value, int64_t row) {
  if (value.is_none()) return Kind::kNone;
  if (PyBool_Check(value.ptr())) return Kind::kBool;
  if (PyUnicode_Check(value.ptr())) return Kind::kText;
  if (PyFloat_Check(value.ptr())) return Kind::kFloat;
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return Kind::kList;
  if (PyDict_Check(value.ptr())) return Kind::kStruct;
  if (!PyLong_Check(value.ptr())) {
    if (is_numpy_bool(value)) return Kind::kBool;
    if (is_decimal(value)) return Kind::kDecimal;
    if (const TimeKind time = time_kind(value); time != TimeKind::kNone)
      return time == TimeKind::kDate       ? Kind::kDate
             : time == TimeKind::kDatetime ? Kind::kTime
             : time == TimeKind::kInstant  ? Kind::kInstant
                                           : Kind::kSpan;
    if (is_list(value)) return Kind::kList;
  }
  const nb::object number = as_number(value);
  if (!number.is_valid()) refuse_value(value, row);
  if (PyFloat_Check(number.ptr())) return Kind::kFloat;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow > 0 ? Kind::kUnsigned : Kind::kInteger;
}

// The zone that all of the times have.
hr::Dtype instants_of_one_zone(const nb::list& values) {
  std::string zone;
  int64_t row = 0;
  for (const nb::handle value : values) {
    if (!value.is_none()) {
      const std::string own = zone_from_python(value);
      if (!zone.empty() && own != zone)
        hr::throw_error<hr::TypeMismatchError>(kOp, "the list has times in several time zones",
                                               {{"row", row}, {"zone", zone}, {"other", own}},
                                               "pass a dtype, for example 'datetime64[us, UTC]'");
      zone = own;
    }
    ++row;
  }
  return hr::Dtype::timestamp(hr::TimeUnit::kMicro, zone);
}

// Digits that hold all of the decimals and whole numbers, as they are written.
hr::Dtype digits_of_all(const nb::list& values) {
  int64_t before = 0, behind = 0, row = 0;
  for (const nb::handle value : values) {
    if (!value.is_none()) {
      const std::string text = digits_of(value).value_or("");
      const size_t point = std::min(text.find('.'), text.size());
      const size_t first = std::min(text.find_first_not_of("-0"), point);
      before = std::max(before, static_cast<int64_t>(point - first));
      behind =
          std::max(behind, static_cast<int64_t>(text.size() - std::min(point + 1, text.size())));
      if (!hr::parse_decimal(text.data(), text.data() + text.size()).good ||
          before + behind > hr::kMostDigits)
        hr::throw_error<hr::InvalidArgumentError>(
            kOp, "the decimals need more than 38 digits, or one is not a number",
            {{"row", row}, {"value", text.substr(0, 60)}},
            "pass a dtype, for example 'decimal128(38, 10)', or 'float64'");
    }
    ++row;
  }
  return hr::Dtype::decimal(static_cast<int>(std::max<int64_t>(before + behind, 1)),
                            static_cast<int>(behind));
}

// Nothing for lists and dicts: their items say.
std::optional<hr::Dtype> infer(const nb::list& values) {
  bool seen[static_cast<int>(Kind::kStruct) + 1] = {};
  int64_t row = 0;
  for (const nb::handle value : values) seen[static_cast<int>(kind_of(value, row++))] = true;
  const auto has = [&](Kind kind) { return seen[static_cast<int>(kind)]; };
  if (has(Kind::kList) || has(Kind::kStruct)) {
    if (std::count(std::begin(seen), std::end(seen), true) > (has(Kind::kNone) ? 2 : 1))
      hr::throw_error<hr::TypeMismatchError>(
          kOp,
          has(Kind::kList) ? "the list has lists and other values"
                           : "the list has dicts and other values",
          {}, has(Kind::kList) ? "make every value a list" : "make every value a dict");
    return {};
  }
  const bool numbers = has(Kind::kInteger) || has(Kind::kUnsigned) || has(Kind::kFloat);
  const int times = has(Kind::kDate) + has(Kind::kTime) + has(Kind::kInstant) + has(Kind::kSpan);
  if (times > 0) {
    if (numbers || has(Kind::kBool) || has(Kind::kText) || times > 1)
      hr::throw_error<hr::TypeMismatchError>(
          kOp, "the list has dates and other values", {},
          "make all of them dates, or datetimes without a zone, or with one, or timedeltas, or "
          "pass a dtype");
    if (has(Kind::kInstant)) return instants_of_one_zone(values);
    return has(Kind::kDate)   ? hr::TypeId::kDate
           : has(Kind::kTime) ? hr::TypeId::kTimestamp
                              : hr::TypeId::kDuration;
  }
  if (has(Kind::kDecimal)) {
    if (has(Kind::kFloat) || has(Kind::kText) || has(Kind::kBool))
      hr::throw_error<hr::TypeMismatchError>(kOp, "the list has decimals and other values", {},
                                             "make all of them Decimal or int, or pass a dtype");
    return digits_of_all(values);
  }
  if (has(Kind::kText)) {
    if (numbers || has(Kind::kBool))
      hr::throw_error<hr::TypeMismatchError>(kOp, "the list has strings and other values", {},
                                             "make all of them strings, or none");
    return hr::TypeId::kString;
  }
  if (has(Kind::kFloat)) return hr::TypeId::kFloat64;
  if (has(Kind::kUnsigned)) return hr::TypeId::kUInt64;
  if (has(Kind::kInteger)) return hr::TypeId::kInt64;
  return has(Kind::kBool) ? hr::TypeId::kBool : hr::TypeId::kFloat64;
}

template <class T>
T number_as(nb::handle value, int64_t row) {
  const hr::Dtype dtype = hr::dtype_of<T>();
  const nb::object number = as_number(value);
  if (!number.is_valid()) refuse_value(value, row);
  if constexpr (std::is_floating_point_v<T>) {
    const double result = PyFloat_AsDouble(number.ptr());
    if (result == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      refuse_range(value, row, dtype);
    }
    return static_cast<T>(result);
  } else {
    if (PyFloat_Check(number.ptr())) refuse_range(value, row, dtype);
    T result{};
    if (!nb::try_cast<T>(number, result)) refuse_range(value, row, dtype);
    return result;
  }
}

// Rows that are being found: values go in as they come, and a bitmap appears with the first None.
class Rows {
 public:
  explicit Rows(int64_t count) : count_(count) {}

  void add_null(int64_t row) {
    if (nulls_++ == 0) {
      validity_ = hr::Buffer::allocate(hr::bitmap_bytes(count_));
      std::memset(validity_.mutable_data(), 0xFF, static_cast<size_t>(hr::bitmap_bytes(count_)));
      if (count_ % 8 != 0)
        validity_.mutable_as<uint8_t>()[count_ / 8] = static_cast<uint8_t>((1 << count_ % 8) - 1);
    }
    hr::set_bit(validity_.mutable_as<uint8_t>(), row, false);
  }

  int64_t nulls() const { return nulls_; }
  hr::Buffer take_validity() { return std::move(validity_); }

 private:
  int64_t count_;
  int64_t nulls_ = 0;
  hr::Buffer validity_;
};

bool is_exactly(PyObject* value, PyTypeObject& type) {
  return Py_TYPE(value) == &type;
}

// T: double takes floats and integers, int64_t integers.
template <class T>
std::optional<hr::Column> plain_numbers(PyObject* list, int64_t count) {
  Rows rows(count);
  hr::Buffer buffer = hr::Buffer::allocate(count * 8);
  T* out = buffer.mutable_as<T>();
  for (int64_t row = 0; row < count; ++row) {
    PyObject* value = PyList_GetItem(list, row);
    if (std::is_same_v<T, double> && is_exactly(value, PyFloat_Type)) {
      out[row] = static_cast<T>(PyFloat_AsDouble(value));
    } else if (is_exactly(value, PyLong_Type)) {
      int overflow = 0;
      const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      if (overflow != 0) return {};
      out[row] = static_cast<T>(number);
    } else if (value == Py_None) {
      out[row] = 0;
      rows.add_null(row);
    } else {
      return {};
    }
  }
  return hr::Column(hr::dtype_of<T>(), count, std::move(buffer), rows.take_validity(),
                    rows.nulls());
}

std::optional<hr::Column> plain_strings(PyObject* list, int64_t count) {
  constexpr int64_t kFirstText = 1 << 16, kMostText = 1 << 26;
  Rows rows(count);
  hr::Buffer views = hr::Buffer::allocate(count * 16);
  auto* out = views.mutable_as<hr::StringView>();
  std::vector<hr::Buffer> text;
  char* to = nullptr;
  int64_t used = 0, room = 0;
  const auto close = [&] {
    if (!text.empty()) text.back().shrink(used);
  };
  for (int64_t row = 0; row < count; ++row) {
    PyObject* value = PyList_GetItem(list, row);
    hr::StringView& view = out[row];
    view = {};
    if (value == Py_None) {
      rows.add_null(row);
      continue;
    }
    if (!is_exactly(value, PyUnicode_Type) && !PyUnicode_Check(value)) return {};
    Py_ssize_t size = 0;
    const char* from = PyUnicode_AsUTF8AndSize(value, &size);
    if (!from) {
      PyErr_Clear();
      return {};
    }
    if (size > std::numeric_limits<int32_t>::max()) return {};
    view.size = static_cast<uint32_t>(size);
    if (view.size <= sizeof view.inlined) {
      std::memcpy(view.inlined, from, view.size);
      continue;
    }
    if (size > room - used) {
      close();
      room = std::max<int64_t>(size, std::clamp(2 * room, kFirstText, kMostText));
      text.push_back(hr::Buffer::allocate(room));
      to = text.back().mutable_as<char>();
      used = 0;
    }
    std::memcpy(view.indirect.prefix, from, sizeof view.indirect.prefix);
    view.indirect.buffer = static_cast<uint32_t>(text.size() - 1);
    view.indirect.offset = static_cast<uint32_t>(used);
    std::memcpy(to + used, from, view.size);
    used += size;
  }
  close();
  return hr::Column::strings(count, std::move(views), std::move(text), rows.take_validity(),
                             rows.nulls());
}

std::optional<hr::Column> plain_bools(PyObject* list, int64_t count) {
  Rows rows(count);
  hr::Buffer buffer = hr::Buffer::allocate_zeroed(hr::bitmap_bytes(count));
  auto* bits = buffer.mutable_as<uint8_t>();
  for (int64_t row = 0; row < count; ++row) {
    PyObject* value = PyList_GetItem(list, row);
    if (value == Py_None)
      rows.add_null(row);
    else if (!is_exactly(value, PyBool_Type))
      return {};
    else if (value == Py_True)
      hr::set_bit(bits, row, true);
  }
  return hr::Column(hr::TypeId::kBool, count, std::move(buffer), rows.take_validity(),
                    rows.nulls());
}

hr::Column column_of(const nb::list& values, std::optional<hr::Dtype> dtype, int levels);

// In one pass over a list of plain values; nothing for other lists.
std::optional<hr::Column> plain_column(nb::list values);

std::optional<nb::dict> values_by_name(nb::list rows, bool with_nulls);

void check_levels(int levels) {
  if (levels == hr::kMostNestedLevels)
    hr::throw_error<hr::UnsupportedError>(kOp, "too many levels of lists and dicts",
                                          {{"levels", levels}}, "flatten them first");
}

// The values of one field or of the items of lists.
hr::Column child_column(const nb::list& values, std::optional<hr::Dtype> dtype, int levels) {
  std::optional<hr::Column> made;
  if (!dtype) made = plain_column(values);
  return made ? *made : column_of(values, dtype, levels + 1);
}

// Values, and validity when there is a None.
class Builder {
 public:
  explicit Builder(const nb::list& values)
      : values_(values), rows_(static_cast<int64_t>(nb::len(values))) {
    for (const nb::handle value : values) nulls_ += value.is_none();
    if (nulls_ == 0) return;
    validity_ = hr::Buffer::allocate_zeroed(hr::bitmap_bytes(rows_));
    uint8_t* bits = validity_.mutable_as<uint8_t>();
    int64_t row = 0;
    for (const nb::handle value : values) hr::set_bit(bits, row++, !value.is_none());
  }

  template <class T>
  hr::Column numbers() {
    hr::Buffer buffer = hr::Buffer::allocate_zeroed(rows_ * static_cast<int64_t>(sizeof(T)));
    T* out = buffer.mutable_as<T>();
    int64_t row = 0;
    for (const nb::handle value : values_) {
      if (!value.is_none()) out[row] = number_as<T>(value, row);
      ++row;
    }
    return hr::Column(hr::dtype_of<T>(), rows_, std::move(buffer), std::move(validity_), nulls_);
  }

  hr::Column bools() {
    hr::Buffer buffer = hr::Buffer::allocate_zeroed(hr::bitmap_bytes(rows_));
    uint8_t* bits = buffer.mutable_as<uint8_t>();
    int64_t row = 0;
    for (const nb::handle value : values_) {
      if (!value.is_none()) {
        const int truth = PyObject_IsTrue(value.ptr());
        if (truth < 0) throw nb::python_error();
        hr::set_bit(bits, row, truth);
      }
      ++row;
    }
    return hr::Column(hr::TypeId::kBool, rows_, std::move(buffer), std::move(validity_), nulls_);
  }

  hr::Column decimals(hr::Dtype dtype) {
    hr::Buffer buffer = hr::Buffer::allocate_zeroed(rows_ * 16);
    auto* out = buffer.mutable_as<hr::Int128>();
    int64_t row = 0;
    for (const nb::handle value : values_) {
      if (!value.is_none()) {
        const std::optional<std::string> text = digits_of(value);
        if (!text) refuse_value(value, row);
        const hr::DecimalText parsed = hr::parse_decimal(text->data(), text->data() + text->size());
        if (!hr::fit_decimal(parsed, dtype, out + row)) refuse_range(value, row, dtype);
      }
      ++row;
    }
    return hr::Column(dtype, rows_, std::move(buffer), std::move(validity_), nulls_);
  }

  // Dates and timestamps, T their integer.
  template <class T>
  hr::Column times(hr::Dtype dtype) {
    hr::Buffer buffer = hr::Buffer::allocate_zeroed(rows_ * static_cast<int64_t>(sizeof(T)));
    T* out = buffer.mutable_as<T>();
    int64_t row = 0;
    for (const nb::handle value : values_) {
      if (!value.is_none()) {
        if (time_kind(value) == TimeKind::kNone) refuse_value(value, row);
        const std::optional<int64_t> time = time_from_python(value, dtype);
        if (!time) refuse_time(value, row, dtype);
        out[row] = static_cast<T>(*time);
      }
      ++row;
    }
    return hr::Column(dtype, rows_, std::move(buffer), std::move(validity_), nulls_);
  }

  // `dtype`: of the items.
  hr::Column lists(std::optional<hr::Dtype> dtype, int levels) {
    check_levels(levels);
    hr::Buffer buffer =
        hr::Buffer::allocate_zeroed(rows_ * static_cast<int64_t>(sizeof(hr::ListSpan)));
    auto* out = buffer.mutable_as<hr::ListSpan>();
    nb::list all;
    int64_t row = 0;
    for (const nb::handle value : values_) {
      hr::ListSpan& span = out[row++];
      if (value.is_none()) continue;
      if (!is_list(value)) refuse_value(value, row - 1);
      const bool is_array = !PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr());
      const nb::object items = is_array ? value.attr("tolist")() : nb::borrow(value);
      span.size = static_cast<int64_t>(nb::len(items));
      if (span.size == 0) continue;
      span.begin = static_cast<int64_t>(nb::len(all));
      for (const nb::handle item : items) all.append(item);
    }
    return hr::Column::lists(rows_, std::move(buffer), child_column(all, dtype, levels),
                             std::move(validity_), nulls_);
  }

  // Of dicts: fields in the order in which they appear, null where a dict has none.
  hr::Column structs(int levels) {
    check_levels(levels);
    const std::optional<nb::dict> by_name = values_by_name(values_, true);
    std::vector<hr::Field> fields;
    std::vector<hr::Column> columns;
    for (const auto [name, values] : by_name.value_or(nb::dict())) {
      if (!PyUnicode_Check(name.ptr()))
        hr::throw_error<hr::TypeMismatchError>(kOp, "the name of a field is not a string",
                                               {{"name", printed(name)}},
                                               "use str as keys, or pass dtype='map[...]'");
      columns.push_back(child_column(nb::cast<nb::list>(values), {}, levels));
      fields.push_back({std::string(text_of(name, 0)), columns.back().dtype()});
    }
    return hr::Column::structs(hr::Dtype::structure(fields), rows_, std::move(columns),
                               std::move(validity_), nulls_);
  }

  hr::Column structs_of(hr::Dtype dtype, int levels) {
    check_levels(levels);
    nb::dict by_name;
    for (const hr::Field& field : dtype.fields())
      by_name[nb::str(field.name.data(), field.name.size())] = nb::list();
    int64_t row = 0;
    for (const nb::handle value : values_) {
      if (!value.is_none() && !PyDict_Check(value.ptr())) refuse_value(value, row);
      size_t known = 0;
      for (const auto [name, list] : by_name) {
        PyObject* const found =
            value.is_none() ? nullptr : PyDict_GetItemWithError(value.ptr(), name.ptr());
        known += found != nullptr;
        nb::cast<nb::list>(list).append(found ? nb::handle(found) : nb::none());
      }
      if (!value.is_none() && known < nb::len(value))
        hr::throw_error<hr::TypeMismatchError>(
            kOp, "a dict has a field that the dtype does not have",
            {{"row", row}, {"value", printed(value)}, {"dtype", dtype.name()}},
            "leave the field out, or pass a dtype that has it");
      ++row;
    }
    std::vector<hr::Column> columns;
    for (const hr::Field& field : dtype.fields())
      columns.push_back(
          child_column(nb::cast<nb::list>(by_name[nb::str(field.name.data(), field.name.size())]),
                       field.dtype, levels));
    return hr::Column::structs(dtype, rows_, std::move(columns), std::move(validity_), nulls_);
  }

  // Of dicts, or of lists of pairs of a key and a value.
  hr::Column maps(hr::Dtype dtype, int levels) {
    check_levels(levels);
    hr::Buffer buffer =
        hr::Buffer::allocate_zeroed(rows_ * static_cast<int64_t>(sizeof(hr::ListSpan)));
    auto* out = buffer.mutable_as<hr::ListSpan>();
    nb::list keys, values;
    int64_t row = 0;
    for (const nb::handle value : values_) {
      hr::ListSpan& span = out[row++];
      if (value.is_none()) continue;
      if (!PyDict_Check(value.ptr()) && !PyList_Check(value.ptr())) refuse_value(value, row - 1);
      const nb::object pairs =
          PyDict_Check(value.ptr()) ? value.attr("items")() : nb::borrow(value);
      const auto begin = static_cast<int64_t>(nb::len(keys));
      for (const nb::handle pair : pairs) {
        if (!PyTuple_Check(pair.ptr()) || nb::len(pair) != 2 || pair[0].is_none())
          refuse_value(pair, row - 1);
        keys.append(pair[0]);
        values.append(pair[1]);
      }
      span.size = static_cast<int64_t>(nb::len(keys)) - begin;
      span.begin = span.size == 0 ? 0 : begin;
    }
    const hr::Dtype entry = dtype.item();
    const std::vector<hr::Field>& fields = entry.fields();
    const auto count = static_cast<int64_t>(nb::len(keys));
    std::vector<hr::Column> columns{child_column(keys, fields[0].dtype, levels),
                                    child_column(values, fields[1].dtype, levels)};
    return hr::Column::maps(rows_, std::move(buffer),
                            hr::Column::structs(dtype.item(), count, std::move(columns)),
                            std::move(validity_), nulls_);
  }

  hr::Column categories() {
    hr::Buffer codes = hr::Buffer::allocate_zeroed(rows_ * 4);
    auto* out = codes.mutable_as<int32_t>();
    hr::DictionaryBuilder builder;
    int64_t row = 0;
    for (const nb::handle value : values_) {
      if (!value.is_none()) out[row] = builder.add(text_of(value, row));
      ++row;
    }
    return hr::Column::categories(rows_, std::move(codes), builder.finish(), std::move(validity_),
                                  nulls_);
  }

  hr::Column strings() {
    if (std::optional<hr::Column> made = plain_strings(values_.ptr(), rows_)) return *made;
    int64_t row = 0;
    for (const nb::handle value : values_) text_of(value, row++);  // says which is wrong
    hr::throw_error<hr::InternalError>(kOp, "a list of strings cannot be read");
  }

 private:
  static std::string_view text_of(nb::handle value, int64_t row) {
    if (value.is_none()) return "";
    if (!PyUnicode_Check(value.ptr())) refuse_value(value, row);
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (!text) {
      PyErr_Clear();
      hr::throw_error<hr::InvalidArgumentError>(
          kOp, "a string contains a lone surrogate, which UTF-8 cannot encode",
          {{"row", row}, {"value", printed(value)}},
          "encode it with errors='surrogatepass' or 'surrogateescape', and decode the bytes");
    }
    return {text, static_cast<size_t>(size)};
  }

  const nb::list& values_;
  int64_t rows_;
  int64_t nulls_ = 0;
  hr::Buffer validity_;
};

// A column in one pass over a list of Python's own floats, integers, strings or bools and None;
// nothing for any other list.
std::optional<hr::Column> plain_column(nb::list values) {
  PyObject* list = values.ptr();
  const auto count = static_cast<int64_t>(PyList_Size(list));
  int64_t first = 0;
  while (first < count && PyList_GetItem(list, first) == Py_None) ++first;
  if (first == count) return {};
  PyObject* value = PyList_GetItem(list, first);
  if (is_exactly(value, PyFloat_Type)) return plain_numbers<double>(list, count);
  if (is_exactly(value, PyUnicode_Type)) return plain_strings(list, count);
  if (is_exactly(value, PyBool_Type)) return plain_bools(list, count);
  if (!is_exactly(value, PyLong_Type)) return {};
  std::optional<hr::Column> whole = plain_numbers<int64_t>(list, count);
  return whole ? whole : plain_numbers<double>(list, count);
}

// The values of rows by name, null where a row has none; nothing unless all rows are dicts, or
// `with_nulls` None.
std::optional<nb::dict> values_by_name(nb::list rows, bool with_nulls) {
  std::vector<std::pair<nb::object, nb::list>> columns;  // in order of appearance
  const size_t count = nb::len(rows);
  for (size_t row = 0; row < count; ++row) {
    PyObject* each = PyList_GetItem(rows.ptr(), static_cast<Py_ssize_t>(row));
    if (with_nulls && each == Py_None) continue;
    if (with_nulls ? !PyDict_Check(each) : !is_exactly(each, PyDict_Type)) return {};
    Py_ssize_t place = 0;
    PyObject *name = nullptr, *value = nullptr;
    for (size_t at = 0; PyDict_Next(each, &place, &name, &value); ++at) {
      if (at >= columns.size() || columns[at].first.ptr() != name) {  // not the last row's order
        for (at = 0; at < columns.size(); ++at)
          if (columns[at].first.is(nb::handle(name)) || columns[at].first.equal(nb::handle(name)))
            break;
        if (at == columns.size()) columns.emplace_back(nb::borrow(name), nb::list());
      }
      nb::list& column = columns[at].second;
      for (size_t missing = nb::len(column); missing < row; ++missing) column.append(nb::none());
      column.append(nb::handle(value));
    }
  }
  nb::dict found;
  for (auto& [name, column] : columns) {
    for (size_t missing = nb::len(column); missing < count; ++missing) column.append(nb::none());
    found[name] = column;
  }
  return found;
}

bool has_dicts(const nb::list& values) {
  for (const nb::handle value : values)
    if (!value.is_none()) return PyDict_Check(value.ptr());
  return false;
}

hr::Column column_of(const nb::list& values, std::optional<hr::Dtype> wanted, int levels) {
  const std::optional<hr::Dtype> found = wanted ? wanted : infer(values);
  Builder builder(values);
  if (!found) return has_dicts(values) ? builder.structs(levels) : builder.lists({}, levels);
  const hr::Dtype dtype = *found;
  if (dtype.is_list()) return builder.lists(dtype.item(), levels);
  if (dtype.is_map()) return builder.maps(dtype, levels);
  if (dtype.is_struct()) return builder.structs_of(dtype, levels);
  if (dtype.is_bool()) return builder.bools();
  if (dtype.is_string()) return builder.strings();
  if (dtype.is_category()) return builder.categories();
  if (dtype.is_date()) return builder.times<int32_t>(dtype);
  if (dtype.has_unit()) return builder.times<int64_t>(dtype);
  if (dtype.is_decimal()) return builder.decimals(dtype);
  if (!dtype.is_real())
    hr::throw_error<hr::UnsupportedError>(kOp, "lists of complex numbers are not supported", {},
                                          "pass a NumPy array");
  return hr::visit_real(
      dtype, [&](auto type) { return builder.numbers<typename decltype(type)::type>(); });
}

}  // namespace

void bind_from_list(nb::module_& m) {
  m.def(
      "column_from_list",
      [](nb::handle values, std::optional<std::string_view> dtype) {
        return column_of(nb::list(nb::borrow(values)),
                         dtype ? std::optional(hr::dtype_from_name(*dtype)) : std::nullopt, 0);
      },
      "values"_a, "dtype"_a = nb::none(),
      nb::sig("def column_from_list(values: collections.abc.Iterable[object], "
              "dtype: str | None = None) -> Column"));
  m.def("plain_column", plain_column, "values"_a,
        nb::sig("def plain_column(values: list[typing.Any]) -> Column | None"));
  m.def(
      "values_by_name", [](const nb::list& rows) { return values_by_name(rows, false); }, "rows"_a,
      nb::sig("def values_by_name(rows: list[typing.Any]) -> "
              "dict[typing.Any, list[typing.Any]] | None"));
}
