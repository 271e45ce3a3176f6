// SPDX-License-Identifier: Apache-2.0
// Plan nodes: what the handles in Python stand on.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"

#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/device_profile.h"
#include "headrace/exec/device_stream.h"
#include "headrace/frame/row_set.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/plan/execute/estimates.h"
#include "headrace/plan/execute/profile.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/device_copies.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/picked_rows.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/plan_bytes.h"
#include "headrace/plan/graph/plan_copy.h"
#include "headrace/plan/graph/plan_nodes.h"
#include "headrace/plan/graph/provenance.h"
#include "headrace/plan/graph/shards.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/graph/unique_keys.h"
#include "headrace/plan/graph/view.h"

#include <algorithm>
#include <limits>
#include <variant>

namespace {

using hr::NodePtr;

const char* form_name(hr::Form form) {
  switch (form) {
    case hr::Form::kColumn:
      return "column";
    case hr::Form::kTensor:
      return "tensor";
    case hr::Form::kTable:
      break;
  }
  return "table";
}

template <class Data>
NodePtr data(Data value, std::string detail, uint64_t domain, bool live, bool kept) {
  NodePtr made = hr::lazy_value(std::move(value), std::move(detail), domain, live);
  if (kept) hr::keep_for_default_place(made);
  return made;
}

// A Python number takes the dtype of what it meets.
NodePtr scalar(nb::handle value) {
  if (PyBool_Check(value.ptr())) return hr::literal(hr::Scalar::weak(nb::cast<bool>(value)));
  if (PyFloat_Check(value.ptr())) return hr::literal(hr::Scalar::weak(nb::cast<double>(value)));
  if (!PyLong_Check(value.ptr()))
    hr::throw_error<hr::UnsupportedError>(
        "operand", "unsupported value in arithmetic or a comparison",
        {{"value", printed(value)}, {"type", printed(value.type().attr("__name__"))}},
        "use bool, int or float; strings and dates can be converted for pandas or Polars: "
        "to_pandas(), to_arrow()");
  int64_t number = 0;
  if (nb::try_cast(value, number)) return hr::literal(hr::Scalar::weak(number));
  uint64_t big = 0;
  if (nb::try_cast(value, big)) return hr::literal(hr::Scalar::weak(big));
  hr::throw_error<hr::InvalidArgumentError>("scalar", "an integer of more than 64 bits", {},
                                            "use a float");
}

// A scalar as the 0-d array that handles hold; a null one is NaN, as NumPy has no other word.
hr::Tensor scalar_value(const hr::Scalar& value) {
  if (value.is_null()) return hr::scalar_tensor(std::numeric_limits<double>::quiet_NaN());
  if (value.dtype().is_bool()) {
    hr::Tensor byte = hr::scalar_tensor(static_cast<uint8_t>(value.as<bool>()));
    return hr::Tensor(hr::TypeId::kBool, {}, byte.buffer());
  }
  return hr::visit_real(value.dtype(), [&](auto type) {
    return hr::scalar_tensor(value.as<typename decltype(type)::type>());
  });
}

// All that takes values out of plans, to other libraries, files and Python, asks here, in
// `row_value` or `value_there`, and for matrices in `matrix_columns`.
nb::object node_value(const hr::Node& node) {
  if (!node.is_ready())
    hr::throw_error<hr::InternalError>(node.op(), "the node has not run", {}, "evaluate it first");
  hr::check_export(node);
  if (const auto* value = std::get_if<hr::Scalar>(&node.value()))
    return nb::cast(scalar_value(*value));
  return python_value(hr::to_place(node.value(), hr::host));
}

// One row of a column that has its value; None where it is null. Negative rows count from the end.
nb::object row_value(const hr::Node& node, int64_t row) {
  hr::check_export(node);
  const auto& column = std::get<hr::Column>(node.value());
  const int64_t rows = column.num_rows();
  if (row < -rows || row >= rows) throw nb::index_error("row out of range");
  const int64_t at = row < 0 ? row + rows : row;
  if (hr::place_of(node.value()).is_host()) return python_element(column, at);
  return python_element(std::get<hr::Column>(hr::to_place(column.slice(at, 1), hr::host)), 0);
}

}  // namespace

nb::object value_there(const hr::Node& node) {
  hr::check_export(node);
  return hr::place_of(node.value()).is_host() ? node_value(node) : python_value(node.value());
}

namespace {

// What waits for the plan of another thread, which may need the GIL to go on.
template <class Work>
auto unlocked(Work&& work) {
  const GilReleased released;
  return work();
}

std::vector<std::tuple<bool, std::string, std::string>> listed(const std::vector<hr::Mark>& marks) {
  std::vector<std::tuple<bool, std::string, std::string>> made;
  for (const hr::Mark& mark : marks)
    made.emplace_back(mark.source->is_tag, mark.source->words, mark.name());
  return made;
}

NodePtr elementwise(std::string_view op, std::vector<NodePtr> inputs,
                    std::optional<std::string_view> dtype) {
  if (op == "cast") return hr::cast(inputs.at(0), hr::dtype_from_name(dtype.value()));
  return hr::elementwise(hr::op_from_name(op), std::move(inputs));
}

nb::list elementwise_ops() {
  nb::list names;
  for (int op = static_cast<int>(hr::Op::kNegative); op <= static_cast<int>(hr::Op::kWhere); ++op) {
    const std::string_view name = hr::op_row(static_cast<hr::Op>(op)).name;
    names.append(nb::str(name.data(), name.size()));
  }
  for (const char* alias : {"abs", "mod", "true_divide"}) names.append(alias);
  return names;
}

NodePtr reduction(std::string_view kind, const NodePtr& node, int64_t ddof, bool skip_nan) {
  hr::ReduceOptions options;
  options.ddof = ddof;
  options.skip_nan = skip_nan;
  options.empty_is_null = skip_nan;  // pandas' way for columns; arrays raise as NumPy's do
  return hr::reduce(hr::aggregate_from_name(kind, hr::AggregateForm::kColumn), node, options);
}

}  // namespace

hr::Place place_from(const std::string& word) {
  const std::vector<hr::Place> places = places_from(word);
  if (places.size() > 1)
    hr::throw_error<hr::InvalidArgumentError>("to", "one device is expected", {{"device", word}},
                                              "name the first of them");
  return places[0];
}

std::vector<hr::Place> places_from(const std::string& words) {
  if (words == "cpu" || words == "host") return {hr::host};
  const auto refuse = [&] {
    hr::throw_error<hr::InvalidArgumentError>(
        "to", "unknown device", {{"device", words}},
        "use 'cpu', 'cuda', 'cuda:1', 'cuda:0,1', 'cuda:all' or 'sim'");
  };
  const auto place = [](bool is_cuda, int index) {
    return is_cuda ? hr::cuda_place(index) : hr::simulated_place(index);
  };
  std::vector<hr::Place> places;
  std::string kind;
  for (size_t begin = 0; begin <= words.size();) {
    const size_t end = std::min(words.find(',', begin), words.size());
    std::string number = words.substr(begin, end - begin);
    begin = end + 1;
    if (const size_t colon = number.find(':'); colon != std::string::npos || kind.empty()) {
      kind = number.substr(0, colon);
      number = colon == std::string::npos ? "0" : number.substr(colon + 1);
    }
    if (kind != "cuda" && kind != "sim") refuse();
    const bool is_cuda = kind == "cuda";
    if (number == "all") {
      const auto devices =
          is_cuda ? int64_t{hr::cuda_device_count()} : hr::simulated_settings().devices;
      for (int64_t k = 0; k < devices; ++k) places.push_back(place(is_cuda, static_cast<int>(k)));
      continue;
    }
    if (number.empty() || number.size() > 2 ||
        number.find_first_not_of("0123456789") != std::string::npos)
      refuse();
    places.push_back(place(is_cuda, std::stoi(number)));
  }
  if (places.empty()) refuse();  // all of none
  return places;
}

void bind_plan(nb::module_& m) {
  nb::class_<NodeHandle>(m, "Node", nb::is_weak_referenceable())
      .def_prop_ro("op", [](const NodeHandle& self) { return self.node->op(); })
      .def_prop_ro("detail", [](const NodeHandle& self) { return self.node->detail(); })
      .def_prop_ro("form",
                   [](const NodeHandle& self) { return form_name(self.node->signature().form); })
      .def_prop_ro("dtype",
                   [](const NodeHandle& self) { return dtype_name(self.node->signature().dtype); })
      .def_prop_ro("item_dtype",
                   [](const NodeHandle& self) {
                     const hr::Dtype dtype = self.node->signature().dtype;
                     return dtype_name(dtype.is_category() ? dtype.item() : dtype);
                   })
      .def_prop_ro(
          "shape",
          [](const NodeHandle& self) { return python_tuple(self.node->signature().shape); },
          nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")))
      .def_prop_ro(
          "strides",
          [](const NodeHandle& self) -> nb::object {
            const hr::Node::Fields& fields = self.node->fields();
            if (fields.kind() != hr::NodeKind::kData) return nb::none();
            const auto* tensor = std::get_if<hr::Tensor>(&*fields.value);
            if (!tensor || tensor->is_contiguous()) return nb::none();
            return python_tuple(tensor->strides());
          },
          nb::for_getter(nb::sig("def strides(self) -> tuple[int, ...] | None")),
          "Of an array of data that does not lie row by row, in elements.")
      .def_prop_ro("nullable",
                   [](const NodeHandle& self) { return self.node->signature().nullable; })
      .def_prop_ro("domain", [](const NodeHandle& self) { return self.node->signature().domain; })
      .def_prop_ro("line",
                   [](const NodeHandle& self) { return hr::tag_info(self.node->tag()).line; })
      .def_prop_ro("is_ready", [](const NodeHandle& self) { return self.node->is_ready(); })
      .def_prop_ro("is_live", [](const NodeHandle& self) { return self.node->fields().live; })
      .def(
          "value", [](const NodeHandle& self) { return node_value(*self.node); },
          nb::sig("def value(self) -> typing.Any"))
      .def(
          "row", [](const NodeHandle& self, int64_t row) { return row_value(*self.node, row); },
          "row"_a, nb::sig("def row(self, row: int) -> typing.Any"),
          "A row of a column that is ready; None where it is null.");

  m.def(
      "value_there", [](const NodePtr& node) { return value_there(*node); }, "node"_a,
      nb::sig("def value_there(node: Node) -> typing.Any"));
  m.def(
      "place_of",
      [](const NodePtr& node) {
        const auto& shards = node->fields().shards;
        if (!shards) return hr::place_of(node->value()).name();
        std::string names;
        for (const hr::Place place : shards->places)
          names += (names.empty() ? "" : ",") + place.name();
        return names;
      },
      "node"_a);
  // Where the value is or will be, without running its plan.
  m.def("place_ahead", [](const NodePtr& node) { return hr::place_of(node).name(); }, "node"_a);
  m.def(
      "to",
      [](const NodePtr& node, const std::string& device) {
        const std::vector<hr::Place> places = places_from(device);
        return places.size() == 1 ? hr::to_place(node, places[0]) : hr::to_places(node, places);
      },
      "node"_a, "device"_a, Unlocked());
  m.def(
      "prefetch",
      [](const NodePtr& node, const std::string& device) {
        hr::prefetch(node, place_from(device));
      },
      "node"_a, "device"_a, Unlocked());
  m.def(
      "set_default_place",
      [](const std::string& device) {
        const std::vector<hr::Place> places = places_from(device);
        const bool are_many = places.size() > 1;
        hr::set_default_shards(are_many ? places : std::vector<hr::Place>());
        hr::set_default_place(are_many ? hr::host : places[0]);
      },
      "device"_a);
  m.def(
      "set_auto_place", [](const std::string& device) { hr::set_auto_place(place_from(device)); },
      "device"_a);
  m.def("set_strict", &hr::set_strict, "on"_a);
  m.def("take_kept", [] {
    const bool kept = hr::is_kept();
    hr::set_kept(false);
    return kept;
  });
  m.def("clear_fallbacks", &hr::clear_fallbacks);
  m.def(
      "record_fallback",
      [](std::string op, std::string reason, double seconds) {
        hr::record_fallback({std::move(op), std::move(reason), seconds, 0});
      },
      "op"_a, "reason"_a, "seconds"_a);
  m.def("fallbacks", [] {
    std::vector<std::tuple<std::string, std::string, double, int64_t>> rows;
    for (const hr::Fallback& each : hr::fallbacks())
      rows.emplace_back(each.op, each.reason, each.seconds, each.bytes);
    return rows;
  });
  m.def("why_no_cuda", &hr::why_no_cuda);
  m.def("synchronize_device", [] { hr::synchronize(hr::own_stream(0)); }, Unlocked());
  m.def(
      "device_allocate_many",  // for the benchmark: so often `held` blocks, or buffers, at once
      [](int64_t count, int64_t bytes, size_t held, bool as_buffers) {
        const hr::AnyResource resource = hr::cuda_resource(0);
        const auto size = static_cast<size_t>(bytes);
        std::vector<hr::Buffer> buffers(held);
        std::vector<void*> blocks(held);
        for (int64_t i = 0; i < count; ++i) {
          if (as_buffers) {
            for (hr::Buffer& each : buffers) each = hr::Buffer::allocate(bytes, resource);
            for (hr::Buffer& each : buffers) each = {};
          } else {
            for (void*& each : blocks) each = resource.allocate(hr::Stream{}, size, 64);
            for (void* const each : blocks) resource.deallocate(hr::Stream{}, each, size, 64);
          }
        }
      },
      "count"_a, "bytes"_a, "held"_a, "as_buffers"_a, Unlocked());
  m.def("cuda_device_name", &hr::cuda_device_name, "device"_a);
  m.def("new_domain", &hr::new_domain);
  m.attr("PICKED_ROWS") = hr::kPickedRows;
  m.def("data", data<hr::Column>, "value"_a, "detail"_a = "", "domain"_a = 0, "live"_a = false,
        "kept"_a = false);
  m.def("data", data<hr::Tensor>, "value"_a, "detail"_a = "", "domain"_a = 0, "live"_a = false,
        "kept"_a = false);
  m.def("data", data<hr::Table>, "value"_a, "detail"_a = "", "domain"_a = 0, "live"_a = false,
        "kept"_a = false);
  m.def("scalar", scalar, "value"_a);
  m.def("part", lazy(&hr::table_column), "table"_a, "index"_a);
  m.def(
      "parts",
      [](const NodePtr& table, int64_t count) {
        std::vector<NodePtr> columns;
        for (int64_t i = 0; i < count; ++i) columns.push_back(hr::table_column(table, i));
        return columns;
      },
      "table"_a, "count"_a, "The first columns of a table.");
  m.def("elementwise", elementwise, "op"_a, "inputs"_a, "dtype"_a = nb::none(), Unlocked());
  m.def("elementwise_ops", elementwise_ops, nb::sig("def elementwise_ops() -> list[str]"));
  m.def("reduction", reduction, "kind"_a, "node"_a, "ddof"_a = 0, "skip_nan"_a = false, Unlocked());
  m.def("in_domain", &hr::in_domain, "node"_a, "domain"_a, Unlocked());
  m.def("align_check", &hr::align_check, "op"_a, "name"_a, "frame"_a, "column"_a, Unlocked());
  m.def(
      "no_such_column",
      [](std::string_view op, const std::vector<std::string>& names, std::string_view name) {
        hr::find_column(op, names, name);
      },
      "op"_a, "names"_a, "name"_a);
  m.def("trim", lazy(&hr::trim), "node"_a, "first"_a, "last"_a, Unlocked());
  m.def(
      "slice",
      [](const NodePtr& node, int64_t begin, int64_t count) {
        return hr::slice(node, begin, count);
      },
      "node"_a, "begin"_a, "count"_a, Unlocked());
  m.def(
      "slice_columns",
      [](const std::vector<NodePtr>& nodes, int64_t begin, int64_t count, uint64_t domain) {
        return hr::slice(nodes, begin, count, domain);
      },
      "nodes"_a, "begin"_a, "count"_a, "domain"_a, Unlocked());
  m.def("planning_visits", &hr::planning_visits);
  m.def(
      "are_unique", [](const std::vector<NodePtr>& columns) { return hr::are_unique(columns); },
      "columns"_a, Unlocked());
  m.def("planned_rows", &hr::planned_rows, "node"_a);
  m.def(
      "estimate_keys",
      [](const std::vector<NodePtr>& columns) {
        const hr::KeyEstimate made = hr::estimate_keys(columns);
        const auto keys = made.keys.value_or(hr::NdvEstimate{.distinct = -1, .domain = -1});
        return std::tuple(made.rows, keys.distinct, keys.domain);
      },
      "columns"_a, Unlocked());
  m.def(
      "prefix",
      [](const std::vector<NodePtr>& nodes, int64_t rows, uint64_t domain) {
        return hr::head(nodes, rows, domain);
      },
      "nodes"_a, "rows"_a, "domain"_a = 0, Unlocked());
  m.def(
      "view",
      [](const NodePtr& array, const std::vector<std::tuple<int64_t, int64_t, int64_t>>& items) {
        std::vector<hr::ViewItem> views;
        for (const auto& [begin, step, count] : items) views.push_back({begin, step, count});
        return hr::strided_view(array, std::move(views));
      },
      "array"_a, "items"_a, Unlocked());
  m.def("transpose", lazy(&hr::transpose), "array"_a, "axes"_a, Unlocked());
  m.def("reshape", lazy(&hr::reshape), "array"_a, "shape"_a, Unlocked());
  m.def(
      "retype",
      [](const NodePtr& input, std::string_view dtype) {
        return hr::retype(input, hr::dtype_from_name(dtype));
      },
      "input"_a, "dtype"_a, Unlocked());
  m.def("as_column", lazy(&hr::as_column), "array"_a, Unlocked());
  m.def("as_tensor", lazy(&hr::as_tensor), "column"_a, Unlocked());
  m.def(
      "force", [](const std::vector<NodePtr>& nodes) { hr::force(nodes); }, "nodes"_a, Unlocked());
  m.def(
      "force_shards", [](const std::vector<NodePtr>& nodes) { hr::force_shards(nodes); }, "nodes"_a,
      Unlocked());
  using Step = std::tuple<std::string, std::string, std::string, int64_t, int64_t, int64_t, int64_t,
                          int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                          std::vector<int64_t>>;
  using Task =
      std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int, int64_t, int64_t, int64_t>;
  nb::class_<hr::Profile>(m, "StepRecorder")
      .def(nb::init<>())
      .def("steps",
           [](const hr::Profile& self) {
             std::vector<Step> steps;
             for (const hr::StepRecord& s : self.steps())
               steps.emplace_back(s.op, s.line, s.note, s.begin_ns, s.end_ns, s.rows,
                                  s.result_bytes, s.used_bytes, s.memory_bytes, s.written_bytes,
                                  s.fetched_bytes, s.waited_ns, s.processor_ns, s.serial_ns, s.id,
                                  s.after);
             return steps;
           })
      .def("tasks", [](const hr::Profile& self) {
        std::vector<Task> tasks;
        for (const hr::StepRecord& s : self.steps())
          for (const hr::TaskRecord& t : *s.tasks)
            tasks.emplace_back(s.id, t.job, t.index, t.outer_job, t.outer_index, t.lane, t.begin_ns,
                               t.end_ns, t.processor_ns);
        return tasks;
      });
  using Spans =
      std::vector<std::tuple<std::string, std::string, uint64_t, int64_t, int64_t, int64_t>>;
  nb::class_<hr::DeviceProfile>(m, "DeviceRecorder")
      .def(nb::init<>())
      .def("spans", [](const hr::DeviceProfile& self) {
        Spans spans;
        for (const hr::DeviceSpan& s : self.spans())
          spans.emplace_back(s.op, s.place.name(), s.stream, s.begin_ns, s.end_ns, s.bytes);
        return spans;
      });
  m.def("why_no_nvtx", &hr::why_no_nvtx);
  m.def(
      "explain",
      [](const std::vector<NodePtr>& nodes) {
        const hr::Explanation explanation = hr::explain(nodes);
        std::vector<std::pair<int64_t, int64_t>> estimates;
        for (const auto& [rows, bytes] : explanation.estimates) estimates.emplace_back(rows, bytes);
        return std::tuple(explanation.text, explanation.steps, explanation.full_passes, estimates);
      },
      "nodes"_a, Unlocked());
  m.def(
      "explain_passes", [](const std::vector<NodePtr>& nodes) { return hr::explain_passes(nodes); },
      "nodes"_a, Unlocked());
  m.def(
      "plan_to_bytes",
      [](const std::vector<NodePtr>& nodes) {
        const std::string bytes = unlocked([&] { return hr::plan_to_bytes(nodes); });
        return nb::bytes(bytes.data(), bytes.size());
      },
      "nodes"_a);
  m.def(
      "plan_from_bytes",
      [](const nb::bytes& bytes) {
        return hr::plan_from_bytes({static_cast<const char*>(bytes.data()), bytes.size()});
      },
      "data"_a);
  m.def(
      "plan_of_sources",
      [](const std::vector<NodePtr>& nodes, int64_t most_bytes) {
        const hr::SourcePlan plan =
            unlocked([&] { return hr::plan_of_sources(nodes, most_bytes); });
        return std::pair(nb::bytes(plan.bytes.data(), plan.bytes.size()), listed(plan.sources));
      },
      "nodes"_a, "most_bytes"_a);
  m.def(
      "plan_over_sources",
      [](const nb::bytes& bytes, const std::vector<NodePtr>& sources) {
        return hr::plan_from_bytes({static_cast<const char*>(bytes.data()), bytes.size()}, sources);
      },
      "data"_a, "sources"_a);
  m.def(
      "marks_of", [](const NodePtr& node) { return listed(hr::marks_of(node)); }, "node"_a,
      "Whether each is a tag, its words and the name of its column.");
  m.def(
      "mark_sources",
      [](const std::vector<NodePtr>& nodes, std::string words, std::vector<std::string> columns,
         const std::optional<std::string>& mark) {
        hr::mark_sources(nodes, hr::value_source(std::move(words), std::move(columns)),
                         mark ? hr::value_source(*mark, {"values"}) : nullptr);
      },
      "nodes"_a, "words"_a, "columns"_a, "mark"_a = nb::none());
  m.def("count_value_sources", &hr::count_value_sources);
  m.def(
      "add_tags",
      [](const NodePtr& node, std::string_view column, const std::vector<std::string>& tags) {
        return hr::add_tags(node, column, tags);
      },
      "node"_a, "column"_a, "tags"_a);
  m.def(
      "remove_tags",
      [](const NodePtr& node, const std::vector<std::string>& tags) {
        return hr::remove_tags(node, tags);
      },
      "node"_a, "tags"_a);
  m.def(
      "share_marks",
      [](const NodePtr& made, const std::vector<NodePtr>& from) {
        hr::share_marks(made, from);
        return made;
      },
      "made"_a, "from_"_a, "The first node, with the marks of the others too.");
  m.def("deny_tags", &hr::deny_tags, "tags"_a);
  m.def("denied_tags", &hr::denied_tags);
  m.def(
      "denied_tags_of", [](const NodePtr& node) { return listed(hr::denied_tags_of(*node)); },
      "node"_a);
  m.def(
      "plan_fingerprint",
      [](const std::vector<NodePtr>& nodes) { return hr::plan_fingerprint(nodes); }, "nodes"_a,
      Unlocked());
  nb::class_<hr::PlanTemplate>(m, "PlanTemplate")
      .def(
          "__init__",
          [](hr::PlanTemplate* self, const std::vector<NodePtr>& nodes,
             const std::vector<NodePtr>& shared) { new (self) hr::PlanTemplate(nodes, shared); },
          "nodes"_a, "shared"_a, Unlocked())
      .def("copy", &hr::PlanTemplate::copy, Unlocked());
  m.def(
      "predicted_costs",
      [](const std::vector<NodePtr>& nodes) {
        std::vector<std::pair<int64_t, int64_t>> costs;
        for (const hr::StepCost& each : hr::predicted_costs(nodes))
          costs.emplace_back(each.nanoseconds, each.memory_bytes);
        return costs;
      },
      "nodes"_a, Unlocked());
}
