// SPDX-License-Identifier: Apache-2.0
#include "headrace/frame/frame.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace hr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Series ints(const std::vector<int64_t>& values) {
  return Series(values);
}

Series floats(const std::vector<double>& values, const std::vector<bool>& valid = {}) {
  return testing::column_of(values, valid);
}

// Removed with what is in it when the program ends.
struct Folder {
  const std::string path = [] {
    std::string name = ::testing::TempDir() + "headrace-XXXXXX";
    return std::string(::mkdtemp(name.data()));
  }();
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string file(const std::string& name) {
  static const Folder folder;
  return folder.path + "/" + name;
}

std::string written(const std::string& name, const std::string& text) {
  std::ofstream(file(name)) << text;
  return file(name);
}

Frame trips() {
  return read_csv(written("trips.csv",
                          "city,rider,minutes\n"
                          "Bern,2,31\nGraz,1,12\nBern,1,45\nLyon,3,33\nGraz,2,60\nBern,9,90\n"));
}

Frame riders() {
  return read_csv(written("riders.csv", "rider,member\n1,true\n2,false\n3,true\n4,true\n"));
}

// All values as a CSV text on one line, rows apart by blanks.
std::string text_of(const Frame& frame) {
  std::string text;
  write_csv(frame.table(), [&](std::string_view piece) { text += piece; }, {.line_end = " "});
  if (!text.empty()) text.pop_back();
  return text;
}

std::string text_of(const Series& series) {
  return text_of(Frame({{"x", series}}));
}

TEST(Frame, ReadsAndWrites) {
  const std::string path = written("read.csv", "a,b\n1,x\n2,\n");
  for (const Frame& frame : {read_csv(path), scan_csv(path)}) {
    EXPECT_THAT(frame.columns(), ElementsAre("a", "b"));
    EXPECT_EQ(frame.num_rows(), 2);
    EXPECT_EQ(frame.num_columns(), 2);
    EXPECT_EQ(text_of(frame), "a,b 1,x 2,");
    frame.to_csv(file("write.csv"), {.null_word = "?"});
    std::stringstream text;
    text << std::ifstream(file("write.csv")).rdbuf();
    EXPECT_EQ(text.str(), "a,b\n1,x\n2,?\n");
  }
  EXPECT_EQ(text_of(scan_csv(path, {.columns = {"b"}})), "b x NA");
  EXPECT_THROW(read_csv(file("nowhere.csv")), InputError);
  EXPECT_THROW(scan_csv(file("nowhere.csv")), InputError);
  EXPECT_THROW(read_csv(path, {.on_bad = BadRows::kReject}), InvalidArgumentError);
  EXPECT_THROW(scan_csv(path, {.on_bad = BadRows::kReject}), InvalidArgumentError);
}

TEST(Frame, RunsAChainAsOnePlan) {
  const Frame trips = scan_csv(written(
      "chain.csv", "city,rider,minutes\nBern,2,31\nGraz,1,12\nBern,1,45\nLyon,3,33\nBern,9,90\n"));
  const Frame report = trips.filter(trips["minutes"] > 30)
                           .merge(riders(), "rider")
                           .group_by({"city", "member"})
                           .agg({{"trips", "minutes", "size"}, {"longest", "minutes", "max"}});
  EXPECT_EQ(text_of(report.sort_values("longest", {.ascending = {false}})),
            "city,member,trips,longest Bern,True,1,45 Lyon,True,1,33 Bern,False,1,31");
}

TEST(Frame, HoldsColumnsOfEqualLength) {
  const Frame frame({{"a", ints({1, 2})}, {"b", floats({0.5, 1.5})}});
  EXPECT_EQ(text_of(frame), "a,b 1,0.5 2,1.5");
  EXPECT_EQ(frame["b"].dtype(), Dtype(TypeId::kFloat64));
  EXPECT_TRUE(frame.contains("a"));
  EXPECT_FALSE(frame.contains("c"));
  EXPECT_EQ(Frame().num_rows(), 0);
  EXPECT_EQ(Frame(frame.table()).columns(), frame.columns());
  EXPECT_THAT([] { Frame({{"a", ints({1})}, {"b", ints({1, 2})}}); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("column='b', rows=2, frame_rows=1")));
  EXPECT_THROW(Frame({{"a", ints({1})}, {"a", ints({1})}}), InvalidArgumentError);
  EXPECT_THROW(Frame({{"a", 1}}), InvalidArgumentError);
  EXPECT_EQ(text_of(Frame().assign("a", ints({1, 2})).assign("b", 0)), "a,b 1,0 2,0");
}

TEST(Frame, SelectsDropsAndRenamesColumns) {
  const Frame frame = trips();
  EXPECT_THAT(frame.select({"minutes", "city"}).columns(), ElementsAre("minutes", "city"));
  EXPECT_THAT(frame.select("city").columns(), ElementsAre("city"));
  EXPECT_EQ(frame.select({}).num_columns(), 0);
  EXPECT_THAT(frame.drop("city").columns(), ElementsAre("rider", "minutes"));
  EXPECT_THAT(frame.rename("minutes", "time").columns(), ElementsAre("city", "rider", "time"));
  EXPECT_THROW(frame.rename("minutes", "city"), InvalidArgumentError);
}

TEST(Frame, NamesASimilarColumnForOneThatIsNotThere) {
  const Frame frame = trips();
  const auto refuses = [](auto use) {
    EXPECT_THAT(use, ThrowsMessage<ColumnNotFoundError>(HasSubstr("did you mean 'minutes'?")));
  };
  refuses([&] { frame["minute"]; });
  refuses([&] { frame.select({"city", "minute"}); });
  refuses([&] { frame.drop("minute"); });
  refuses([&] { frame.rename("minute", "x"); });
  refuses([&] { frame.sort_values("minute"); });
  refuses([&] { frame.drop_duplicates("minute"); });
  refuses([&] { frame.group_by("minute"); });
  refuses([&] { frame.group_by("city").agg({{"x", "minute", "sum"}}); });
  refuses([&] { frame.merge(frame, "minute"); });
  EXPECT_THAT([&] { frame["xyz"]; }, ThrowsMessage<ColumnNotFoundError>(
                                         HasSubstr("the columns are city, rider, minutes")));
}

TEST(Frame, HasErrorsOfOneFamily) {
  const Frame trips = hr::trips();
  std::string message;
  // docs: errors
  try {
    trips["minute"].mean();
  } catch (const hr::ColumnNotFoundError& error) {
    message = error.what();  // Frame: no such column: name='minute'; did you mean 'minutes'?
  }
  // docs: end
  EXPECT_EQ(message, "Frame: no such column: name='minute'; did you mean 'minutes'?");
}

TEST(Frame, AssignsColumnsAndNumbers) {
  const Frame frame({{"a", ints({1, 2, 4})}});
  const Frame more =
      frame.assign("b", frame["a"] * 2 + 1).assign("a", 7).assign("m", frame["a"].max());
  EXPECT_EQ(text_of(more), "a,b,m 7,3,4 7,5,4 7,9,4");
  EXPECT_EQ(text_of(frame), "a 1 2 4");
  EXPECT_EQ(text_of(frame.assign("c", ints({5, 6, 7}))), "a,c 1,5 2,6 4,7");
  EXPECT_EQ(text_of(frame.filter(frame["a"] > 1).assign("c", ints({5, 6}))), "a,c 2,5 4,6");
  EXPECT_THAT([&] { frame.assign("c", ints({5, 6})); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("column='c', rows=2, frame_rows=3")));
  EXPECT_THROW(frame.assign("c", frame.filter(frame["a"] > 1)["a"]), InvalidArgumentError);
}

// What would change nothing does not compile.
static_assert(!std::is_assignable_v<decltype(Frame()["a"]), Series>);
static_assert(std::is_assignable_v<Series&, Series>);

TEST(Frame, FiltersRows) {
  const Frame frame = trips();
  EXPECT_EQ(text_of(frame.filter(frame["minutes"] > 40)),
            "city,rider,minutes Bern,1,45 Graz,2,60 Bern,9,90");
  EXPECT_EQ(text_of(frame.filter((frame["city"] == "Graz") & (frame["minutes"] < 50))),
            "city,rider,minutes Graz,1,12");
  EXPECT_EQ(frame.filter(frame["minutes"] > 100).num_rows(), 0);
  const Frame holes({{"x", floats({1, 2, 3}, {true, false, true})}});
  EXPECT_EQ(text_of(holes.filter(holes["x"] >= 1)), "x 1.0 3.0");
  EXPECT_THROW(frame.filter(riders()["member"]), InvalidArgumentError);  // another frame
  const Frame same = trips();
  EXPECT_THROW(frame.filter(same["minutes"] > 40), InvalidArgumentError);  // of as many rows
  EXPECT_THROW(frame.filter(frame["minutes"]), TypeMismatchError);
}

TEST(Frame, TakesTheFirstRows) {
  const Frame frame({{"a", ints({1, 2, 3, 4, 5, 6, 7})}});
  EXPECT_EQ(text_of(frame.head()), "a 1 2 3 4 5");
  EXPECT_EQ(text_of(frame.head(2)), "a 1 2");
  EXPECT_EQ(text_of(frame.head(9)), "a 1 2 3 4 5 6 7");
  EXPECT_EQ(text_of(frame.head(-5)), "a 1 2");
  EXPECT_EQ(frame.head(0).num_rows(), 0);
  EXPECT_EQ(Frame().head().num_rows(), 0);
}

TEST(Frame, SortsRows) {
  const Frame frame = trips();
  EXPECT_EQ(text_of(frame.sort_values("minutes", {.ascending = {false}}).head(2)),
            "city,rider,minutes Bern,9,90 Graz,2,60");
  EXPECT_EQ(text_of(frame.sort_values({"city", "rider"}, {.ascending = {false, true}}).head(3)),
            "city,rider,minutes Lyon,3,33 Graz,1,12 Graz,2,60");
  const Frame holes({{"x", floats({2, 0, 1}, {true, false, true})}});
  EXPECT_EQ(text_of(holes.sort_values("x")), "x 1.0 2.0 NA");
  EXPECT_EQ(text_of(holes.sort_values("x", {.na_position = "first"})), "x NA 1.0 2.0");
  EXPECT_THROW(frame.sort_values({"city", "rider"}, {.ascending = {true, true, false}}),
               InvalidArgumentError);
  EXPECT_THROW(frame.sort_values("city", {.na_position = "middle"}), InvalidArgumentError);
  EXPECT_THROW(frame.sort_values({}), InvalidArgumentError);
}

TEST(Frame, DropsDuplicates) {
  const Frame frame = trips();
  EXPECT_EQ(text_of(frame.drop_duplicates("city")),
            "city,rider,minutes Bern,2,31 Graz,1,12 Lyon,3,33");
  EXPECT_EQ(frame.drop_duplicates({"city", "rider"}).num_rows(), 6);
  EXPECT_EQ(text_of(frame.select("city").drop_duplicates()), "city Bern Graz Lyon");
  EXPECT_EQ(Frame().drop_duplicates().num_columns(), 0);
}

TEST(Frame, StacksFrames) {
  const Frame a({{"x", ints({1})}, {"y", floats({0.5})}});
  const Frame b({{"y", floats({1.5})}, {"x", floats({2.5})}});
  EXPECT_EQ(text_of(concat({a, b, a})), "x,y 1.0,0.5 2.5,1.5 1.0,0.5");
  EXPECT_EQ(text_of(concat({a})), "x,y 1,0.5");
  EXPECT_THROW(concat(std::vector<Frame>{}), InvalidArgumentError);
  EXPECT_THROW(concat({a, b.drop("x")}), ColumnNotFoundError);
  EXPECT_THROW(concat({b.drop("x"), b}), ColumnNotFoundError);
  EXPECT_THROW(concat({trips().select("city"), Frame({{"city", ints({1})}})}), TypeMismatchError);
}

TEST(Frame, Groups) {
  const Frame frame = trips();
  const Frame found = frame.group_by("city").agg({{"trips", "minutes", "size"},
                                                  {"mean", "minutes", "mean"},
                                                  {"half", "minutes", "quantile"},
                                                  {"first", "rider", "first"}});
  EXPECT_THAT(found.columns(), ElementsAre("city", "trips", "mean", "half", "first"));
  EXPECT_EQ(found.num_rows(), 3);
  EXPECT_EQ(text_of(found.filter(found["city"] == "Graz")),
            "city,trips,mean,half,first Graz,2,36.0,36.0,1");
  EXPECT_EQ(text_of(frame.group_by({"city", "rider"}).size().head(2)),
            "city,rider,size Bern,1,1 Bern,2,1");
  EXPECT_EQ(text_of(frame.group_by("rider", {.sort = false}).size()), "rider,size 2,2 1,2 3,1 9,1");
  const Frame holes({{"k", floats({1, kNan, 1})}, {"x", ints({1, 2, 4})}});
  EXPECT_EQ(text_of(holes.group_by("k").agg({{"s", "x", "sum"}})), "k,s 1.0,5");
  EXPECT_EQ(text_of(holes.group_by("k", {.dropna = false}).agg({{"s", "x", "sum"}})),
            "k,s 1.0,5 nan,2");
  EXPECT_EQ(text_of(holes.group_by("k").agg({{"v", "x", "var", 0.5, 0}})), "k,v 1.0,2.25");
  EXPECT_EQ(text_of(holes.group_by("k").agg(
                {{.name = "s", .column = "x", .aggregate = "sum", .min_count = 3}})),
            "k,s 1.0,");
}

TEST(Frame, AggregatesTimesOfGroups) {
  const Frame frame = read_csv(written("times.csv",
                                       "k,day,at\na,2024-02-28,2024-02-28 00:00:00\n"
                                       "b,1969-12-30,1969-12-31 23:59:59\na,2024-03-01,\n"
                                       "b,1969-12-31,1969-12-31 23:59:58\nc,,\n"));
  const auto means = [](const Frame& rows) {
    return text_of(rows.group_by("k").agg(
        {{"day", "day", "mean"}, {"at", "at", "median"}, {"last", "day", "max"}}));
  };
  EXPECT_EQ(means(frame),
            "k,day,at,last a,2024-02-29,2024-02-28 00:00:00,2024-03-01 "
            "b,1969-12-31,1969-12-31 23:59:58.500000,1969-12-31 c,,,");
  EXPECT_EQ(means(frame.filter(frame["k"] == "z")), "k,day,at,last");
  const Series took = (frame["at"] - frame["day"]).fillna(std::chrono::hours(0));
  EXPECT_EQ(
      text_of(frame.assign("took", took)
                  .group_by("k")
                  .agg({{"std", "at", "std"}, {"any", "took", "any"}, {"all", "took", "all"}})),
      "k,std,any,all a,,False,False b,0 days 00:00:00.707106,True,True c,,False,False");
  EXPECT_THROW(frame.group_by("k").agg({{"x", "day", "sum"}}), TypeMismatchError);
}

TEST(Frame, RefusesGroupsThatMakeNoSense) {
  const Frame frame = trips();
  EXPECT_THROW(frame.group_by({}).size(), InvalidArgumentError);
  EXPECT_THROW(frame.group_by("city").agg({{"x", "minutes", "middle"}}), InvalidArgumentError);
  EXPECT_THROW(frame.group_by("city").agg({{"x", "city", "mean"}}), TypeMismatchError);
  EXPECT_THROW(frame.group_by("city").agg({{"city", "minutes", "mean"}}), InvalidArgumentError);
  EXPECT_THROW(frame.group_by("city").agg({{"x", "minutes", "quantile", 2}}), InvalidArgumentError);
}

TEST(Frame, Merges) {
  const Frame left = trips(), right = riders();
  EXPECT_EQ(text_of(left.merge(right, "rider").head(2)),
            "city,rider,minutes,member Bern,2,31,False Graz,1,12,True");
  EXPECT_EQ(text_of(left.merge(right)), text_of(left.merge(right, "rider")));
  const auto rows = [&](const char* how) {
    return left.merge(right, "rider", {.how = how}).num_rows();
  };
  EXPECT_EQ(rows("inner"), 5);
  EXPECT_EQ(rows("left"), 6);
  EXPECT_EQ(rows("right"), 6);
  EXPECT_EQ(rows("outer"), 7);
  EXPECT_EQ(rows("semi"), 5);
  EXPECT_EQ(rows("anti"), 1);
  EXPECT_EQ(left.merge(right, {}, {.how = "cross"}).num_rows(), 24);
  EXPECT_EQ(text_of(right.merge(left, "rider", {.how = "left", .indicator = "from", .sort = true})),
            "rider,member,city,minutes,from 1,True,Graz,12,both 1,True,Bern,45,both "
            "2,False,Bern,31,both 2,False,Graz,60,both 3,True,Lyon,33,both 4,True,,,left_only");
  EXPECT_EQ(text_of(right.merge(left, "rider", {.how = "right"}).head(1)),
            "rider,member,city,minutes 2,False,Bern,31");
}

TEST(Frame, NamesTheColumnsOfAMerge) {
  const Frame a({{"k", ints({1, 2})}, {"x", ints({3, 4})}});
  const Frame b({{"key", ints({2, 1})}, {"x", ints({5, 6})}});
  EXPECT_EQ(text_of(a.merge(b, {}, {.left_on = "k", .right_on = "key"})),
            "k,x_x,key,x_y 1,3,1,6 2,4,2,5");
  EXPECT_EQ(text_of(a.merge(b, {}, {.left_on = "k", .right_on = "key", .suffixes = {"", "_b"}})),
            "k,x,key,x_b 1,3,1,6 2,4,2,5");
  EXPECT_THROW(a.merge(b, {}, {.left_on = "k", .right_on = "key", .suffixes = {"", ""}}),
               InvalidArgumentError);
}

TEST(Frame, RefusesMergesThatContradictThemselves) {
  const Frame a({{"k", ints({1, 1})}}), b({{"key", ints({1, 1})}});
  EXPECT_THROW(a.merge(b), InvalidArgumentError);  // nothing in common
  EXPECT_THROW(a.merge(a, "k", {.left_on = "k", .right_on = "k"}), InvalidArgumentError);
  EXPECT_THROW(a.merge(b, {}, {.left_on = "k"}), InvalidArgumentError);
  EXPECT_THROW(a.merge(a, "k", {.how = "cross"}), InvalidArgumentError);
  EXPECT_THROW(a.merge(a, "k", {.how = "full"}), InvalidArgumentError);
  EXPECT_THROW(a.merge(a, "k", {.validate = "one"}), InvalidArgumentError);
  EXPECT_THROW(a.merge(a, "k", {.validate = "1:1"}).table(), InvalidArgumentError);
  EXPECT_THROW(a.merge(Frame(), "k"), InvalidArgumentError);
  EXPECT_THROW(a.merge(trips(), {}, {.left_on = "k", .right_on = "city"}), TypeMismatchError);
}

TEST(Frame, GivesItsValues) {
  // docs: values
  const std::vector<double> seconds = {0.5, 1.5, 4.0};
  const std::vector<int64_t> rider = {2, 1, 2};
  const hr::Frame frame({{"seconds", hr::Series(seconds)}, {"rider", hr::Series(rider)}});
  const hr::Table table = frame.filter(frame["rider"] == 2).table();    // runs the plan
  const double last = table.column("seconds").values<double>().back();  // 4.0
  // docs: end
  EXPECT_EQ(last, 4.0);
}

TEST(Frame, RunsWithinTheLimitsThatAreSet) {
  const int64_t limit = memory_limit();
  const int workers = threads();
  // docs: limits
  hr::set_memory_limit(hr::parse_bytes("2GB"));
  hr::set_threads(2);
  // docs: end
  EXPECT_EQ(memory_limit(), 2'000'000'000);
  EXPECT_EQ(trips()["minutes"].sum().item<int64_t>(), 271);
  set_memory_limit(limit);
  set_threads(workers);
}

TEST(Frame, ExplainsItsPlan) {
  const Frame frame = scan_csv(written("plan.csv", "a,b\n1,2\n3,4\n"));
  EXPECT_THAT(frame.filter(frame["a"] > 1).explain(), HasSubstr("where"));
}

TEST(Frame, PrintsABox) {
  const Frame frame = read_csv(written("box.csv", "s,x,n,b\nä,0.1234567,1,true\n,2,,false\n"));
  EXPECT_EQ(frame.to_string(),
            "shape: (2, 4)\n"
            "┌────────┬──────────┬───────┬───────┐\n"
            "│ s      ┆ x        ┆ n     ┆ b     │\n"
            "│ string ┆ float64  ┆ int64 ┆ bool  │\n"
            "╞════════╪══════════╪═══════╪═══════╡\n"
            "│ ä      ┆ 0.123457 ┆     1 ┆ True  │\n"
            "│ null   ┆ 2.000000 ┆  null ┆ False │\n"
            "└────────┴──────────┴───────┴───────┘");
  EXPECT_EQ(Frame().to_string(), "shape: (0, 0)");
  const std::string wide =
      read_csv(written("wide.csv", "s\n" + std::string(40, 'x') + "\n")).to_string();
  EXPECT_THAT(wide, HasSubstr("│ " + std::string(29, 'x') + "… │"));
  EXPECT_THAT(Frame({{"x", floats({kNan, 1e20, -1e-9})}}).to_string(),
              HasSubstr("│ -1.000000e-09 │"));
  EXPECT_THAT(
      Frame({{"t", retype(ints({0, 1500}), Dtype::timestamp(TimeUnit::kMilli, "Nowhere/At_all"))}})
          .to_string(),
      HasSubstr(" 1970-01-01 00:00:01.500000Z │"));
  EXPECT_THAT(read_csv(written("escape.csv", "s\n\"a\tb\x1b\"\n")).to_string(),
              HasSubstr("a\\tb\\x1b"));
}

TEST(Series, ReducesWhatIsThere) {
  const Series x = floats({1, 2, kNan, 4, 0}, {true, true, true, true, false});
  EXPECT_EQ(x.sum().item<double>(), 7);
  EXPECT_EQ(x.prod().item<double>(), 8);
  EXPECT_DOUBLE_EQ(x.mean().item<double>(), 7.0 / 3);
  EXPECT_DOUBLE_EQ(x.var().item<double>(), 7.0 / 3);
  EXPECT_DOUBLE_EQ(x.std(0).item<double>(), std::sqrt(14.0 / 9));
  EXPECT_EQ(x.min().item<double>(), 1);
  EXPECT_EQ(x.max().item<double>(), 4);
  EXPECT_EQ(x.count().item<int64_t>(), 3);
  EXPECT_EQ(x.median().item<double>(), 2);
  EXPECT_EQ(x.quantile(0.25).item<double>(), 1.5);
  EXPECT_EQ(x.nunique().item<int64_t>(), 3);
  EXPECT_TRUE((x > 3).any().item<bool>());
  EXPECT_FALSE((x > 3).all().item<bool>());
  EXPECT_EQ(ints({2, 2, 1}).nunique().item<int64_t>(), 2);
  EXPECT_TRUE(std::isnan(floats({kNan}).mean().item<double>()));
  EXPECT_TRUE(std::isnan(floats({kNan}).min().item<double>()));
  EXPECT_THROW(trips()["city"].mean(), TypeMismatchError);
}

TEST(Series, ComputesRowByRow) {
  const Frame frame = trips();
  const Series minutes = frame["minutes"];
  EXPECT_EQ(text_of((minutes - minutes.min()) / 2), "x 9.5 0.0 16.5 10.5 24.0 39.0");
  EXPECT_EQ(text_of(100 - minutes * 2), "x 38 76 10 34 -20 -80");
  EXPECT_EQ(text_of(-minutes + 1), "x -30 -11 -44 -32 -59 -89");
  EXPECT_EQ(text_of((!(minutes > 31)) | ((minutes >= 60) & (minutes <= 60))),
            "x True True False False True False");
  EXPECT_EQ(text_of(minutes == 31), "x True False False False False False");
  EXPECT_EQ(((minutes != 31) & (minutes < 40)).sum().item<int64_t>(), 2);
}

TEST(Series, ComparesStrings) {
  const Series city = trips().head(3)["city"];
  EXPECT_EQ(text_of(city == "Bern"), "x True False True");
  EXPECT_EQ(text_of(city != std::string("Bern")), "x False True False");
  EXPECT_EQ(text_of(city < "C"), "x True False True");
  EXPECT_EQ(text_of(city <= "Bern"), "x True False True");
  EXPECT_EQ(text_of(city > "Bern"), "x False True False");
  EXPECT_EQ(text_of(city >= "Bern"), "x True True True");
  EXPECT_EQ(text_of(city == city), "x True True True");
  EXPECT_THROW((void)(city == 3), TypeMismatchError);
  EXPECT_THROW((void)(trips()["rider"] == "Bern"), TypeMismatchError);
}

TEST(Series, KnowsWhatIsMissing) {
  const Series x = floats({1, 0, kNan}, {true, false, true});
  EXPECT_EQ(text_of(x.isna()), "x False True True");
  EXPECT_EQ(text_of(x.notna()), "x True False False");
  EXPECT_EQ(text_of(x.fillna(5)), "x 1.0 5.0 5.0");
  EXPECT_EQ(text_of(x.fillna(x.mean())), "x 1.0 1.0 1.0");
  EXPECT_EQ(text_of(ints({1, 2}).shift().fillna(7)), "x 7 1");
  EXPECT_EQ(text_of(ints({1, 2}).isna()), "x False False");
}

TEST(Series, HasFunctionsOfRows) {
  const Series x = ints({3, 1, 3});
  EXPECT_EQ(text_of(x.isin(ints({1, 2}))), "x False True False");
  EXPECT_EQ(text_of(x.shift(-1)), "x 1 3 NA");
  EXPECT_EQ(text_of(x.unique()), "x 3 1");
  EXPECT_EQ(x.astype(TypeId::kFloat32).dtype(), Dtype(TypeId::kFloat32));
  EXPECT_EQ(x.column().values<int64_t>()[2], 3);
  EXPECT_THROW(Series(3).column(), TypeMismatchError);
  EXPECT_THROW(Series(x.sum()).column(), TypeMismatchError);
  EXPECT_THAT((x + 1).explain(), HasSubstr("1 step"));
}

TEST(Series, IsAnArrayForSignals) {
  const Array array = asarray(floats({1, 2, 4}));
  EXPECT_EQ(array.tensor().num_elements(), 3);
  EXPECT_EQ((array * array).sum().item<double>(), 21);
  EXPECT_EQ(text_of(Series(array) - array.mean() * 3), "x -6.0 -5.0 -3.0");
  EXPECT_EQ(Series(array).column().num_rows(), 3);
  EXPECT_THROW(asarray(trips()["city"]), TypeMismatchError);
}

TEST(Series, RefusesOperandsWithOtherRows) {
  const Frame a({{"x", ints({1, 2})}}), b({{"x", ints({1, 2})}});
  EXPECT_THROW(a["x"] + b["x"], InvalidArgumentError);
  EXPECT_THROW(ints({1, 2}) + ints({1, 2, 3}), InvalidArgumentError);
  EXPECT_EQ(text_of(a["x"] + ints({1, 2})), "x 2 4");
}

}  // namespace
}  // namespace hr
