# %% Earthquakes: times with zones, depths, distances
import io
import numpy as np
import pandas as pd

q = pd.read_csv(io.StringIO("""time,latitude,longitude,depth,mag,magType,place,type
2024-01-01T07:10:09.476Z,37.498,137.242,10.0,7.5,mww,"42 km NE of Anamizu, Japan",earthquake
2024-01-01T07:18:41.813Z,37.184,136.643,10.0,6.2,mww,"4 km SW of Anamizu, Japan",earthquake
2024-01-02T01:17:05.000Z,37.28,136.80,10,4.6,mb,"Noto, Japan",earthquake
2024-01-03T12:00:30.100Z,35.65,-117.52,7.2,3.1,ml,"10km N of Ridgecrest, CA",earthquake
2024-01-04T22:15:59.000Z,35.66,-117.50,6.9,2.2,ml,"9km N of Ridgecrest, CA",quarry blast
2024-01-06T05:05:05.000Z,-17.9,-178.5,560.3,5.1,mb,"Fiji region",earthquake
"""))
q["time"] = pd.to_datetime(q["time"])
q["time"].dt.tz is not None

# %%
q["time"] = q["time"].dt.tz_convert(None)
q["date"] = q["time"].dt.date
q.groupby("date").size()

# %%
q["region"] = q["place"].str.extract(r",\s*(.+)$")[0].fillna(q["place"])
q["region"].value_counts()

# %%
q["km"] = q["place"].str.extract(r"^(\d+)\s?km").astype(float)
q["km"].tolist()

# %%
quakes = q[q["type"].eq("earthquake")].copy()
quakes["class"] = pd.cut(quakes["mag"], [0, 3, 5, 6, 10], labels=["minor", "light", "moderate", "strong"])
quakes["class"].value_counts(sort=False)

# %%
def haversine(lat1, lon1, lat2, lon2):
    p = np.pi / 180
    a = 0.5 - np.cos((lat2 - lat1) * p) / 2 + np.cos(lat1 * p) * np.cos(lat2 * p) * (1 - np.cos((lon2 - lon1) * p)) / 2
    return 12742 * np.arcsin(np.sqrt(a))

quakes["to_tokyo"] = haversine(quakes["latitude"], quakes["longitude"], 35.68, 139.69).round(1)
quakes[["region", "to_tokyo"]]

# %%
quakes["energy"] = 10 ** (1.5 * quakes["mag"] + 4.8)
(quakes["energy"] / quakes["energy"].sum()).round(6).max()

# %%
quakes["since"] = quakes["time"] - quakes["time"].min()
quakes["since"].dt.total_seconds().round().astype(int).tolist()

# %%
quakes["gap_h"] = quakes["time"].diff().dt.total_seconds() / 3600
quakes["gap_h"].mean().round(3)

# %%
quakes.set_index("time").resample("D")["mag"].agg(["count", "max"])

# %%
grid = quakes.groupby([np.floor(quakes["latitude"] / 10) * 10, np.floor(quakes["longitude"] / 10) * 10])["mag"].max()
len(grid)

# %%
quakes.loc[quakes["depth"] > 70, "place"].tolist()

# %%
quakes.groupby("magType").agg(n=("mag", "size"), max_mag=("mag", "max"), depth=("depth", "median"))

# %%
quakes.sort_values("mag", ascending=False).drop_duplicates("region")[["region", "mag"]].set_index("region")["mag"].to_dict()

# %%
quakes["time"].dt.floor("h").nunique(), quakes["time"].dt.strftime("%Y%j").iloc[0]
