# SPDX-License-Identifier: Apache-2.0
"""Long trips by city and kind of rider: python examples/frames/main.py [TRIPS.csv RIDERS.csv]."""

import sys

import headrace as hr

FILES = ("testdata/frames/trips.csv", "testdata/frames/riders.csv")
trips_csv, riders_csv = sys.argv[1:] or FILES

trips = hr.scan_csv(trips_csv)  # opens the file; nothing is read yet
long = trips[trips.minutes > 30].merge(hr.read_csv(riders_csv), on="rider")
report = long.groupby(["city", "member"]).agg(
    trips=("minutes", "size"), mean=("minutes", "mean"), longest=("minutes", "max")
)
best = report.sort_values("mean", ascending=False).head(3)
print(best.reset_index().to_string(index=False))
print(f"all trips: {trips.minutes.mean().item():.17g} minutes")

hours = trips.assign(hours=trips.minutes / 60)[["city", "hours"]][trips.city == "Graz"]
print(f"Graz: {len(hours)} trips, {sum(hours.hours.to_list()):.17g} hours")
