// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/write.h"

#include "headrace/base/error.h"
#include "headrace/io/ordered_writer.h"
#include "headrace/io/parquet/arrow_schema_writer.h"
#include "headrace/io/parquet/chunk_writer.h"
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/sink.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hr {

namespace {

using namespace parquet;

constexpr std::string_view kOp = "to_parquet";
constexpr std::string_view kMagic = "PAR1";
constexpr int64_t kGroupRows = int64_t{1} << 20;
constexpr int64_t kGpuGroupRows = 10 * kGroupRows;
constexpr int64_t kGpuPageRows = int64_t{1} << 16;
constexpr double kGpuWorth = 0.1;
constexpr int64_t kScratchBytes = 48;  // of a row of a chunk that is being made, at most

Codec codec_of(const std::string& word) {
  constexpr std::pair<std::string_view, Codec> kWords[] = {
      {"none", Codec::kNone}, {"snappy", Codec::kSnappy}, {"gzip", Codec::kGzip},
      {"zstd", Codec::kZstd}, {"lz4", Codec::kLz4Raw},    {"brotli", Codec::kBrotli}};
  for (const auto& [name, codec] : kWords) {
    if (name != word) continue;
    if (!can_pack(codec))
      throw_error<UnsupportedError>(kOp, "this build does not include the codec",
                                    {{"compression", word}}, "use snappy");
    return codec;
  }
  throw_error<InvalidArgumentError>(kOp, "unknown compression", {{"compression", word}},
                                    "use snappy, zstd, gzip, lz4, brotli or none");
}

int level_of(Codec codec, const ParquetWriteOptions& options) {
  const CodecLevels levels = levels_of(codec);
  if (!options.level) return levels.usual;
  if (levels.most == 0)
    throw_error<InvalidArgumentError>(
        kOp, "this compression has no levels",
        {{"compression", options.compression}, {"compression_level", *options.level}},
        "leave compression_level out, or use zstd, gzip or brotli");
  if (*options.level < levels.least || *options.level > levels.most)
    throw_error<InvalidArgumentError>(
        kOp, "the compression level is out of range", {{"compression_level", *options.level}},
        "use " + std::to_string(levels.least) + " to " + std::to_string(levels.most));
  return *options.level;
}

// A table that is being written.
class Writing {
 public:
  Writing(const Table& values, const ParquetWriteOptions& options)
      : table_(std::get<Table>(to_place(Value(values), host))),
        schema_(make_schema(table_.names(), table_.columns())),
        filtered_(schema_.leaves.size()) {
    chunk_options_.codec = codec_of(options.compression);
    chunk_options_.level = level_of(chunk_options_.codec, options);
    chunk_options_.has_checksums = options.checksums;
    if (options.layout != "default" && options.layout != "gpu")
      throw_error<InvalidArgumentError>(kOp, "unknown layout", {{"layout", options.layout}},
                                        "use default or gpu");
    if (options.layout == "gpu") {
      group_rows_ = kGpuGroupRows;
      chunk_options_.page_rows = kGpuPageRows;
      chunk_options_.worth = kGpuWorth;
      chunk_options_.front_codes = false;  // each string needs the one before
    }
    if (options.row_group_rows) group_rows_ = *options.row_group_rows;
    if (group_rows_ < 1)
      throw_error<InvalidArgumentError>(kOp, "a row group has no rows",
                                        {{"row_group_size", group_rows_}}, "use at least 1");
    for (const std::string& name : options.bloom_filter) {
      const auto column = static_cast<size_t>(find_column(kOp, table_.names(), name));
      for (size_t l = 0; l < filtered_.size(); ++l)
        if (schema_.leaves[l].column == column) filtered_[l] = true;
    }
  }

  template <class To>
  void write_to(To& to, const std::function<void(std::string_view)>& append) {
    append(kMagic);
    const int64_t rows = schema_.leaves.empty() ? 0 : table_.num_rows();
    const auto leaves = std::ssize(schema_.leaves);
    groups_.resize(static_cast<size_t>((rows + group_rows_ - 1) / group_rows_));
    for (size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].rows = std::min(group_rows_, rows - static_cast<int64_t>(g) * group_rows_);
      groups_[g].chunks.resize(schema_.leaves.size());
    }
    const int64_t slots = num_slots();
    std::vector<ByteBuffer> chunks(static_cast<size_t>(slots));
    if (leaves > 0)
      write_in_order(to, std::ssize(groups_) * leaves, slots, [&](int64_t piece, int64_t slot) {
        ByteBuffer& chunk = chunks[static_cast<size_t>(slot)];
        chunk = {};
        make_chunk(static_cast<size_t>(piece / leaves), static_cast<size_t>(piece % leaves), chunk);
        return chunk.view();
      });
    append(write_footer(schema_, groups_, make_arrow_schema(table_.names(), table_.columns())));
  }

 private:
  void make_chunk(size_t group, size_t place, ByteBuffer& out) {
    const WrittenLeaf& leaf = schema_.leaves[place];
    ChunkOptions options = chunk_options_;
    options.has_filter = filtered_[place];
    groups_[group].chunks[place] =
        write_chunk(table_.columns()[leaf.column], leaf, static_cast<int64_t>(group) * group_rows_,
                    groups_[group].rows, options, out);
  }

  // Chunks that exist at once: as many as have room.
  int64_t num_slots() const {
    const int64_t limit = memory_limit();
    const int64_t wanted = num_piece_slots();
    if (limit == std::numeric_limits<int64_t>::max() || groups_.empty()) return wanted;
    return std::clamp<int64_t>(limit / 2 / (groups_[0].rows * kScratchBytes), 1, wanted);
  }

  Table table_;
  WrittenSchema schema_;
  std::vector<bool> filtered_;  // leaves with a Bloom filter
  ChunkOptions chunk_options_{};
  int64_t group_rows_ = kGroupRows;
  std::vector<WrittenGroup> groups_{};
};

}  // namespace

void write_parquet(const Table& table, const std::string& path,
                   const ParquetWriteOptions& options) {
  const ScopedTag tag(kOp);
  Writing writing(table, options);
  Sink sink(kOp, path, false);
  writing.write_to(sink, [&](std::string_view bytes) { sink.append(bytes); });
  sink.commit();
}

void write_parquet(const Table& table, const std::function<void(std::string_view)>& write,
                   const ParquetWriteOptions& options) {
  const ScopedTag tag(kOp);
  Writing writing(table, options);
  writing.write_to(write, write);
}

}  // namespace hr
