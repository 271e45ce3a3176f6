// SPDX-License-Identifier: Apache-2.0
// The Parquet writer: parts encoded as files of their own, their pages written in order, one
// footer.
#include "headrace/io/parquet_write.h"

#include "headrace/io/ordered_writer.h"
#include "headrace/io/parquet_footer.h"
#include "headrace/io/sink.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kOp = "to_parquet";
constexpr int64_t kGroupRows = int64_t{1} << 20;  // pyarrow's
// Narrow parts cost the encoder's start, some 0.1 ms, more often.
constexpr int64_t kPartCells = int64_t{1} << 18;

std::string_view view(const Buffer& bytes) {
  return {bytes.as<char>(), static_cast<size_t>(bytes.size_bytes())};
}

}  // namespace

void write_parquet(const std::string& path, int64_t rows, int64_t columns,
                   const EncodeParquet& encode) {
  const ScopedTag tag(kOp);
  Sink sink(kOp, path, false);
  const int64_t most_rows = std::clamp<int64_t>(rows, 1, kGroupRows);
  const int64_t part_columns = std::max<int64_t>(1, kPartCells / most_rows);
  if (columns == 0 || (rows <= most_rows && columns <= part_columns)) {
    sink.append(view(encode(0, rows, 0, columns)));
    return sink.commit();
  }
  const int64_t width = (columns + part_columns - 1) / part_columns;
  const int64_t groups = (rows + most_rows - 1) / most_rows;
  const auto rows_of = [&](int64_t group) { return std::min(most_rows, rows - group * most_rows); };
  const Buffer empty = encode(0, 0, 0, columns);
  ParquetFooter footer(view(empty));
  std::vector<std::vector<ParquetChunks>> parts(static_cast<size_t>(groups));
  for (auto& each : parts) each.resize(static_cast<size_t>(width));
  const int64_t slots = num_piece_slots();
  std::vector<Buffer> files(static_cast<size_t>(slots));
  sink.append("PAR1");
  write_in_order(sink, groups * width, slots, [&](int64_t piece, int64_t slot) {
    const int64_t group = piece / width, first = piece % width * part_columns;
    Buffer& file = files[static_cast<size_t>(slot)];
    file = {};
    file =
        encode(group * most_rows, rows_of(group), first, std::min(part_columns, columns - first));
    ParquetChunks& part = parts[static_cast<size_t>(group)][static_cast<size_t>(piece % width)];
    part = parquet_chunks(view(file));
    return part.pages;
  });
  for (int64_t group = 0; group < groups; ++group)
    footer.add(rows_of(group), parts[static_cast<size_t>(group)]);
  sink.append(footer.finish());
  sink.commit();
}

}  // namespace hr
