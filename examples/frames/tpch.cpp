// SPDX-License-Identifier: Apache-2.0
// Queries 1, 3 and 5 of TPC-H: dates, decimals and strings in filters, joins and groups.
//   tpch [FOLDER]
#include <cstdio>
#include <exception>
#include <headrace/headrace.h>
#include <string>

namespace {

struct Tables {
  hr::Frame customer, lineitem, nation, orders, region, supplier;
};

Tables read(const std::string& folder) {
  const auto table = [&](const char* name) { return hr::read_csv(folder + "/" + name + ".csv"); };
  // docs: decimals
  const hr::Dtype money = hr::Dtype::decimal(15, 2);  // dates are found by themselves
  const hr::Frame lineitem =
      hr::read_csv(folder + "/lineitem.csv", {.dtypes = {{"l_quantity", money},
                                                         {"l_extendedprice", money},
                                                         {"l_discount", money},
                                                         {"l_tax", money}}});
  // docs: end
  return {.customer = table("customer"),
          .lineitem = lineitem,
          .nation = table("nation"),
          .orders = table("orders"),
          .region = table("region"),
          .supplier = table("supplier")};
}

hr::Series revenue(const hr::Frame& lines) {
  return lines["l_extendedprice"] * (1 - lines["l_discount"]);
}

// Pricing summary.
hr::Frame q1(const Tables& t) {
  // docs: q1
  hr::Frame lines = t.lineitem.filter(t.lineitem["l_shipdate"] <= "1998-09-02");
  lines = lines.assign("disc_price", lines["l_extendedprice"] * (1 - lines["l_discount"]));
  lines = lines.assign("charge", lines["disc_price"] * (1 + lines["l_tax"]));
  return lines.group_by({"l_returnflag", "l_linestatus"})
      .agg({{"sum_qty", "l_quantity", "sum"},
            {"sum_base_price", "l_extendedprice", "sum"},
            {"sum_disc_price", "disc_price", "sum"},
            {"sum_charge", "charge", "sum"},
            {"avg_qty", "l_quantity", "mean"},
            {"avg_price", "l_extendedprice", "mean"},
            {"avg_disc", "l_discount", "mean"},
            {"count_order", "l_quantity", "size"}});
  // docs: end
}

// Unshipped orders of the highest value.
hr::Frame q3(const Tables& t) {
  const hr::Frame customers = t.customer.filter(t.customer["c_mktsegment"] == "BUILDING");
  const hr::Frame orders =
      t.orders.filter(t.orders["o_orderdate"] < "1995-03-15")
          .merge(customers, {}, {.left_on = "o_custkey", .right_on = "c_custkey"});
  const hr::Frame lines =
      t.lineitem.filter(t.lineitem["l_shipdate"] > "1995-03-15")
          .merge(orders, {}, {.left_on = "l_orderkey", .right_on = "o_orderkey"});
  return lines.assign("revenue", revenue(lines))
      .group_by({"l_orderkey", "o_orderdate", "o_shippriority"}, {.sort = false})
      .agg({{"revenue", "revenue", "sum"}})
      .sort_values({"revenue", "o_orderdate"}, {.ascending = {false, true}})
      .head(10)
      .select({"l_orderkey", "revenue", "o_orderdate", "o_shippriority"});
}

// Revenue through local suppliers.
hr::Frame q5(const Tables& t) {
  const hr::Frame asia = t.region.filter(t.region["r_name"] == "ASIA");
  const hr::Frame nations =
      t.nation.merge(asia, {}, {.left_on = "n_regionkey", .right_on = "r_regionkey"});
  const hr::Frame suppliers =
      t.supplier.merge(nations, {}, {.left_on = "s_nationkey", .right_on = "n_nationkey"});
  const hr::Series day = t.orders["o_orderdate"];
  const hr::Frame orders =
      t.orders.filter((day >= "1994-01-01") & (day < "1995-01-01"))
          .merge(t.customer, {}, {.left_on = "o_custkey", .right_on = "c_custkey"});
  const hr::Frame lines =
      t.lineitem.merge(orders, {}, {.left_on = "l_orderkey", .right_on = "o_orderkey"})
          .merge(
              suppliers, {},
              {.left_on = {"l_suppkey", "c_nationkey"}, .right_on = {"s_suppkey", "s_nationkey"}});
  return lines.assign("revenue", revenue(lines))
      .group_by("n_name")
      .agg({{"revenue", "revenue", "sum"}})
      .sort_values("revenue", {.ascending = {false}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: %s [FOLDER]\n", argv[0]);
    return 2;
  }
  try {
    const Tables tables = read(argc == 2 ? argv[1] : "testdata/tpch");
    std::printf("q1\n%s\n", q1(tables).to_string().c_str());
    std::printf("q3\n%s\n", q3(tables).to_string().c_str());
    std::printf("q5\n%s\n", q5(tables).to_string().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
