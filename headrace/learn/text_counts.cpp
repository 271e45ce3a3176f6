// SPDX-License-Identifier: Apache-2.0
// Counts by ranges of documents, whose terms are then merged into one vocabulary.
#include "headrace/learn/text_counts.h"

#include "headrace/algo/sort/sort.h"
#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/base/error.h"
#include "headrace/data/string_reader.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/murmur3.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>

namespace hr {
namespace {

constexpr const char* kOp = "vectorizer";

/// Strings, or lists of them, as an analyzer's terms.
class Texts {
 public:
  Texts(const Column& column, const TextOptions& options)
      : lists_(column.dtype().id() == TypeId::kList),
        column_(lists_ ? column : prepared(column, options)),
        reader_(lists_ ? *column.items() : column_) {}

  int64_t num_rows() const { return column_.num_rows(); }

  /// Texts that one task works on: by their number alone.
  int64_t step() const { return std::clamp<int64_t>(num_rows() / 64, 512, 8192); }

  void analyze(int64_t row, TextAnalyzer& analyzer, std::vector<std::string_view>& words) const {
    if (!lists_) return analyzer.analyze(reader_[row]);
    words.clear();
    const auto [begin, size] = column_.values<ListSpan>()[static_cast<size_t>(row)];
    for (int64_t k = 0; k < size; ++k) words.push_back(reader_[begin + k]);
    analyzer.analyze_words(words);
  }

 private:
  static Column prepared(const Column& column, const TextOptions& options) {
    if (column.dtype() != TypeId::kString)
      throw_error<TypeMismatchError>(kOp, "documents must be strings",
                                     {{"dtype", column.dtype().name()}});
    for (int64_t row = 0; column.null_count() > 0 && row < column.num_rows(); ++row)
      if (column.is_null(row))
        throw_error<InvalidArgumentError>(kOp, "a missing text is an invalid document",
                                          {{"row", row}}, "fill or drop it first");
    return prepared_texts(column, options.lowercase);
  }

  bool lists_;
  Column column_;
  StringReader reader_;
};

/// Calls `visit(row, terms)` for the documents of a morsel.
template <class Visit>
void visit_terms(const Texts& texts, const TextOptions& options, const Morsel& morsel,
                 Visit&& visit) {
  TextAnalyzer analyzer(options);
  std::vector<std::string_view> words;
  for (int64_t row = morsel.begin; row < morsel.end; ++row) {
    texts.analyze(row, analyzer, words);
    visit(row, analyzer.terms());
  }
}

/// The entries of some rows, in their order.
struct RowEntries {
  GrowingBuffer<uint32_t> lengths{};
  GrowingBuffer<uint32_t> columns{};
  GrowingBuffer<int32_t> values{};
};

/// One matrix of the rows of all parts.
template <class Index, class Number>
Sparse put_together(const std::vector<RowEntries>& parts, int64_t rows, int64_t columns,
                    int64_t entries) {
  Buffer pointers = Buffer::allocate((rows + 1) * static_cast<int64_t>(sizeof(Index)));
  Buffer indices = Buffer::allocate(entries * static_cast<int64_t>(sizeof(Index)));
  Buffer data = Buffer::allocate(entries * static_cast<int64_t>(sizeof(Number)));
  auto* pointer = pointers.mutable_as<Index>();
  auto* column = entries == 0 ? nullptr : indices.mutable_as<Index>();
  auto* value = entries == 0 ? nullptr : data.mutable_as<Number>();
  std::vector<std::pair<int64_t, int64_t>> begins;  // row and entry of each part
  int64_t row = 0, entry = 0;
  for (const RowEntries& part : parts) {
    begins.emplace_back(row, entry);
    row += part.lengths.size();
    entry += part.columns.size();
  }
  parallel_for(static_cast<int64_t>(parts.size()), [&](int64_t k) {
    const RowEntries& part = parts[static_cast<size_t>(k)];
    auto [to, at] = begins[static_cast<size_t>(k)];
    for (int64_t i = 0; i < part.columns.size(); ++i) {
      column[at + i] = static_cast<Index>(part.columns[i]);
      value[at + i] = static_cast<Number>(part.values[i]);
    }
    for (int64_t i = 0; i < part.lengths.size(); ++i) {
      pointer[to + i] = static_cast<Index>(at);
      at += part.lengths[i];
    }
  });
  pointer[rows] = static_cast<Index>(entries);
  return Sparse(rows, columns, Tensor(dtype_of<Index>(), {rows + 1}, std::move(pointers)),
                Tensor(dtype_of<Index>(), {entries}, std::move(indices)),
                Tensor(dtype_of<Number>(), {entries}, std::move(data)));
}

Sparse put_together(const std::vector<RowEntries>& parts, int64_t rows, int64_t columns,
                    Dtype dtype) {
  int64_t entries = 0;
  for (const RowEntries& part : parts) entries += part.columns.size();
  const bool wide = index_dtype(rows, columns, entries) == dtype_of<int64_t>();
  const auto made = [&]<class Number>(Number) {
    return wide ? put_together<int64_t, Number>(parts, rows, columns, entries)
                : put_together<int32_t, Number>(parts, rows, columns, entries);
  };
  if (dtype == dtype_of<float>()) return made(float());
  if (dtype == dtype_of<int64_t>()) return made(int64_t());
  if (dtype == dtype_of<double>()) return made(double());
  throw_error<TypeMismatchError>(kOp, "no dtype of counts", {{"dtype", dtype.name()}},
                                 "use int64, float32 or float64");
}

/// Sorts the keys of one document after the other. Columns are spread evenly over the terms of most
/// documents, so that buckets by the upper bits of a column leave little to sort.
class KeySorter {
 public:
  /// `low_bits` of a key are below its column.
  KeySorter(int64_t columns, int low_bits)
      : shift_(low_bits +
               std::max(0, static_cast<int>(std::bit_width(static_cast<uint64_t>(columns))) -
                               kBucketBits)) {}

  void sort(BudgetedVector<uint64_t>& keys) {
    std::array<uint32_t, kBuckets + 1> ends{};
    for (const uint64_t key : keys) ++ends[(key >> shift_) + 1];
    if (keys.size() < kLeast || *std::max_element(ends.begin(), ends.end()) > kMostInBucket)
      return std::sort(keys.begin(), keys.end());
    for (size_t k = 0; k < kBuckets; ++k) ends[k + 1] += ends[k];
    sorted_.resize(keys.size());
    for (const uint64_t key : keys) sorted_[ends[key >> shift_]++] = key;
    for (size_t k = 1; k < sorted_.size(); ++k) {  // no key is far from its place
      const uint64_t key = sorted_[k];
      size_t at = k;
      for (; at > 0 && sorted_[at - 1] > key; --at) sorted_[at] = sorted_[at - 1];
      sorted_[at] = key;
    }
    keys.swap(sorted_);
  }

 private:
  static constexpr int kBucketBits = 7;
  static constexpr size_t kBuckets = size_t{1} << kBucketBits;
  static constexpr size_t kLeast = 24;
  static constexpr uint32_t kMostInBucket = 16;

  int shift_;
  BudgetedVector<uint64_t> sorted_{};
};

/// Keys of the terms of a document, sorted: equal ones are one entry. The lowest bit of a key says
/// that it counts down.
void add_row(const BudgetedVector<uint64_t>& keys, bool binary, RowEntries& out) {
  const int64_t before = out.columns.size();
  for (size_t k = 0; k < keys.size();) {
    const uint64_t column = keys[k] >> 1;
    int32_t sum = 0;
    for (; k < keys.size() && keys[k] >> 1 == column; ++k) sum += (keys[k] & 1) != 0 ? -1 : 1;
    out.columns.push_back(static_cast<uint32_t>(column));
    out.values.push_back(binary ? 1 : sum);
  }
  out.lengths.push_back(static_cast<uint32_t>(out.columns.size() - before));
}

/// `key(term)` of each term of the documents, or kNoKey, to a matrix.
constexpr uint64_t kNoKey = UINT64_MAX;

template <class Key>
Sparse count_keys(const Column& column, const TextOptions& options, int64_t columns, bool binary,
                  Dtype dtype, const Key& key_of) {
  const Texts texts(column, options);
  const int64_t step = texts.step(), rows = texts.num_rows();
  std::vector<RowEntries> parts(static_cast<size_t>((rows + step - 1) / step));
  parallel_morsels(rows, step, {}, [&](const Morsel& morsel) {
    RowEntries& part = parts[static_cast<size_t>(morsel.index)];
    BudgetedVector<uint64_t> keys;
    KeySorter sorter(columns, 1);
    visit_terms(texts, options, morsel, [&](int64_t, const auto& terms) {
      keys.clear();
      for (const std::string_view term : terms)
        if (const uint64_t key = key_of(term); key != kNoKey) keys.push_back(key);
      sorter.sort(keys);
      add_row(keys, binary, part);
    });
  });
  return put_together(parts, rows, columns, dtype);
}

constexpr int64_t kShards = 32;

int64_t shard_of(uint64_t hash) {
  return static_cast<int64_t>(hash >> 59);
}

/// What the documents of a morsel have: terms by their number there.
struct LocalCounts {
  TermMap terms{};
  GrowingBuffer<uint32_t> by_shard{};  ///< numbers of terms, shard by shard
  std::array<int64_t, kShards + 1> shard_begin{};
  GrowingBuffer<uint32_t> texts{};  ///< that have the term
  GrowingBuffer<int64_t> counts{};
  RowEntries entries{};
};

void count_morsel(const Texts& texts, const TextOptions& options, const Morsel& morsel,
                  LocalCounts& local) {
  struct Last {
    int64_t row;
    int64_t entry;
  };
  GrowingBuffer<Last> last;  // of each term
  RowEntries& out = local.entries;
  visit_terms(texts, options, morsel, [&](int64_t row, const auto& terms) {
    const int64_t before = out.columns.size();
    for (const std::string_view term : terms) {
      const uint32_t number = local.terms.add(term, hash_term(term));
      if (number == last.size()) {
        last.push_back({-1, 0});
        local.texts.push_back(0);
        local.counts.push_back(0);
      }
      ++local.counts[number];
      if (last[number].row == row) {
        ++out.values[last[number].entry];
        continue;
      }
      last[number] = {row, out.columns.size()};
      ++local.texts[number];
      out.columns.push_back(number);
      out.values.push_back(1);
    }
    out.lengths.push_back(static_cast<uint32_t>(out.columns.size() - before));
  });
}

void sort_by_shard(LocalCounts& local) {
  const uint32_t count = local.terms.size();
  std::array<int64_t, kShards + 1>& begin = local.shard_begin;
  for (uint32_t term = 0; term < count; ++term)
    ++begin[static_cast<size_t>(shard_of(local.terms.hash(term)) + 1)];
  for (size_t k = 0; k < kShards; ++k) begin[k + 1] += begin[k];
  std::array<int64_t, kShards + 1> at = begin;
  local.by_shard.resize(count, 0);
  for (uint32_t term = 0; term < count; ++term)
    local.by_shard[at[static_cast<size_t>(shard_of(local.terms.hash(term)))]++] = term;
}

/// A share of all terms: those whose hash ends in its number.
struct Shard {
  TermMap terms{};
  GrowingBuffer<int64_t> texts{};
  GrowingBuffer<int64_t> counts{};
};

/// All terms in shards; `numbers[part][term]` becomes the number of a term in its shard.
std::vector<Shard> merge(const std::vector<LocalCounts>& parts,
                         std::vector<GrowingBuffer<uint32_t>>& numbers) {
  for (size_t part = 0; part < parts.size(); ++part)
    numbers[part].resize(parts[part].terms.size(), 0);
  std::vector<Shard> shards(kShards);
  parallel_for(kShards, [&](int64_t k) {
    Shard& shard = shards[static_cast<size_t>(k)];
    for (size_t part = 0; part < parts.size(); ++part) {
      const LocalCounts& local = parts[part];
      const auto place = static_cast<size_t>(k);
      for (int64_t i = local.shard_begin[place]; i < local.shard_begin[place + 1]; ++i) {
        const uint32_t term = local.by_shard[i];
        const uint32_t number = shard.terms.add(local.terms.term(term), local.terms.hash(term));
        if (number == shard.texts.size()) {
          shard.texts.push_back(0);
          shard.counts.push_back(0);
        }
        shard.texts[number] += local.texts[term];
        shard.counts[number] += local.counts[term];
        numbers[part][term] = number;
      }
    }
  });
  return shards;
}

struct GlobalTerm {
  std::string_view text;
  int64_t count;
  uint32_t shard;
  uint32_t number;
};

Column strings_of(const BudgetedVector<GlobalTerm>& terms) {
  const auto count = static_cast<int64_t>(terms.size());
  int64_t bytes = 0;
  for (const GlobalTerm& term : terms)
    if (term.text.size() > sizeof StringView::inlined)
      bytes += static_cast<int64_t>(term.text.size());
  if (bytes > std::numeric_limits<uint32_t>::max())
    throw_error<UnsupportedError>(kOp, "the terms take more than 4 GiB", {{"bytes", bytes}},
                                  "use HashingVectorizer, a higher min_df or max_features");
  Buffer views = Buffer::allocate(count * static_cast<int64_t>(sizeof(StringView)));
  Buffer text = Buffer::allocate(bytes);
  auto* view = count == 0 ? nullptr : views.mutable_as<StringView>();
  auto* out = bytes == 0 ? nullptr : text.mutable_as<char>();
  uint32_t at = 0;
  for (int64_t k = 0; k < count; ++k) {
    const std::string_view term = terms[static_cast<size_t>(k)].text;
    view[k] = {};
    view[k].size = static_cast<uint32_t>(term.size());
    if (term.size() <= sizeof view[k].inlined) {
      if (!term.empty()) std::memcpy(view[k].inlined, term.data(), term.size());
      continue;
    }
    std::memcpy(view[k].indirect.prefix, term.data(), sizeof view[k].indirect.prefix);
    view[k].indirect.buffer = 0;
    view[k].indirect.offset = at;
    std::memcpy(out + at, term.data(), term.size());
    at += view[k].size;
  }
  return Column::strings(count, std::move(views), {std::move(text)});
}

/// The terms within the limits, ascending.
BudgetedVector<GlobalTerm> kept_terms(const std::vector<Shard>& shards,
                                      const VocabularyLimits& limits) {
  BudgetedVector<GlobalTerm> found;
  for (size_t k = 0; k < shards.size(); ++k)
    for (uint32_t number = 0; number < shards[k].terms.size(); ++number) {
      const auto documents = static_cast<double>(shards[k].texts[number]);
      if (documents >= limits.least_texts && documents <= limits.most_texts)
        found.push_back({shards[k].terms.term(number), shards[k].counts[number],
                         static_cast<uint32_t>(k), number});
    }
  BudgetedVector<GlobalTerm> kept;
  const Tensor order = argsort({strings_of(found)}, {SortOrder()});
  for (const int64_t row : std::span(order.as<int64_t>(), found.size()))
    kept.push_back(found[static_cast<size_t>(row)]);
  if (static_cast<int64_t>(kept.size()) <= limits.most_terms) return kept;
  BudgetedVector<size_t> common(kept.size());
  std::iota(common.begin(), common.end(), size_t{0});
  std::stable_sort(common.begin(), common.end(),
                   [&](size_t a, size_t b) { return kept[a].count > kept[b].count; });
  common.resize(static_cast<size_t>(limits.most_terms));
  std::sort(common.begin(), common.end());
  BudgetedVector<GlobalTerm> most;
  for (const size_t place : common) most.push_back(kept[place]);
  return most;
}

/// The entries of a morsel with the columns of the vocabulary, sorted; others are left out.
RowEntries renumbered(const LocalCounts& local, const GrowingBuffer<uint32_t>& columns,
                      int64_t num_columns, bool binary) {
  RowEntries out;
  BudgetedVector<uint64_t> row;
  KeySorter sorter(num_columns, 32);
  int64_t at = 0;
  for (int64_t k = 0; k < local.entries.lengths.size(); ++k) {
    row.clear();
    for (const int64_t end = at + local.entries.lengths[k]; at < end; ++at) {
      const uint32_t column = columns[local.entries.columns[at]];
      if (column == TermMap::kAbsent) continue;
      row.push_back(uint64_t{column} << 32 | static_cast<uint32_t>(local.entries.values[at]));
    }
    sorter.sort(row);
    for (const uint64_t entry : row) {
      out.columns.push_back(static_cast<uint32_t>(entry >> 32));
      out.values.push_back(binary ? 1 : static_cast<int32_t>(static_cast<uint32_t>(entry)));
    }
    out.lengths.push_back(static_cast<uint32_t>(row.size()));
  }
  return out;
}

}  // namespace

CountedTerms count_terms(const Column& column, const TextOptions& options,
                         const VocabularyLimits& limits, bool binary, Dtype dtype) {
  const ScopedTag tag(kOp);
  const Texts texts(column, options);
  const int64_t step = texts.step(), rows = texts.num_rows();
  std::vector<LocalCounts> parts(static_cast<size_t>((rows + step - 1) / step));
  parallel_morsels(rows, step, {}, [&](const Morsel& morsel) {
    LocalCounts& part = parts[static_cast<size_t>(morsel.index)];
    count_morsel(texts, options, morsel, part);
    sort_by_shard(part);
  });
  std::vector<GrowingBuffer<uint32_t>> numbers(parts.size());
  const std::vector<Shard> shards = merge(parts, numbers);
  const BudgetedVector<GlobalTerm> kept = kept_terms(shards, limits);
  std::vector<GrowingBuffer<uint32_t>> columns(kShards);  // by shard and number there
  CountedTerms result;
  for (size_t k = 0; k < shards.size(); ++k) {
    columns[k].resize(shards[k].terms.size(), TermMap::kAbsent);
    result.found += shards[k].terms.size();
  }
  for (size_t k = 0; k < kept.size(); ++k)
    columns[kept[k].shard][kept[k].number] = static_cast<uint32_t>(k);
  std::vector<RowEntries> entries(parts.size());
  parallel_for(static_cast<int64_t>(parts.size()), [&](int64_t k) {
    const auto part = static_cast<size_t>(k);
    GrowingBuffer<uint32_t>& number = numbers[part];
    for (int64_t term = 0; term < number.size(); ++term) {
      const int64_t shard = shard_of(parts[part].terms.hash(static_cast<uint32_t>(term)));
      number[term] = columns[static_cast<size_t>(shard)][number[term]];
    }
    entries[part] = renumbered(parts[part], number, static_cast<int64_t>(kept.size()), binary);
    parts[part].entries = {};
  });
  result.terms = strings_of(kept);
  result.counts = put_together(entries, rows, result.terms.num_rows(), dtype);
  return result;
}

Sparse count_terms(const Column& texts, const TextOptions& options, const Column& vocabulary,
                   bool binary, Dtype dtype) {
  const ScopedTag tag(kOp);
  TermMap terms;
  const StringReader reader(vocabulary);
  for (int64_t row = 0; row < vocabulary.num_rows(); ++row)
    terms.add(reader[row], hash_term(reader[row]));
  return count_keys(texts, options, vocabulary.num_rows(), binary, dtype,
                    [&](std::string_view term) {
                      const uint32_t column = terms.find(term, hash_term(term));
                      return column == TermMap::kAbsent ? kNoKey : uint64_t{column} << 1;
                    });
}

Sparse hash_terms(const Column& texts, const TextOptions& options, int64_t columns, bool signs,
                  bool binary, Dtype dtype) {
  const ScopedTag tag(kOp);
  if (columns < 1 || columns > std::numeric_limits<int32_t>::max())
    throw_error<InvalidArgumentError>(kOp, "n_features is not within 1 and 2^31 - 1",
                                      {{"n_features", columns}});
  return count_keys(texts, options, columns, binary, dtype, [&](std::string_view term) {
    const auto hash = int64_t{static_cast<int32_t>(murmur3_32(term, 0))};
    const int64_t size = hash < 0 ? -hash : hash;
    return static_cast<uint64_t>(size % columns) << 1 | static_cast<uint64_t>(signs && hash < 0);
  });
}

std::vector<std::string> find_terms(const Column& column, const TextOptions& options) {
  const Texts texts(column, options);
  std::vector<std::string> all;
  visit_terms(texts, options, {0, 0, texts.num_rows()}, [&](int64_t, const auto& terms) {
    all.insert(all.end(), terms.begin(), terms.end());
  });
  return all;
}

}  // namespace hr
