// SPDX-License-Identifier: Apache-2.0
// The JSON reader: finds the form, has pieces parsed, infers what they have in common, reports what
// is bad.
#include "headrace/io/json/json.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/chunk_bytes.h"
#include "headrace/io/json/json_reader.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_json";

void check_dtype(const std::string& name, Dtype dtype) {
  const bool is_known = dtype.is_number() || dtype.is_string() || dtype.is_temporal() ||
                        (dtype.is_category() && dtype.has_text());
  if (!is_known)
    throw_error<UnsupportedError>(kOp, "a column cannot be read as this dtype",
                                  {{"column", name}, {"dtype", dtype.name()}},
                                  "read it as string and convert it by astype");
}

void check_options(const JsonOptions& options) {
  if (options.num_rows < -1)
    throw_error<InvalidArgumentError>(kOp, "a number of rows is negative",
                                      {{"num_rows", options.num_rows}});
  for (const auto& [name, dtype] : options.dtypes) check_dtype(name, dtype);
}

int64_t json_chunk_bytes() {
  constexpr int64_t kShareOfLimit = 32, kLeast = int64_t{64} << 10, kMost = int64_t{1} << 20;
  return chunk_bytes(kShareOfLimit, kLeast, kMost);
}

json::Builder given_builder(Dtype dtype) {
  json::Builder builder;
  builder.asked = dtype;
  builder.fixed = true;
  if (dtype.has_zone()) builder.zone = timezone_rules(kOp, dtype);
  builder.kind = dtype.is_bool()       ? json::Kind::kBool
                 : dtype.is_integer()  ? json::Kind::kInteger
                 : dtype.is_floating() ? json::Kind::kFloat
                 : dtype.is_temporal() ? json::Kind::kTime
                                       : json::Kind::kString;
  return builder;
}

// The columns that the options name.
json::Builder given_root(const JsonOptions& options) {
  json::Builder root;
  root.kind = json::Kind::kStruct;
  for (const std::string& name : options.columns)
    if (!root.fields.find(name)) root.fields.add(name);
  root.fields.adds_skipped = !options.columns.empty();
  for (const auto& [name, dtype] : options.dtypes) {
    if (root.fields.find(name) == nullptr) {
      if (root.fields.adds_skipped) continue;
      root.fields.add(name);
    }
    *root.fields.find(name) = given_builder(dtype);
  }
  return root;
}

}  // namespace

struct JsonScan::State {
  Source source;
  JsonOptions options;
  json::Start start{};
  JsonSchema schema{};
  std::shared_ptr<const json::Builder> prototype{};
};

JsonResult read_in_chunks(const Source& source, const JsonOptions& options, int64_t bytes) {
  const ScopedTag tag(kOp);
  check_options(options);
  const std::shared_ptr<ByteSource> text = source.open(kOp, options.compression);
  const json::Start start = json::find_start(*text, source.name(), options.form);
  json::Reader reader(*text, source.name(), start, options.on_bad, bytes);
  reader.read(given_root(options), options.num_rows);
  return reader.finish(reader.infer_schema(options));
}

JsonResult read_json(const Source& source, const JsonOptions& options) {
  return read_in_chunks(source, options, json_chunk_bytes());
}

JsonScan::JsonScan(Source source, JsonOptions options) {
  const ScopedTag tag(kOp);
  check_options(options);
  const std::shared_ptr<ByteSource> text = source.open(kOp, options.compression);
  auto state = std::make_shared<State>(State{std::move(source), std::move(options)});
  state->start = json::find_start(*text, state->source.name(), state->options.form);
  json::Reader reader(*text, state->source.name(), state->start, state->options.on_bad,
                      json_chunk_bytes());
  reader.read(given_root(state->options), state->options.num_rows);
  state->schema = reader.infer_schema(state->options);
  state->prototype = reader.prototype();
  state_ = std::move(state);
}

const JsonSchema& JsonScan::schema() const {
  return state_->schema;
}

const JsonOptions& JsonScan::options() const {
  return state_->options;
}

const Source& JsonScan::source() const {
  return state_->source;
}

JsonResult JsonScan::read(const std::vector<bool>& wanted, int64_t max_rows) const {
  const ScopedTag tag(kOp);
  const State& state = *state_;
  JsonSchema schema;
  std::unique_ptr<json::Builder> root = state.prototype->prototype();
  for (size_t c = 0; c < state.schema.names.size(); ++c) {
    if (!wanted.empty() && !wanted[c]) {
      if (json::Builder* unwanted = root->fields.find(state.schema.names[c]))
        unwanted->skipped = true;
      continue;
    }
    schema.names.push_back(state.schema.names[c]);
    schema.dtypes.push_back(state.schema.dtypes[c]);
  }
  int64_t most = state.options.num_rows;
  if (max_rows >= 0) most = most < 0 ? max_rows : std::min(most, max_rows);
  const std::shared_ptr<ByteSource> text = state.source.open(kOp, state.options.compression);
  json::Reader reader(*text, state.source.name(), state.start, state.options.on_bad,
                      json_chunk_bytes());
  reader.read(*root, most);
  return reader.finish(schema);
}

namespace {

/// The rows of a scan, or the first of them.
struct ScanJson final : TableOperator {
  ScanJson(JsonScan of, int64_t most) : scan(std::move(of)), max_rows(most) {
    names = scan.schema().names;
    dtypes = scan.schema().dtypes;
  }

  std::string_view name() const override { return "read_json"; }

  std::string arguments() const override {
    if (max_rows < 0) return scan.source().name();
    return scan.source().name() + ", first " + std::to_string(max_rows) + " rows";
  }

  Table execute(const std::vector<bool>& wanted, std::span<const Value>,
                TableState*) const override {
    return std::get<Table>(at_default_place(scan.read(wanted, max_rows).table));
  }

  int64_t guess_rows(const InputEstimates&) const override {
    const int64_t all = scan.schema().num_rows;
    return max_rows < 0 ? all : std::min(all, max_rows);
  }

  Cost cost(const InputEstimates& inputs) const override {
    return {.nanoseconds = 20, .source_rows = guess_rows(inputs)};
  }

  NodePtr limited(std::span<const NodePtr>, int64_t rows) const override {
    return max_rows < 0 ? apply_table_operator(std::make_shared<ScanJson>(scan, rows), {})
                        : nullptr;
  }

  JsonScan scan;
  int64_t max_rows;
};

}  // namespace

NodePtr scan_json(const JsonScan& scan) {
  return apply_table_operator(std::make_shared<ScanJson>(scan, -1), {}, scan.schema().num_rows);
}

}  // namespace hr
