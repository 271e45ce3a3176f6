# %% Sequences as text: counts of bases, GC content, codons
import pandas as pd
import numpy as np

seqs = pd.DataFrame({
    "id": ["s1", "s2", "s3", "s4"],
    "species": ["mouse", "human", "mouse", "fly"],
    "seq": ["ATGGCCTAA", "ATGAAATTTTAG", "atgccc", "NNATGGGG"],
})
seqs["seq"] = seqs["seq"].str.upper()
seqs

# %%
seqs["length"] = seqs["seq"].str.len()
for base in "ACGT":
    seqs[base] = seqs["seq"].str.count(base)
seqs[list("ACGT")]

# %%
seqs["gc"] = (seqs["G"] + seqs["C"]) / seqs[list("ACGT")].sum(axis=1)
seqs["gc"].round(3)

# %%
seqs["start"] = seqs["seq"].str.find("ATG")
seqs["has_stop"] = seqs["seq"].str.contains("TAA|TAG|TGA")
seqs[["start", "has_stop"]]

# %%
seqs["rev"] = seqs["seq"].str[::-1]
complement = str.maketrans("ACGT", "TGCA")
seqs["revcomp"] = seqs["rev"].str.translate(complement)
seqs["revcomp"].tolist()

# %%
codons = seqs.assign(codon=seqs["seq"].apply(lambda s: [s[i:i + 3] for i in range(0, len(s) - 2, 3)])).explode("codon")
codons["codon"].value_counts().head(2)

# %%
codons.groupby("species")["codon"].nunique()

# %%
pd.crosstab(codons["id"], codons["codon"]).sum(axis=1)

# %%
seqs["seq"].str.extract(r"(ATG(?:...)*?(?:TAA|TAG|TGA))")[0]

# %%
seqs["seq"].str.findall("G+").str.len()

# %%
kmers = pd.Series([s[i:i + 2] for s in seqs["seq"] for i in range(len(s) - 1)])
kmers.value_counts(normalize=True).round(3).nlargest(1)

# %%
seqs.groupby("species").agg(n=("id", "count"), mean_len=("length", "mean"), longest=("seq", lambda s: max(s, key=len)))

# %%
seqs["seq"].str.replace("N", "").str.len().sum()

# %%
fasta = (">" + seqs["id"] + "\n" + seqs["seq"]).str.cat(sep="\n")
fasta.count(">")

# %%
seqs["seq"].str.ljust(14, "-").tolist()

# %%
seqs["seq"].str.slice(0, 3).eq("ATG").mean()

# %%
seqs.sort_values(["gc", "id"], ascending=False)["id"].tolist(), seqs["seq"].str.startswith("ATG").sum()
