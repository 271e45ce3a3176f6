// SPDX-License-Identifier: Apache-2.0
// What all binding files share: the types they pass, and one function a room.
#pragma once
#include "python/bind/interpreter.h"

#include "headrace/data/column.h"
#include "headrace/data/table.h"
#include "headrace/data/tensor.h"
#include "headrace/plan/eval/value.h"
#include "headrace/plan/graph/node.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

/// What Python holds of a plan node. Not nanobind's own shared_ptr: that would keep a reference on
/// the Python object inside the plan and need the GIL wherever a node dies.
struct NodeHandle {
  hr::NodePtr node;
};

namespace nanobind::detail {

template <>
struct type_caster<hr::NodePtr> {
  NB_TYPE_CASTER(hr::NodePtr, make_caster<NodeHandle>::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<NodeHandle> caster;
    if (source.is_none() || !caster.from_python(source, flags, cleanup)) return false;
    value = caster.operator NodeHandle&().node;
    return true;
  }

  static handle from_cpp(const hr::NodePtr& node, rv_policy, cleanup_list* cleanup) noexcept {
    return make_caster<NodeHandle>::from_cpp(NodeHandle{node}, rv_policy::move, cleanup);
  }
};

}  // namespace nanobind::detail

/// For all that may take long: the interpreter goes on meanwhile.
using Unlocked = nb::call_guard<GilReleased>;

void bind_errors(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_resources(nb::module_& m);
void bind_memory_log(nb::module_& m);
void bind_caller(nb::module_& m);
void bind_external(nb::module_& m);
void bind_exec(nb::module_& m);
void bind_data(nb::module_& m);
void bind_exchange(nb::module_& m);
void bind_from_array(nb::module_& m);
void bind_share(nb::module_& m);
void bind_from_list(nb::module_& m);
void bind_text(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_io(nb::module_& m);
void bind_frame(nb::module_& m);
void bind_apply(nb::module_& m);
void bind_decimals(nb::module_& m);
void bind_sort(nb::module_& m);
void bind_group(nb::module_& m);
void bind_join(nb::module_& m);
void bind_signal(nb::module_& m);
void bind_learn(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_models(nb::module_& m);
void bind_clusters(nb::module_& m);
void bind_bayes(nb::module_& m);
void bind_svm(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_manifold(nb::module_& m);
void bind_plot(nb::module_& m);
void bind_random(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_networkx(nb::module_& m);
void bind_graph_centrality(nb::module_& m);
void bind_vectorizers(nb::module_& m);
void bind_temporal(nb::module_& m);
void bind_window(nb::module_& m);
void bind_parquet(nb::module_& m);
void bind_json(nb::module_& m);
void bind_ipc(nb::module_& m);
void bind_facade(nb::module_& m);

/// Of functions of one name the one that makes a node.
template <class... Args>
auto* lazy(hr::NodePtr (*function)(Args...)) {
  return function;
}

/// Tags what this thread makes until the next call with the operator and the user's line.
void mark(std::string_view op);

/// An engine's value as Python sees it: a scalar becomes None, bool, int or float.
nb::object python_value(const hr::Value& value);
nb::object python_scalar(const hr::Scalar& scalar);
/// One row of a column.
nb::object python_element(const hr::Column& column, int64_t row);

/// The dtype as NumPy's word.
inline std::string dtype_name(hr::Dtype dtype) {
  return std::string(dtype.name());
}

std::vector<std::string> dtype_names(const std::vector<hr::Dtype>& dtypes);

nb::tuple python_tuple(const std::vector<int64_t>& numbers);
