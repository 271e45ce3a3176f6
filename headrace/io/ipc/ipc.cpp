// SPDX-License-Identifier: Apache-2.0
// The IPC reader: opens, chooses, has batches read by all workers, joins them.
#include "headrace/io/ipc/ipc.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exchange/arrow_strings.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/exec/workers.h"
#include "headrace/io/counted_source.h"
#include "headrace/io/ipc/body.h"
#include "headrace/io/ipc/strings.h"
#include "headrace/io/row_groups.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

namespace hr {

using ipc::Batch;
using ipc::BodyCodec;
using ipc::FieldPlace;

struct IpcFile::State {
  std::string op;
  std::string name;
  Open open;
  ipc::Contents contents{};
  std::vector<std::string> names{};
  /// [batch][column]
  std::vector<std::vector<FieldPlace>> places{};
  std::vector<Column> dictionaries{};
  int64_t size = 0;
  mutable std::atomic<int64_t> bytes_read{0};

  /// Loaded to its end: bodies were found there when the messages were read.
  std::shared_ptr<ByteSource> opened() const;

  template <class Work>
  auto with_origin(std::string_view column, int64_t batch, Work&& work) const;
  void read_dictionaries(const ByteSource& text);
  Column read_dictionary(const ByteSource& text, const ipc::Field& values,
                         const ipc::DictionaryBatches& of) const;
  Column read_batch(const ByteSource& text, int64_t column, size_t batch) const;
  Dtype dtype(int64_t column) const;
  Table read(const ByteSource& text, const std::vector<int64_t>& columns) const;
  Table none(const std::vector<int64_t>& columns) const;
  std::vector<int64_t> rows() const;
};

// What is wrong with the bytes, with the names that are known here.
template <class Work>
auto IpcFile::State::with_origin(std::string_view column, int64_t batch, Work&& work) const {
  const auto message = [&](const char* what, const char* fix) {
    std::string place = column.empty() ? "" : ", column='" + std::string(column) + "'";
    if (batch >= 0) place += ", batch=" + std::to_string(batch);
    return op + ": " + what + ": path='" + name + "'" + place + "; " + fix;
  };
  const char* const damage = "fetch or write the file again";
  try {
    return work();
  } catch (const ipc::Damage& error) {
    throw InputError(message(error.what(), damage), name);
  } catch (const ipc::Unsupported& error) {
    throw UnsupportedError(message(error.what(), "read other columns, or convert it first"));
  } catch (const InvalidArgumentError& error) {
    std::string_view what = error.what();
    if (what.starts_with(op + ": ")) what.remove_prefix(op.size() + 2);
    throw InputError(message(std::string(what).c_str(), damage), name);
  }
}

std::shared_ptr<ByteSource> IpcFile::State::opened() const {
  auto source = std::make_shared<CountedSource>(open(), bytes_read);
  for (const Batch& batch : contents.batches) source->load(batch.body + batch.body_length);
  for (const ipc::DictionaryBatches& of : contents.dictionaries)
    for (const Batch& batch : of.batches) source->load(batch.body + batch.body_length);
  return source;
}

IpcFile::IpcFile(std::string op, std::string name, Open open) : state_(std::make_shared<State>()) {
  State& state = *state_;
  state.op = std::move(op);
  state.name = std::move(name);
  state.open = std::move(open);
  const ScopedTag tag("read_ipc");
  const std::shared_ptr<ByteSource> text = state.open();
  state.with_origin({}, -1, [&] {
    state.contents = ipc::read_contents(*text);
    for (const ipc::Field& field : state.contents.fields) {
      check_name(state.op, field.name);
      state.names.push_back(field.name);
    }
    const Table check(state.names, std::vector<Column>(state.names.size()));
    for (const Batch& batch : state.contents.batches) {
      state.places.push_back(ipc::places_of(state.contents.fields, batch));
      for (const FieldPlace& place : state.places.back())
        if (batch.nodes[place.node].length != batch.length)
          throw ipc::Damage("a column has another number of rows than its batch");
    }
    state.read_dictionaries(*text);
  });
  state.size = std::max<int64_t>(text->known_size(), 0);
}

namespace {

const ipc::Field* find_dictionary(const std::vector<ipc::Field>& fields, int64_t id) {
  for (const ipc::Field& field : fields) {
    if (field.dictionary && field.dictionary_id == id) return &field;
    if (const ipc::Field* found = find_dictionary(field.children, id)) return found;
  }
  return nullptr;
}

}  // namespace

void IpcFile::State::read_dictionaries(const ByteSource& text) {
  for (const ipc::DictionaryBatches& of : contents.dictionaries) {
    const ipc::Field* const field = find_dictionary(contents.fields, of.id);
    if (!field) throw ipc::Damage("a dictionary belongs to no column");
    dictionaries.push_back(read_dictionary(text, *field->dictionary, of));
  }
}

// A dictionary that Headrace does not read is left out: its column may not be wanted.
Column IpcFile::State::read_dictionary(const ByteSource& text, const ipc::Field& values,
                                       const ipc::DictionaryBatches& of) const {
  std::vector<Column> parts;
  try {
    for (const Batch& batch : of.batches) {
      FieldPlace end;
      end.skip(values, batch);
      if (end.node != batch.nodes.size() || end.buffer != batch.buffers.size())
        throw ipc::Damage("a dictionary has other values than the schema says");
      parts.push_back(ipc::read_field(op, text, values, batch, {}, dictionaries));
    }
  } catch (const UnsupportedError&) {
    return {};
  }
  return concatenate(op, parts[0].dtype(), parts);
}

const std::vector<std::string>& IpcFile::names() const {
  return state_->names;
}

Dtype IpcFile::State::dtype(int64_t column) const {
  const ipc::Field& field = contents.fields[static_cast<size_t>(column)];
  return with_origin(field.name, -1, [&] { return ipc::dtype_of(op, field); });
}

Column IpcFile::State::read_batch(const ByteSource& text, int64_t column, size_t batch) const {
  const ipc::Field& field = contents.fields[static_cast<size_t>(column)];
  return with_origin(field.name, static_cast<int64_t>(batch), [&] {
    Column read = ipc::read_field(op, text, field, contents.batches[batch],
                                  places[batch][static_cast<size_t>(column)], dictionaries);
    // Dictionaries are found by their number, which may be that of another column's.
    if (read.num_rows() > 0 && read.dtype() != ipc::dtype_of(op, field))
      throw ipc::Damage("a column has values of another type than the schema says");
    return read;
  });
}

std::vector<int64_t> IpcFile::State::rows() const {
  std::vector<int64_t> rows;
  for (const Batch& batch : contents.batches) rows.push_back(batch.length);
  return rows;
}

namespace {

constexpr int64_t kPartBytes = int64_t{1} << 22;

// Values of a fixed width that all batches read to one buffer, or strings, whose views have one.
struct FlatColumn {
  Buffer values{};
  std::unique_ptr<ipc::StringReading> strings{};
  std::vector<Column> validity{};  // of each batch, as bools
};

// What one task reads.
struct Task {
  size_t column;
  ipc::BatchTask part;
};

Column ones(int64_t rows) {
  Buffer bits = Buffer::allocate(bitmap_bytes(rows));
  std::memset(bits.mutable_data(), 0xFF, static_cast<size_t>(bits.size_bytes()));
  return Column(TypeId::kBool, rows, std::move(bits));
}

// One reading of some columns.
class Reading {
 public:
  Reading(const IpcFile::State& file, const ByteSource& text, const std::vector<int64_t>& columns)
      : file_(file),
        text_(text),
        columns_(columns),
        is_shared_(text.share(0, 0)),
        flat_(columns.size()),
        parts_(columns.size()) {
    int64_t rows = 0;
    for (const Batch& batch : file.contents.batches) {
      first_.push_back(rows);
      rows = checked_add(file.op, rows, batch.length);
    }
    rows_ = rows;
    for (const int64_t column : columns) dtypes_.push_back(file.dtype(column));
  }

  Table run() {
    std::vector<Task> first, second;
    for (size_t c = 0; c < columns_.size(); ++c)
      file_.with_origin(field(c).name, -1, [&] { plan(c, first, second); });
    run(first);
    run(second);
    std::vector<std::string> names;
    std::vector<Column> made;
    for (size_t c = 0; c < columns_.size(); ++c) {
      names.push_back(field(c).name);
      made.push_back(finish(c));
    }
    return Table(std::move(names), std::move(made));
  }

 private:
  const ipc::Field& field(size_t c) const {
    return file_.contents.fields[static_cast<size_t>(columns_[c])];
  }

  const FieldPlace& place(size_t c, size_t batch) const {
    return file_.places[batch][static_cast<size_t>(columns_[c])];
  }

  bool is_flat(size_t c) const {
    const ipc::Field& of = field(c);
    return of.layout == ipc::Layout::kFixed && !of.dictionary && of.bits >= 8 &&
           dtypes_[c].size_bytes() * 8 == of.bits && of.format != "tdm" &&
           !dtypes_[c].is_decimal();  // their digits are counted with their validity
  }

  void run(const std::vector<Task>& tasks) const {
    parallel_for(std::ssize(tasks), [&](int64_t k) {
      const Task& task = tasks[static_cast<size_t>(k)];
      file_.with_origin(field(task.column).name, static_cast<int64_t>(task.part.batch),
                        task.part.run);
    });
  }

  void plan(size_t c, std::vector<Task>& first, std::vector<Task>& second) {
    const auto& batches = file_.contents.batches;
    std::vector<FieldPlace> places;
    for (size_t b = 0; b < batches.size(); ++b) places.push_back(place(c, b));
    std::vector<ipc::BatchTask> soon, late;
    if (rows_ > 0 && !is_shared_ && is_flat(c)) {
      plan_flat(c, soon);
    } else if (rows_ > 0 && !is_shared_ &&
               ipc::StringReading::can_read(field(c), batches, places)) {
      flat_[c].strings = std::make_unique<ipc::StringReading>(file_.op, text_, field(c), batches,
                                                              std::move(places), rows_, memories_);
      flat_[c].strings->plan(soon, late);
    } else {
      plan_parts(c, soon);
    }
    if (parts_[c].empty()) plan_validity(c, soon);
    for (ipc::BatchTask& task : soon) first.push_back({c, std::move(task)});
    for (ipc::BatchTask& task : late) second.push_back({c, std::move(task)});
  }

  // Batch by batch, to be joined.
  void plan_parts(size_t c, std::vector<ipc::BatchTask>& tasks) {
    const auto& batches = file_.contents.batches;
    parts_[c].resize(batches.size());
    for (size_t b = 0; b < batches.size(); ++b)
      if (batches[b].length > 0 || field(c).dictionary)
        tasks.push_back(
            {b, [this, c, b] { parts_[c][b] = file_.read_batch(text_, columns_[c], b); }});
  }

  // In parts where a batch is not compressed.
  void plan_flat(size_t c, std::vector<ipc::BatchTask>& tasks) {
    const auto& batches = file_.contents.batches;
    const int64_t width = dtypes_[c].size_bytes();
    for (size_t b = 0; b < batches.size(); ++b)
      ipc::check_buffer(batches[b], place(c, b).buffer + 1,
                        checked_multiply(file_.op, batches[b].length, width));
    flat_[c].values = Buffer::allocate_spillable(checked_multiply(file_.op, rows_, width));
    for (size_t b = 0; b < batches.size(); ++b) {
      const int64_t rows = batches[b].length;
      const int64_t step = batches[b].codec == BodyCodec::kNone ? kPartBytes / width : rows;
      for (int64_t begin = 0; begin < rows; begin += step)
        tasks.push_back({b, [this, c, b, begin, count = std::min(step, rows - begin)] {
                           read_flat(c, b, begin, count);
                         }});
    }
  }

  void read_flat(size_t c, size_t b, int64_t begin, int64_t rows) {
    const Batch& batch = file_.contents.batches[b];
    const size_t buffer = place(c, b).buffer + 1;
    const int64_t width = dtypes_[c].size_bytes();
    Buffer& values = flat_[c].values;
    const int64_t at = (first_[b] + begin) * width, bytes = rows * width;
    char* const out = values.mutable_as<char>();
    if (batch.codec == BodyCodec::kNone) {
      const Pin pin{{&values, at, at + bytes, true}};
      return ipc::read_plain(text_, batch, buffer, begin * width, out + at, bytes);
    }
    memories_.lend([&](ipc::BodyMemory& memory) {
      const Pin pin{{&values, at, at + bytes, true}};
      ipc::unpack_buffer(text_, batch, buffer, out + at, bytes, memory);
    });
  }

  void plan_validity(size_t c, std::vector<ipc::BatchTask>& tasks) {
    const auto& batches = file_.contents.batches;
    flat_[c].validity.resize(batches.size());
    for (size_t b = 0; b < batches.size(); ++b) {
      const ipc::FieldNode& node = batches[b].nodes[place(c, b).node];
      if (node.null_count < 0 || node.null_count > node.length)
        throw ipc::Damage("a column has an impossible number of nulls");
      if (node.null_count > 0) tasks.push_back({b, [this, c, b] { read_validity(c, b); }});
    }
  }

  void read_validity(size_t c, size_t b) {
    const Batch& batch = file_.contents.batches[b];
    Buffer bits = ipc::read_buffer(text_, batch, place(c, b).buffer, bitmap_bytes(batch.length));
    flat_[c].validity[b] = Column(TypeId::kBool, batch.length, std::move(bits));
  }

  Column finish(size_t c) {
    const Dtype dtype = dtypes_[c];
    FlatColumn& flat = flat_[c];
    if (flat.strings) return flat.strings->finish(validity_of(flat));
    if (!flat.values) {
      std::erase_if(parts_[c], [&](const Column& part) { return part.dtype() != dtype; });
      Column made = is_shared_ ? concat_chunks(file_.op, dtype, parts_[c])
                               : concatenate(file_.op, dtype, parts_[c]);
      parts_[c].clear();
      return made;
    }
    flat.values.seal();
    Buffer validity = validity_of(flat);
    const int64_t nulls = validity ? -1 : 0;
    return Column(dtype, rows_, std::move(flat.values), std::move(validity), nulls);
  }

  // Nothing where no row is null.
  Buffer validity_of(FlatColumn& flat) const {
    const auto has_nulls = [](const Column& bits) { return bits.dtype().is_bool(); };
    if (std::none_of(flat.validity.begin(), flat.validity.end(), has_nulls)) return {};
    for (size_t b = 0; b < flat.validity.size(); ++b)
      if (!has_nulls(flat.validity[b])) flat.validity[b] = ones(file_.contents.batches[b].length);
    return concatenate(file_.op, TypeId::kBool, flat.validity).values_buffer();
  }

  const IpcFile::State& file_;
  const ByteSource& text_;
  const std::vector<int64_t>& columns_;
  std::vector<Dtype> dtypes_{};
  std::vector<int64_t> first_{};  // row of each batch
  int64_t rows_ = 0;
  const bool is_shared_;  // buffers of the file are those of the columns
  ScratchPool<ipc::BodyMemory> memories_{};
  std::vector<FlatColumn> flat_;
  std::vector<std::vector<Column>> parts_;
};

}  // namespace

Table IpcFile::State::read(const ByteSource& text, const std::vector<int64_t>& columns) const {
  Table table = Reading(*this, text, columns).run();
  text.check_unchanged();
  return table;
}

Table IpcFile::read(const std::vector<int64_t>& columns) const {
  const ScopedTag tag("read_ipc");
  return state_->read(*state_->opened(), columns);
}

Table IpcFile::State::none(const std::vector<int64_t>& columns) const {
  std::vector<std::string> labels;
  std::vector<Column> made;
  for (const int64_t column : columns) {
    labels.push_back(names[static_cast<size_t>(column)]);
    made.emplace_back(dtype(column), 0, Buffer());
  }
  return Table(std::move(labels), std::move(made));
}

namespace {

// A column without values.
Column nulls_of(Dtype dtype, int64_t rows) {
  Buffer values =
      Buffer::allocate_zeroed(dtype.is_bool() ? bitmap_bytes(rows) : rows * dtype.size_bytes());
  Buffer validity = rows > 0 ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  return Column(dtype, rows, std::move(values), std::move(validity), rows);
}

// The format has no bounds.
ColumnBounds unknown_bounds(Dtype dtype, int64_t batches) {
  const Dtype values = dtype.is_category() ? dtype.item() : dtype;
  return {.least = nulls_of(values, batches),
          .most = nulls_of(values, batches),
          .nulls = nulls_of(TypeId::kInt64, batches)};
}

// The rows of the batches with true in `groups`; none of these: all.
Table rows_of(const std::vector<bool>& groups, const std::vector<int64_t>& rows, Table table) {
  if (std::ranges::all_of(groups, std::identity())) return table;
  std::vector<Column> made;
  for (const Column& column : table.columns()) {
    std::vector<Column> parts{column.slice(0, 0)};
    int64_t begin = 0;
    for (size_t g = 0; g < groups.size(); begin += rows[g++])
      if (groups[g]) parts.push_back(column.slice(begin, rows[g]));
    made.push_back(concatenate("scan_ipc", column.dtype(), parts));
  }
  return Table(table.names(), std::move(made));
}

}  // namespace

NodePtr IpcFile::scan(const std::vector<int64_t>& columns) const {
  const std::shared_ptr<const State> file = state_;
  const auto some = [columns](const std::vector<bool>& wanted) {
    std::vector<int64_t> found;
    for (size_t c = 0; c < wanted.size(); ++c)
      if (wanted[c]) found.push_back(columns[c]);
    return found;
  };
  const auto read_one = [file, some](int64_t batch, const std::vector<bool>& wanted) {
    const std::shared_ptr<ByteSource> text = file->opened();
    const std::vector<int64_t> chosen = some(wanted);
    std::vector<std::string> labels;
    std::vector<Column> made(chosen.size());
    for (const int64_t column : chosen) labels.push_back(file->names[static_cast<size_t>(column)]);
    parallel_for(std::ssize(chosen), [&](int64_t c) {
      made[static_cast<size_t>(c)] =
          file->read_batch(*text, chosen[static_cast<size_t>(c)], static_cast<size_t>(batch));
    });
    text->check_unchanged();
    return Table(std::move(labels), std::move(made));
  };
  return scan_row_groups(
      {.op = file->op,
       .name = file->name.substr(file->name.rfind('/') + 1),
       .none = file->none(columns),
       .rows = file->rows(),
       .bytes = file->size,
       .bytes_read = [file] { return file->bytes_read.load(); },
       .bounds =
           [file, columns](int64_t column) {
             return unknown_bounds(file->dtype(columns[static_cast<size_t>(column)]),
                                   std::ssize(file->contents.batches));
           },
       .read =
           [file, some](const std::vector<bool>& wanted, const std::vector<bool>& groups) {
             return rows_of(groups, file->rows(), file->read(*file->opened(), some(wanted)));
           },
       .read_group =
           [read_one](int64_t batch, const std::vector<bool>& wanted, int64_t batch_rows) {
             auto rows = std::make_shared<std::pair<Table, int64_t>>(read_one(batch, wanted), 0);
             return [rows, batch_rows]() -> std::optional<Table> {
               const int64_t left = rows->first.num_rows() - rows->second;
               if (left == 0) return std::nullopt;
               const int64_t count = std::min(left, batch_rows);
               rows->second += count;
               return rows->first.slice(rows->second - count, count);
             };
           },
       .read_picked =
           [file, read_one](std::span<const PickedGroup> groups, const std::vector<bool>& wanted) {
             std::vector<Table> tables(groups.size());
             parallel_for(std::ssize(groups), [&](int64_t task) {
               const auto at = static_cast<size_t>(task);
               tables[at] = read_one(groups[at].group, wanted);
             });
             std::vector<Column> made;
             for (int64_t c = 0; c < tables[0].num_columns(); ++c) {
               std::vector<Column> parts;
               for (size_t at = 0; at < groups.size(); ++at) {
                 const Column& test = groups[at].test;
                 parts.push_back(
                     filter(tables[at].column(c).slice(0, test.num_rows()), Mask(test)));
               }
               made.push_back(concatenate(file->op, parts[0].dtype(), parts));
             }
             return Table(tables[0].names(), std::move(made));
           }});
}

}  // namespace hr
