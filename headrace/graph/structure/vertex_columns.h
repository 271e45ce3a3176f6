// SPDX-License-Identifier: Apache-2.0
// Columns of results that hold ids of vertices, and those of several that a plan needs.
#pragma once
#include "headrace/algo/select/gather.h"
#include "headrace/graph/structure/graph.h"

#include <optional>
#include <string>
#include <vector>

namespace hr {

/// Appends a column for each key of vertices: `word`, or of several keys `word_0`, `word_1`, ...
inline void add_keys(const Graph& graph, const std::string& word,
                     std::vector<VertexColumn>& columns) {
  const size_t keys = graph.ids().size();
  for (size_t key = 0; key < keys; ++key)
    columns.push_back(
        {keys == 1 ? word : word + "_" + std::to_string(key), graph.ids()[key].dtype()});
}

/// Makes those of several columns that are needed, in their order.
class WantedColumns {
 public:
  WantedColumns(const std::vector<bool>& wanted, std::vector<Column>& out)
      : wanted_(wanted), out_(out) {}

  /// The next column, if it is needed.
  template <class Make>
  void column(Make&& make) {
    if (wanted_[place_++]) out_.push_back(make());
  }

  /// The next columns, one for each key: the ids of the vertices with these numbers, an int64
  /// tensor that is made once, null for -1.
  template <class Numbers>
  void ids(const Graph& graph, Numbers&& numbers) {
    std::optional<Tensor> made;
    for (const Column& key : graph.ids())
      column([&] {
        if (!made) made = numbers();
        return gather_or_null(key, *made);
      });
  }

 private:
  const std::vector<bool>& wanted_;
  std::vector<Column>& out_;
  size_t place_ = 0;
};

/// What `number(row)` gives, int64: vertices whose ids are taken, none for -1.
template <class Number>
Tensor numbers_of(int64_t rows, Number&& number) {
  Buffer made = Buffer::allocate(8 * rows);
  if (rows > 0) {
    auto* const out = made.mutable_as<int64_t>();
    parallel_morsels(rows, [&](Morsel morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i) out[i] = number(i);
    });
  }
  return Tensor(TypeId::kInt64, {rows}, std::move(made));
}

}  // namespace hr
