// SPDX-License-Identifier: Apache-2.0
// Graphs of NetworkX, which are dicts of dicts, as rows of numbers; and searches in its order.
#include "python/bind/bind.h"

#include "headrace/base/error.h"
#include "headrace/graph/search/queue_order.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace {

using hr::Buffer;
using hr::Column;
using hr::Csr;
using hr::NodePtr;

using AnyDict = nb::typed<nb::dict, nb::any, nb::any>;
using AnyList = nb::typed<nb::list, nb::any>;

/// The neighbours of each node as NetworkX has them: in the order in which edges came, each once.
struct OrderedRows {
  Csr csr;
};

constexpr double kMostWhole = 9007199254740992.0;  // 2^53: float64 has all whole numbers up to it

[[noreturn]] void refuse(const std::string& reason) {
  PyErr_SetString(PyExc_NotImplementedError, reason.c_str());
  nb::raise_python_error();
}

std::string type_name(PyObject* value) {
  return nb::cast<std::string>(nb::handle(value).type().attr("__name__"));
}

PyObject* dict_of(PyObject* value, const char* what) {
  if (!PyDict_CheckExact(value))
    refuse(std::string(what) + " is not a dict: type=" + type_name(value));
  return value;
}

/// Asks for the entries of a dict of data that is about to be read. They are behind the fifth word
/// of CPython's dicts; of another layout the word is a useless hint, but not an error.
void prefetch_entries(PyObject* value) {
  static const bool has_word =
      nb::cast<size_t>(
          nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type)).attr("__basicsize__")) >=
      5 * sizeof(void*);
  if (!has_word || !PyDict_CheckExact(value)) return;
  const void* entries = nullptr;
  std::memcpy(&entries, reinterpret_cast<const char*>(value) + 4 * sizeof(void*), sizeof(void*));
  __builtin_prefetch(entries);
}

/// Whether comparing it with another plain one runs no code of Python's.
bool is_plain(PyObject* key) {
  return PyLong_CheckExact(key) || PyUnicode_CheckExact(key);
}

/// What numbers nodes: whole numbers of a small range a table, others Python's dict.
class NodeNumbers {
 public:
  explicit NodeNumbers(PyObject* adjacency) : list_(nb::steal<nb::list>(PyDict_Keys(adjacency))) {
    if (!list_.is_valid()) nb::raise_python_error();
    const size_t count = list_.size();
    if (read_table(4 * static_cast<int64_t>(count) + 1024)) return;
    for (size_t i = 0; i < count; ++i) {
      const nb::handle key = list_[i];
      numbers_[key] = i;
      are_plain_ = are_plain_ && is_plain(key.ptr());
    }
  }

  /// Throws what Python does, and NotImplementedError for what is no node.
  uint32_t find(PyObject* key) const {
    if (!table_.empty()) {
      const int64_t whole = whole_of(key);
      if (whole >= 0 && whole < static_cast<int64_t>(table_.size()) && table_[whole] != kNone)
        return table_[whole];
    }
    return find_other(key);
  }

  bool are_plain() const { return are_plain_; }

  const nb::list& list() const { return list_; }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // Whether all nodes are whole numbers below `most`.
  bool read_table(int64_t most) {
    std::vector<int64_t> keys;
    keys.reserve(list_.size());
    for (const nb::handle key : list_) {
      keys.push_back(whole_of(key.ptr()));
      if (keys.back() < 0 || keys.back() >= most) return false;
    }
    if (keys.empty()) return false;
    table_.assign(static_cast<size_t>(*std::ranges::max_element(keys)) + 1, kNone);
    for (size_t i = 0; i < keys.size(); ++i)
      table_[static_cast<size_t>(keys[i])] = static_cast<uint32_t>(i);
    return true;
  }

  // Of what is in no table: it may equal a whole number of one.
  uint32_t find_other(PyObject* key) const {
    if (!table_.empty() && numbers_.size() == 0)
      for (size_t i = 0; i < list_.size(); ++i) numbers_[list_[i]] = i;
    PyObject* const number = PyDict_GetItemWithError(numbers_.ptr(), key);
    if (!number && PyErr_Occurred()) nb::raise_python_error();
    if (!number) refuse("a neighbour is not a node of the graph");
    return static_cast<uint32_t>(PyLong_AsUnsignedLong(number));
  }

  static int64_t whole_of(PyObject* key) {
    if (!PyLong_CheckExact(key)) return -1;
    int overflow = 0;
    return PyLong_AsLongLongAndOverflow(key, &overflow);  // -1 for what is too large
  }

  nb::list list_;
  mutable nb::dict numbers_{};  // made when a table is not enough
  bool are_plain_ = true;
  hr::BudgetedVector<uint32_t> table_{};  // of each whole number
};

/// An attribute of edges that is read as a number.
struct Attribute {
  nb::object name;
  nb::object missing;  // its value where an edge has none
  Buffer values;
  bool is_whole = true;
  double total = 0;  // of whole numbers, so that lengths of paths are exact

  /// Not held: the data alone keep it.
  PyObject* find(PyObject* data) const {
    PyObject* const value = PyDict_GetItemWithError(data, name.ptr());
    if (!value && PyErr_Occurred()) nb::raise_python_error();
    return value ? value : missing.ptr();
  }

  void read(PyObject* value, double& out) {
    double number = 0;
    if (PyFloat_Check(value)) {
      is_whole = false;
      number = PyFloat_AsDouble(value);
    } else if (PyLong_Check(value)) {
      number = PyLong_AsDouble(value);
      if (PyErr_Occurred()) PyErr_Clear();
      total += std::abs(number);
      if (!(total < kMostWhole)) refuse("an attribute of edges is beyond 2^53 in sum");
    } else {
      refuse("an attribute of an edge is not a number: " + nb::cast<std::string>(nb::str(name)) +
             ", type=" + type_name(value));
    }
    if (!std::isfinite(number)) refuse("an attribute of an edge is not finite");
    out = number;
  }
};

/// Walks the dicts and writes down rows and edges. What it counts first bounds what it writes.
class Walk {
 public:
  Walk(const nb::dict& adjacency, const nb::list& attributes, bool directed, bool multigraph)
      : adjacency_(adjacency),
        directed_(directed),
        multigraph_(multigraph),
        numbers_(adjacency.ptr()) {
    count();
    rows_.offsets = Buffer::allocate(8 * (rows_.vertices + 1));
    rows_.targets = Buffer::allocate(4 * entries_);
    source_ = Buffer::allocate(4 * most_edges_);
    target_ = Buffer::allocate(4 * most_edges_);
    targets_out_ = rows_.targets.mutable_as<uint32_t>();
    edges_out_ = {source_.mutable_as<uint32_t>(), target_.mutable_as<uint32_t>()};
    for (const nb::handle each : attributes)
      attributes_.push_back(
          {nb::borrow(each[0]), nb::borrow(each[1]), Buffer::allocate(8 * most_edges_)});
  }

  auto run() {
    auto* const offsets = rows_.offsets.mutable_as<int64_t>();
    PyObject *key = nullptr, *neighbours = nullptr;
    Py_ssize_t at = 0;
    int64_t row = 0;
    std::array<nb::object, kAhead> coming;  // rows
    for (bool more = true; more;) {
      size_t count = 0;
      while (count < kAhead && (more = PyDict_Next(adjacency_.ptr(), &at, &key, &neighbours) != 0))
        coming[count++] = nb::borrow(neighbours);
      // Their first neighbours are on their way from memory together.
      for (size_t i = 0; i < count; ++i) {
        Py_ssize_t first = 0;
        if (PyDict_Next(coming[i].ptr(), &first, &key, &neighbours)) __builtin_prefetch(key);
      }
      for (size_t i = 0; i < count; ++i) {
        if (row == rows_.vertices) refuse("the graph changed while it was read");
        offsets[row] = entry_ + static_cast<int64_t>(item_count_);
        read_row(static_cast<uint32_t>(row++), coming[i].ptr());
      }
      read_items();  // they are of rows that are held
    }
    offsets[row] = entry_;
    read_pending();
    if (entry_ != entries_ || row != rows_.vertices) refuse("the graph changed while it was read");
    for (Buffer* each : {&rows_.offsets, &rows_.targets, &source_, &target_}) each->seal();
    nb::list columns;
    for (Attribute& each : attributes_) {
      each.values.seal();
      columns.append(std::tuple(each.name,
                                hr::lazy_value(Column(hr::TypeId::kFloat64, edge_, each.values)),
                                each.is_whole));
    }
    const auto ends = [&](const Buffer& buffer) {
      return hr::lazy_value(Column(hr::TypeId::kUInt32, edge_, buffer));
    };
    return std::tuple(AnyList(numbers_.list()), OrderedRows{rows_}, ends(source_), ends(target_),
                      AnyList(columns));
  }

 private:
  void count() {
    PyObject *key = nullptr, *neighbours = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(adjacency_.ptr(), &at, &key, &neighbours)) {
      ++rows_.vertices;
      entries_ += PyDict_Size(dict_of(neighbours, "a row of the adjacency"));
      PyObject *neighbour = nullptr, *keys = nullptr;
      Py_ssize_t place = 0;
      while (multigraph_ && PyDict_Next(neighbours, &place, &neighbour, &keys))
        most_edges_ += PyDict_Size(dict_of(keys, "edges between two nodes"));
    }
    if (!multigraph_) most_edges_ = entries_;
    if (!directed_) most_edges_ = std::min(most_edges_, (most_edges_ + rows_.vertices) / 2 + 1);
    if (multigraph_ && !directed_) most_edges_ *= 2;  // all of them may be loops
  }

  bool needs_data() const { return multigraph_ || !attributes_.empty(); }

  void read_row(uint32_t row, PyObject* neighbours) {
    const bool needs_data = this->needs_data();
    Item item{nullptr, nullptr, row};
    Py_ssize_t at = 0;
    while (PyDict_Next(neighbours, &at, &item.key, &item.data)) {
      __builtin_prefetch(item.key);
      if (needs_data) __builtin_prefetch(item.data);
      items_[item_count_++] = item;
      if (item_count_ == items_.size()) read_items();
    }
  }

  // Neighbours read from rows, which are on their way from memory since.
  void read_items() {
    std::vector<nb::object> held;  // comparing other keys may run anything
    const size_t count = std::exchange(item_count_, 0);
    if (needs_data())
      for (size_t i = 0; i < count; ++i) prefetch_entries(items_[i].data);
    for (size_t i = 0; i < count; ++i) {
      const Item item = items_[i];
      if (held.empty() && !(numbers_.are_plain() && is_plain(item.key)))
        for (size_t rest = i; rest < count; ++rest)
          for (PyObject* each : {items_[rest].key, items_[rest].data})
            held.push_back(nb::borrow(each));
      const uint32_t target = numbers_.find(item.key);
      if (entry_ == entries_) refuse("the graph changed while it was read");
      targets_out_[entry_++] = target;
      if (directed_ || item.row <= target) read_edges(item.row, target, item.data);
    }
  }

  void read_edges(uint32_t source, uint32_t target, PyObject* data) {
    if (!multigraph_) return read_edge(source, target, data);
    const nb::object held = nb::borrow(data);
    PyObject *key = nullptr, *each = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(data, &at, &key, &each)) read_edge(source, target, each);
  }

  void read_edge(uint32_t source, uint32_t target, PyObject* data) {
    if (edge_ == most_edges_) refuse("the rows of an undirected graph are not symmetric");
    edges_out_[0][edge_] = source;
    edges_out_[1][edge_] = target;
    ++edge_;
    if (attributes_.empty()) return;
    data_[pending_++] = nb::borrow(data);
    if (pending_ == kAhead) read_pending();
  }

  // The attributes of the last edges: where values are first, then what they are. A search may run
  // code of Python's that lets others go, so each is found again before it is read.
  void read_pending() {
    for (Attribute& each : attributes_) {
      for (size_t i = 0; i < pending_; ++i)
        __builtin_prefetch(each.find(dict_of(data_[i].ptr(), "data of an edge")));
      double* const out = each.values.mutable_as<double>() + edge_ - pending_;
      for (size_t i = 0; i < pending_; ++i)
        each.read(nb::borrow(each.find(data_[i].ptr())).ptr(), out[i]);
    }
    pending_ = 0;
  }

  struct Item {
    PyObject* key;
    PyObject* data;
    uint32_t row;
  };

  static constexpr size_t kAhead = 32;

  nb::dict adjacency_;
  bool directed_;
  bool multigraph_;
  NodeNumbers numbers_;
  Csr rows_{};
  Buffer source_{};
  Buffer target_{};
  uint32_t* targets_out_ = nullptr;
  std::array<uint32_t*, 2> edges_out_{};
  std::vector<Attribute> attributes_{};
  int64_t entries_ = 0;
  int64_t most_edges_ = 0;
  int64_t entry_ = 0;
  int64_t edge_ = 0;
  std::array<Item, 8 * kAhead> items_{};
  size_t item_count_ = 0;
  std::array<nb::object, kAhead> data_{};  // of the last edges, whose attributes are to be read
  size_t pending_ = 0;
};

NodePtr numbers_of(hr::TypeId dtype, int64_t rows, const Buffer& buffer) {
  return hr::lazy_value(hr::Tensor(dtype, {rows}, buffer));
}

const Buffer& buffer_of(const NodePtr& node) {
  return std::get<hr::Tensor>(hr::force(node)).buffer();
}

/// Runs a search without the GIL.
template <class F>
hr::SearchOrder searched(F&& search) {
  const GilReleased unlocked;
  return search();
}

NodePtr reached(const hr::SearchOrder& order, const Buffer& numbers) {
  return numbers_of(hr::TypeId::kUInt32, order.count, numbers);
}

NodePtr distances(const hr::SearchOrder& order) {
  return numbers_of(hr::TypeId::kFloat64, order.count, order.distances);
}

}  // namespace

void bind_networkx(nb::module_& m) {
  nb::class_<OrderedRows>(m, "OrderedRows")
      .def("offsets",
           [](const OrderedRows& rows) {
             return numbers_of(hr::TypeId::kInt64, rows.csr.vertices + 1, rows.csr.offsets);
           })
      .def("targets",
           [](const OrderedRows& rows) {
             return numbers_of(hr::TypeId::kUInt32, rows.csr.entries(), rows.csr.targets);
           })
      .def(
          "weights",
          [](const OrderedRows& rows, const hr::Graph& graph, const NodePtr& weights) {
            const Column& column = std::get<Column>(hr::force(weights));
            return numbers_of(hr::TypeId::kFloat64, rows.csr.entries(),
                              hr::ordered_weights(graph, rows.csr, column));
          },
          "graph"_a, "weights"_a, Unlocked())
      .def(
          "bfs",
          [](const OrderedRows& rows, const std::vector<int64_t>& sources, int64_t most) {
            const hr::SearchOrder order =
                searched([&] { return hr::queue_bfs(rows.csr, sources, most); });
            return std::tuple(reached(order, order.vertices), reached(order, order.before),
                              order.levels);
          },
          "sources"_a, "most"_a, "Vertices as met, the one before each, and begins of levels.")
      .def(
          "bfs_before",
          [](const OrderedRows& rows, int64_t source, int64_t most) {
            hr::SearchOrder order =
                searched([&] { return hr::queue_bfs(rows.csr, {{source}}, most, true); });
            return std::tuple(order.levels, order.met, order.met_begins, order.met_before);
          },
          "source"_a, "most"_a, "Begins of levels, vertices as met, and all before each in rows.")
      .def(
          "dijkstra",
          [](const OrderedRows& rows, const NodePtr& weights, const std::vector<int64_t>& sources,
             int64_t target, double cutoff) {
            const hr::SearchOrder order = searched([&] {
              return hr::queue_dijkstra(rows.csr, buffer_of(weights), sources, {target, cutoff});
            });
            return std::tuple(reached(order, order.vertices), distances(order),
                              reached(order, order.before));
          },
          "weights"_a, "sources"_a, "target"_a, "cutoff"_a,
          "Vertices and their distances, nearest first, and the one before each.")
      .def(
          "dijkstra_before",
          [](const OrderedRows& rows, const NodePtr& weights, int64_t source, double cutoff) {
            const hr::SearchOrder order = searched([&] {
              return hr::queue_dijkstra(rows.csr, buffer_of(weights), {{source}},
                                        {-1, cutoff, true});
            });
            return std::tuple(reached(order, order.vertices), distances(order), order.met,
                              order.met_begins, order.met_before);
          },
          "weights"_a, "source"_a, "cutoff"_a,
          "Vertices and their distances, vertices as met, and all before each in rows.")
      .def(
          "bellman_ford",
          [](const OrderedRows& rows, const NodePtr& weights, int64_t source, bool early) {
            const hr::SearchOrder order = searched([&] {
              return hr::queue_bellman_ford(rows.csr, buffer_of(weights), {{source}}, early);
            });
            return std::tuple(distances(order), order.met, order.met_begins, order.met_before);
          },
          "weights"_a, "source"_a, "early"_a,
          "Distances of vertices as met, these, and all before each in rows.")
      .def(
          "path_between",
          [](const OrderedRows& rows, const OrderedRows& backward, int64_t source, int64_t target) {
            return hr::path_between(rows.csr, backward.csr, source, target);
          },
          "backward"_a, "source"_a, "target"_a, Unlocked())
      .def(
          "weighed_path_between",
          [](const OrderedRows& rows, const NodePtr& weights, const OrderedRows& backward,
             const NodePtr& backward_weights, int64_t source, int64_t target) {
            hr::WeighedPath path =
                hr::weighed_path_between(rows.csr, buffer_of(weights), backward.csr,
                                         buffer_of(backward_weights), source, target);
            return std::pair(path.length, std::move(path.vertices));
          },
          "weights"_a, "backward"_a, "backward_weights"_a, "source"_a, "target"_a, Unlocked());
  m.def(
      "networkx_walk",
      [](const AnyDict& adjacency, const AnyList& attributes, bool directed, bool multigraph) {
        return Walk(adjacency, attributes, directed, multigraph).run();
      },
      "adjacency"_a, "attributes"_a, "directed"_a, "multigraph"_a,
      "Nodes, rows, and edges with attributes as numbers.");
}
