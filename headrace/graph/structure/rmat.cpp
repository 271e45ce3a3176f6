// SPDX-License-Identifier: Apache-2.0
// Edges drawn quarter by quarter.
#include "headrace/graph/structure/rmat.h"

#include "headrace/algo/random/philox.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/graph/structure/graph.h"
#include "headrace/memory/spill/spill.h"

#include <array>
#include <cmath>

namespace hr {

namespace {

enum Stream : uint32_t { kQuarters = 1, kNames = 2 };

// A permutation of 2^scale numbers without a table: rounds of xor with what Philox makes of the
// other half (M. Luby, C. Rackoff, 1988); of an odd number of bits one half is longer.
uint32_t permuted(uint32_t v, int64_t scale, uint64_t seed) {
  const int64_t low_bits = scale / 2, high_bits = scale - low_bits;
  const auto mask = [](int64_t bits) { return static_cast<uint32_t>((uint64_t{1} << bits) - 1); };
  uint32_t low = v & mask(low_bits), high = v >> low_bits;
  for (uint32_t round = 0; round < 4; ++round) {
    const auto drawn = [&](uint32_t half, uint32_t side) {
      return philox_block({seed, kNames}, half, 2 * round + side).word[0];
    };
    high ^= drawn(low, 0) & mask(high_bits);
    low ^= drawn(high, 1) & mask(low_bits);
  }
  return static_cast<uint32_t>(uint64_t{high} << low_bits) | low;
}

}  // namespace

NodePtr rmat(const RmatOptions& options) {
  const double rest = 1 - options.a - options.b - options.c;
  if (options.scale < 0 || options.scale > 32 || options.edges < 0)
    throw_error<InvalidArgumentError>("rmat", "invalid size",
                                      {{"scale", options.scale}, {"edges", options.edges}},
                                      "use a scale of 0 to 32");
  if (!(options.a >= 0 && options.b >= 0 && options.c >= 0 && rest >= -1e-12))
    throw_error<InvalidArgumentError>("rmat",
                                      "shares of quarters are negative, or more than 1 together",
                                      {{"a", options.a}, {"b", options.b}, {"c", options.c}});
  const auto border = [](double share) {
    return static_cast<uint64_t>(std::llround(std::min(share, 1.0) * 0x1p32));
  };
  const uint64_t borders[] = {border(options.a), border(options.a + options.b),
                              border(options.a + options.b + options.c)};
  const auto run = [options, borders = std::array{borders[0], borders[1], borders[2]}](
                       const std::vector<bool>& wanted, std::span<const Value>) {
    const int64_t bytes = checked_multiply("rmat", options.edges, 8);
    if (bytes > attainable_bytes()) make_room(bytes);  // throws now, not when the disk is full
    Buffer source = Buffer::allocate_spillable(4 * options.edges);
    Buffer target = Buffer::allocate_spillable(4 * options.edges);
    if (options.edges > 0) {
      auto* const from = source.mutable_as<uint32_t>();
      auto* const to = target.mutable_as<uint32_t>();
      parallel_morsels(
          options.edges,
          {{&source, 0, 32, 32, options.edges, 0, 0, true},
           {&target, 0, 32, 32, options.edges, 0, 0, true}},
          [&](Morsel morsel) {
            for (int64_t edge = morsel.begin; edge < morsel.end; ++edge) {
              uint64_t row = 0, column = 0;
              PhiloxBlock block{};
              for (int64_t bit = 0; bit < options.scale; ++bit) {
                if (bit % 4 == 0)
                  block = philox_block({options.seed, kQuarters}, static_cast<uint64_t>(edge),
                                       static_cast<uint32_t>(bit / 4));
                const uint64_t draw = block.word[bit % 4];
                const uint64_t quarter = static_cast<uint64_t>(draw >= borders[0]) +
                                         (draw >= borders[1]) + (draw >= borders[2]);
                row = 2 * row + quarter / 2;
                column = 2 * column + quarter % 2;
              }
              from[edge] = permuted(static_cast<uint32_t>(row), options.scale, options.seed);
              to[edge] = permuted(static_cast<uint32_t>(column), options.scale, options.seed);
            }
          });
    }
    std::vector<Column> made;
    if (wanted[0]) made.emplace_back(TypeId::kUInt32, options.edges, std::move(source));
    if (wanted[1]) made.emplace_back(TypeId::kUInt32, options.edges, std::move(target));
    return made;
  };
  return graph_table("rmat", "scale=" + std::to_string(options.scale),
                     {{"source", TypeId::kUInt32}, {"target", TypeId::kUInt32}}, {}, options.edges,
                     new_domain(), run);
}

}  // namespace hr
