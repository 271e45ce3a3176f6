// SPDX-License-Identifier: Apache-2.0
// The module: rooms in their order.
#include "python/bind/bind.h"
#include "python/bind/filters.h"
#include "python/bind/interpreter.h"
#include "python/bind/tensor.h"

#include "headrace/base/api.h"
#include "headrace/exchange/protocol.h"

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);
  m.attr("version") = HR_VERSION;
  m.def("built_with_cuda", [] { return hr::built_with_cuda; });  // the stub is one for all builds
  hr::set_release_hook(release_in_python);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end_of_interpreter));
  bind_errors(m);
  bind_memory(m);
  bind_resources(m);
  bind_memory_log(m);
  bind_caller(m);
  bind_external(m);
  bind_exec(m);
  bind_data(m);
  bind_exchange(m);
  bind_from_array(m);
  bind_share(m);
  bind_from_list(m);
  bind_text(m);
  bind_plan(m);
  bind_io(m);
  bind_frame(m);
  bind_apply(m);
  bind_decimals(m);
  bind_sort(m);
  bind_group(m);
  bind_join(m);
  bind_signal(m);
  bind_filters(m);
  bind_linalg(m);
  bind_tensor(m);
  bind_learn(m);
  bind_clusters(m);
  bind_models(m);
  bind_bayes(m);
  bind_svm(m);
  bind_linear(m);
  bind_manifold(m);
  bind_plot(m);
  bind_random(m);
  bind_sparse(m);
  bind_graph(m);
  bind_networkx(m);
  bind_graph_centrality(m);
  bind_vectorizers(m);
  bind_temporal(m);
  bind_window(m);
  bind_parquet(m);
  bind_json(m);
  bind_ipc(m);
  bind_facade(m);
}
