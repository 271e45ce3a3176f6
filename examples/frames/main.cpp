// SPDX-License-Identifier: Apache-2.0
// Long trips by city and kind of rider: filter, join, group and sort as one lazy plan.
//   frames [TRIPS.csv RIDERS.csv]
#include <cstdio>
#include <exception>
#include <headrace/headrace.h>
#include <string>

namespace {

void run(const std::string& trips_csv, const std::string& riders_csv) {
  // docs: frames
  const hr::Frame trips = hr::scan_csv(trips_csv);  // opens the file; nothing is read yet
  const hr::Frame report = trips.filter(trips["minutes"] > 30)
                               .merge(hr::read_csv(riders_csv), "rider")
                               .group_by({"city", "member"})
                               .agg({{"trips", "minutes", "size"},
                                     {"mean", "minutes", "mean"},
                                     {"longest", "minutes", "max"}});
  const hr::Frame best = report.sort_values("mean", {.ascending = {false}}).head(3);
  std::puts(best.to_string().c_str());
  // docs: end
  std::printf("all trips: %.17g minutes\n", trips["minutes"].mean().item<double>());

  // docs: columns
  const hr::Frame hours = trips.assign("hours", trips["minutes"] / 60)
                              .select({"city", "hours"})
                              .filter(trips["city"] == "Graz");
  const hr::Column values = hours["hours"].column();  // runs the plan
  double total = 0;
  for (const double value : values.values<double>()) total += value;
  // docs: end
  std::printf("Graz: %lld trips, %.17g hours\n", static_cast<long long>(hours.num_rows()), total);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 3) {
    std::fprintf(stderr, "usage: %s [TRIPS.csv RIDERS.csv]\n", argv[0]);
    return 2;
  }
  try {
    if (argc == 3)
      run(argv[1], argv[2]);
    else
      run("testdata/frames/trips.csv", "testdata/frames/riders.csv");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
