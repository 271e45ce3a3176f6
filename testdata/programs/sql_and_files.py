# %% To a database and back
import io
import os
import sqlite3
import numpy as np
import pandas as pd

conn = sqlite3.connect(":memory:")
people = pd.DataFrame({"id": [1, 2, 3], "name": ["ann", "bob", "cyd"], "born": pd.to_datetime(["1990-05-01", "1985-12-24", "2001-01-15"])})
people.to_sql("people", conn, index=False)
pets = pd.DataFrame({"owner": [1, 1, 3], "pet": ["cat", "dog", "cat"], "kg": [4.2, 12.0, 3.9]})
pets.to_sql("pets", conn, index=False, if_exists="replace")

# %%
df = pd.read_sql("SELECT name, pet, kg FROM people JOIN pets ON people.id = pets.owner ORDER BY name, pet", conn)
df

# %%
pd.read_sql_query("SELECT pet, AVG(kg) AS kg FROM pets GROUP BY pet", conn, index_col="pet")

# %%
born = pd.read_sql("SELECT * FROM people", conn, parse_dates=["born"])
born["born"].dt.year.tolist()

# %%
people.merge(pets, left_on="id", right_on="owner", how="left")[["name", "pet"]].equals(people.merge(pets, left_on="id", right_on="owner", how="left")[["name", "pet"]])

# %%
folder = "."
path = os.path.join(folder, "people.parquet")
people.to_parquet(path)
pd.read_parquet(path)

# %%
pd.read_parquet(path, columns=["name"])

# %%
people.to_feather(os.path.join(folder, "p.feather"))
pd.read_feather(os.path.join(folder, "p.feather")).shape

# %%
pets.to_json(os.path.join(folder, "pets.json"), orient="records", lines=True)
pd.read_json(os.path.join(folder, "pets.json"), orient="records", lines=True)

# %%
records = pets.to_records(index=False)
records["kg"].mean()

# %%
pd.DataFrame.from_records(records).dtypes.astype(str).tolist()[2]

# %%
rows = conn.execute("SELECT owner, COUNT(*) FROM pets GROUP BY owner").fetchall()
pd.DataFrame(rows, columns=["owner", "n"])

# %%
print(pets.to_markdown(index=False)) if False else print(pets.to_string(index=False))

# %%
buffer = io.StringIO()
pets.to_csv(buffer, index=False)
buffer.getvalue().splitlines()[0]

# %%
buffer.seek(0)
pd.read_csv(buffer)["kg"].sum()

# %%
pets.to_dict(orient="split")["columns"], pets.to_dict("list")["pet"]

# %%
with pd.option_context("display.max_rows", 2):
    text = repr(pets)
len(text) > 0
