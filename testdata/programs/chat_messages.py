# %% An exported chat: parse, count words, response times
import re
import pandas as pd

raw = """12/01/24, 09:15 - Anna: Good morning! 😊
12/01/24, 09:17 - Ben: morning, how are you?
12/01/24, 09:18 - Anna: Fine, see https://example.com/a
12/01/24, 12:40 - Carl: <Media omitted>
12/01/24, 12:45 - Ben: haha haha
13/01/24, 08:00 - Anna: Meeting at 10?
13/01/24, 08:30 - Carl: Yes
13/01/24, 23:59 - Ben: good night"""
df = pd.DataFrame({"raw": raw.split("\n")})
df.shape

# %%
parts = df["raw"].str.extract(r"^(?P<when>\d{2}/\d{2}/\d{2}, \d{2}:\d{2}) - (?P<who>\w+): (?P<text>.*)$")
parts["when"] = pd.to_datetime(parts["when"], format="%d/%m/%y, %H:%M")
parts

# %%
parts["who"].value_counts()

# %%
parts["media"] = parts["text"].eq("<Media omitted>")
parts["words"] = parts["text"].where(~parts["media"]).str.split().str.len().fillna(0).astype(int)
parts.groupby("who")["words"].agg(["sum", "mean"]).round(2)

# %%
parts["link"] = parts["text"].str.contains(r"https?://", regex=True)
parts["question"] = parts["text"].str.endswith("?")
parts[["link", "question"]].sum()

# %%
parts["hour"] = parts["when"].dt.hour
parts["day"] = parts["when"].dt.day_name()
parts.pivot_table(index="day", columns="hour", values="text", aggfunc="count", fill_value=0)

# %%
parts["reply"] = parts["when"].diff()
parts["changed"] = parts["who"] != parts["who"].shift()
parts.loc[parts["changed"], "reply"].dt.total_seconds().div(60).median()

# %%
words = parts.loc[~parts["media"], "text"].str.lower().str.findall(r"[a-z]+").explode()
words.value_counts().head(3)

# %%
words[words.str.len() > 4].unique()

# %%
parts["emoji"] = parts["text"].apply(lambda t: len(re.findall(r"[\U0001F300-\U0001FAFF]", t)))
parts["emoji"].sum()

# %%
daily = parts.groupby(parts["when"].dt.date)["text"].count()
daily

# %%
sessions = (parts["when"].diff() > pd.Timedelta("1h")).cumsum()
parts.groupby(sessions)["who"].agg(["first", "nunique", "size"])

# %%
parts["text"].str.replace(r"https?://\S+", "<link>", regex=True).str.slice(0, 20).tolist()

# %%
parts["len"] = parts["text"].str.len()
parts.loc[parts.groupby("who")["len"].idxmax(), ["who", "text"]].set_index("who")

# %%
parts["when"].dt.strftime("%Y-%m-%dT%H:%M").iloc[[0, -1]].tolist()
