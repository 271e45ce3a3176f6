#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layout rules of the tree: rooms, names, sizes, restricted includes and calls."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A room includes rooms of lower rank and itself; rooms of one rank do not see each other, but a
# test may use a sibling.
RANKS = [
    ["base"],
    ["memory"],
    ["exec"],
    ["data"],
    ["algo", "exchange"],
    ["plan"],
    ["io", "functions", "signal", "tensor", "plot"],
    ["relational", "graph", "learn"],
    ["frame"],
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}

# A folder of a room includes folders that stand before it; tests and benchmarks see all.
# Beside its folders such a room holds nothing but a README and tests over several of them.
FOLDER_ORDER = {
    "memory": "sync log resource buffer budget spill device tiers external adaptors replay",
    "algo": "bits math select sort aggregate reduce scan keys random linalg sparse",
    "plan": "eval bind graph optimize execute",
    "functions": "strings lists structs temporal cast decimal",
    "relational": "rows order join aggregate",
    "graph": "structure search rank density community embedding",
}
# Folders of rooms that also have files of their own: a format whose parts are of no use elsewhere.
FORMAT_FOLDERS = {"io/decompress", "io/ipc", "io/json", "io/log", "io/npy", "io/parquet"} | {
    "io/parquet_device"
}
FOLDER_RANK = {room: order.split() for room, order in FOLDER_ORDER.items()}
MOST_STEMS = 40
MOST_MODULES = 20

FORBIDDEN_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|core)($|_)")
NAME_EXCEPTIONS = {
    "python/headrace/_core.pyi": "the binary module's stub; private by its underscore",
    "headrace/graph/density/core_number.h": "the field's term",
    "headrace/graph/density/core_number.cpp": "the field's term",
    "headrace/graph/density/core_number_cuda.cu": "the field's term",
    "headrace/graph/density/core_number_kernels.h": "the field's term",
    "headrace/plan/optimize/common_subplans.h": "the field's term",
    "headrace/plan/optimize/common_subplans.cpp": "the field's term",
}
MAX_LINES = 800
MOST_BYTES = 1_000_000
LONG_FILES = {  # path -> why it may be longer
    "python/headrace/_core.pyi": "generated",
    "python/tests/test_promises.py": "one small test a promise, in the order of the documents",
    **{
        f"python/headrace/{facade}.py": "a facade: signatures, docstrings, and one line a method"
        for facade in (
            *("tabular", "frame/dataframe", "series/series", "groupby/groupby"),
            "graph/graph",
        )
    },
}
README_LINES = 12
MOST_FUNCTION_LINES = 80

# Words of earlier versions, refused in file names and identifiers of the engine, with what to say
# instead. docs/glossary.md has the words in use.
RETIRED = """
    PackedKeys=NormalizedKeys pack_keys=normalized_keys packs=normalized_keys
    number_keys=factorize number_parts=factorize_partitioned NumberedKeys=FactorizedKeys
    KeyTable=KeyMap key_table=key_map KeyGuess=NdvEstimate key_guess=ndv_estimate
    guess_keys=estimate_ndv split_rows=partition_runs SplitRows=PartitionedRuns
    RowStream=PayloadStream RangeDigits=RangePartitioner range_digits=range_partitioner
    group_fold=accumulators fold_sums=grouped_sum FoldInput=AccumulatorInput
    first_picked=mask_prefix FirstPicked=MaskPrefix running_sums=exclusive_scan cumulate=cumulative
    index_of_true=nonzero validity_from_zero=realigned_validity BitWriter=BitmapWriter
    join_chunks=concat_chunks row_bits=bitmap_builder
    group_ways=aggregate_strategies group_runs=dense_aggregate group_parts=partitioned_aggregate
    group_collect=aggregate_finalize group_rank=order_statistics group_rows=fused_aggregate
    group_among=semi_join_aggregate few_wanted=semi_join_filter few_are_wanted=is_selective
    group_work=aggregate_cost join_work=join_cost
    FoldPlan=AggregatePlan GroupPart=AggregatePartition
    join_table=join_hash_table JoinTable=JoinHashTable KeySet=KeyFilter
    pick_keys=prefilter_build moved_together=compact Inlet=OutputSource
    text_rows=string_builder TextMaker=StringBuilder strings_change=string_transform
    texts_of_values=format_values numbers_of_texts=parse_numbers times_of_texts=parse_times
    texts_of_times=format_times integers_of_floats=float_to_int choose_text=string_where
    instants_of_local=localize finer_counts=rescale_unit select_node=filter
    decimal_folds=decimal_reduce PlaceFunction=RowNumberFunction
    TextArena=ByteBuffer text_arena=byte_buffer csv_reading=csv_reader CsvReading=CsvReader
    csv_piece=csv_partial CsvPiece=CsvPartial csv_chunks=csv_row_splitter
    csv_lines=csv_device_reader BufferStock=BufferPool
    device_room=device_evictor spill_room=memory_admission Touch=BufferAccess touches=accesses
    allocate_paged=allocate_spillable ZoneRules=TimezoneRules zone_rules=timezone_rules
    device_writes=device_write_tracking Packable=Serializable
    tangle=irfft_split untangle=rfft_join symmetric_eigen=eigh fft_alone=fft_single
    InputGuesses=InputEstimates rows_for_which=evaluate_predicates
    groups_for_which=prune_row_groups run_where_data_is=dispatch_to_place
    needless_order=redundant_sort known_keys=unique_keys
    bind_outside=bind_row_groups bind_lists=bind_from_list bind_adopt=bind_from_array
"""
INSTEAD = dict(word.split("=") for word in RETIRED.split())
RETIRED_WORD = re.compile(r"\b(" + "|".join(INSTEAD) + r")(_node|_nodes)?\b")
GLOSSARY = ROOT / "docs/glossary.md"

# What only some C++ files may say, outside comments and strings: pattern, where it is allowed,
# what is wrong elsewhere.
ONLY_IN = [
    (
        r"#include\s*<(cuda|cub/|cufft|cublas|nvrtc|thrust)",
        r"_cuda\.(cu|cpp)$|^headrace/data/device_launch\.h$|^bench/",
        "CUDA header outside *_cuda files and what they share",
    ),
    (
        r"#include\s*[<\"](Python\.h|nanobind)",
        r"^python/bind/",
        "Python header outside python/bind",
    ),
    (
        r"\bstd::(thread|jthread|async)\b(?!::)",
        r"^headrace/exec/|_test\.cpp$",
        "thread made outside exec",
    ),
    (
        r"(?<![\w.:>])(?:std::|::)?"
        r"(malloc|calloc|realloc|aligned_alloc|posix_memalign|mmap)\s*\(|\bnew\s+[\w:]+\s*\[",
        r"^headrace/memory/|_test\.cpp$",
        "allocation outside memory",
    ),
    (
        r"#include\s*<iostream>|(?<![\w.:>])(?:std::)?(printf|puts|exit|abort|_exit)\s*\(",
        r"^python/|^examples/|^tools/|^bench/|_(test|bench|fuzz)\.cpp$",
        "printing or exit in the engine",
    ),
]
ANYWHERE = [
    (r"HR_API (NodePtr|std::vector<NodePtr>) \w+_nodes?\(", r"^$", "a public name ends in _node"),
    (r"\bTO" + r"DO\b|\bFIX" + r"ME\b", r"^$", "unfinished work: finish it or file it"),
    (r"\bself: A" + r"ny\b", r"^python/tests/", "a method without the type of its class"),
    (r"/(work|home|root|Users)/\w", r"_(test|fuzz)\.cpp$|^python/tests/", "machine path"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?P<path>[^"]+)"', re.MULTILINE)
NOT_CODE = re.compile(
    r"""(?P<include>^\s*#\s*include[^\n]*)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|//[^\n]*|/\*.*?\*/""",
    re.DOTALL | re.MULTILINE,
)
CPP = {".h", ".cpp", ".cu"}
FOLDERS = ["headrace", "python", "bench", "examples", "tools"]
# What a user includes; it and what it includes are installed.
PUBLIC = "headrace/headrace.h"
INTERNAL = re.compile(r"_(kernels|cpu|cuda|test|bench|fuzz|testing)\.h$")
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s*<(?P<path>[^>]+)>", re.MULTILINE)
JUDGES = re.compile(r"_(test|bench|fuzz|testing)\.(cpp|h)$")
ROLE = re.compile(r"((_(kernels|math|cpu|cuda|test|bench|fuzz|testing))*\.(h|cpp|cu|h\.in))$")


def room_of(path: str) -> str | None:
    """Return the room of an engine file."""
    parts = path.split("/")
    return parts[1] if parts[0] == "headrace" and len(parts) > 2 else None


def folder_of(path: str) -> str:
    """Name the folder of a room that a file lies in, or nothing."""
    parts = path.split("/")
    return parts[2] if len(parts) > 3 else ""


def check_folder(path: str) -> list[str]:
    """Check that a file of a room lies in a folder that the room has."""
    room, folder = room_of(path), folder_of(path)
    order = FOLDER_RANK.get(room or "", [])
    if room is None or (not order and not folder) or folder in order:
        return []
    if folder:
        known = f"{room}/{folder}" in FORMAT_FOLDERS
        return [] if known else [f"unknown folder {room}/{folder}"]
    return [] if JUDGES.search(path) else [f"not in a folder of {room}"]


def check_arrow(path: str, target: str) -> list[str]:
    """Check that an include inside a room does not run up to a later folder."""
    room, here, there = room_of(path), folder_of(path), folder_of(target)
    order = FOLDER_RANK.get(room or "", [])
    if here not in order or there not in order or JUDGES.search(path):
        return []
    if order.index(there) <= order.index(here):
        return []
    return [f"folder {room}/{here} may not include folder {room}/{there} ({target})"]


def check_includes(path: str, text: str) -> list[str]:
    """Check that a file includes only existing headers of rooms before its own."""
    problems, room = [], room_of(path)
    for match in INCLUDE.finditer(text):
        target = match["path"]
        if not (ROOT / target).exists():
            problems.append(f'includes "{target}", which is not there (write it from the root)')
        other = room_of(target)
        if room and (target.startswith("python/") or target == PUBLIC):
            problems.append(f"the engine includes {target}")
        allowed = RANK.get(room or "", 99) + (1 if JUDGES.search(path) else 0)
        if room and other and other != room and RANK.get(other, 99) >= allowed:
            problems.append(f"room {room} may not include room {other} ({target})")
        if room and other == room:
            problems += check_arrow(path, target)
    return problems


def without_comments(text: str) -> str:
    """Blank out comments, strings and include lines of C++; the lines stay."""
    return NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of each function of a C++ file, lambdas not counted."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank_lines, without_comments(text), flags=re.M)
    open_braces: list[tuple[str, int]] = []  # name of a function, or what it is instead
    begin = 0  # behind the last brace or semicolon
    for match in re.finditer(r"[{};]", code):
        at, head = match.start(), code[begin : match.start()]
        begin = at + 1
        if match[0] == "{":
            what = "" if any(name for name, _ in open_braces) else function_name(head)
            first = code.count("\n", 0, at - len(head.lstrip())) + 1
            open_braces.append((what, first))
        elif match[0] == "}" and open_braces:
            what, first = open_braces.pop()
            if what:
                yield what, first, code.count("\n", 0, at) + 2 - first


def blank_lines(match: re.Match[str]) -> str:
    """As many line ends as a match has."""
    return "\n" * match[0].count("\n")


def function_name(head: str) -> str:
    """Name the function whose body follows `head`; nothing for other braces."""
    is_type = re.search(r"\b(class|struct|union|enum)\b[^()]*$", head)
    if is_type or re.search(r"\bnamespace\b|\bextern\s*$|=\s*$", head):
        return ""
    found = re.search(r"([\w:~]+)\s*\(", re.sub(r"__\w+__(\((?:[^()]|\([^()]*\))*\))?", "", head))
    return found[1] if found else ""


def check_functions(path: str, text: str) -> list[str]:
    """Check that functions of the engine are short."""
    if not path.startswith("headrace/") or JUDGES.search(path):
        return []
    return [
        f"line {line}: {name} has {lines} lines, more than {MOST_FUNCTION_LINES}"
        for name, line, lines in functions(text)
        if lines > MOST_FUNCTION_LINES
    ]


def check_words(path: str, code: str) -> list[str]:
    """Check that no retired word names a file or stands in the code of the engine."""
    if not path.startswith(("headrace/", "python/bind/")):
        return []
    stem = ROLE.sub("", path.rsplit("/", 1)[-1])
    names = [
        (stem, "the file's name"),
        *(
            (m[0], f"line {code.count(chr(10), 0, m.start()) + 1}")
            for m in RETIRED_WORD.finditer(code)
        ),
    ]
    return [
        f"{where}: {name} is a retired word: {INSTEAD[found[1]]}"
        for name, where in names
        if (found := RETIRED_WORD.fullmatch(name))
    ]


def check_file(path: str, text: str) -> list[str]:
    """Check one source file and list its problems."""
    problems, lines = [], text.splitlines()
    suffix = Path(path).suffix
    first = (
        lines[1] if lines and lines[0].startswith("#!") and len(lines) > 1 else "".join(lines[:1])
    )
    if path not in LONG_FILES and "SPDX-License-Identifier: Apache-2.0" not in first:
        problems.append("the first line is not the SPDX line")
    if len(lines) > MAX_LINES and path not in LONG_FILES:
        problems.append(
            f"{len(lines)} lines, more than {MAX_LINES} and not on the list with a reason"
        )
    parts = [Path(part).stem for part in path.split("/")]
    if path not in NAME_EXCEPTIONS and any(FORBIDDEN_NAMES.search(part) for part in parts):
        problems.append("a name that says nothing (utils, helpers, common, misc, manager, core)")
    if suffix in CPP:
        problems += check_includes(path, text)
        if room_of(path) and room_of(path) not in RANK:
            problems.append(f"unknown room {room_of(path)}")
        problems += check_folder(path) + check_functions(path, text)
        problems += check_words(path, without_comments(text))
    code = NOT_CODE.sub(lambda match: match["include"] or "\n" * match[0].count("\n"), text)
    rules = [(rule, code) for rule in ONLY_IN if suffix in CPP] + [
        (rule, text) for rule in ANYWHERE
    ]
    for (pattern, allowed, message), subject in rules:
        if not re.search(allowed, path) and (match := re.search(pattern, subject)):
            line = subject.count("\n", 0, match.start()) + 1
            problems.append(f"{message}: line {line}: {match[0].strip()}")
    return problems


def check_rooms() -> list[str]:
    """Check that each room has a short README."""
    problems = []
    for room in sorted(path for path in (ROOT / "headrace").iterdir() if path.is_dir()):
        readme = room / "README.md"
        if not readme.exists():
            problems.append(f"headrace/{room.name}: no README.md")
        elif len(readme.read_text().splitlines()) > README_LINES:
            problems.append(f"headrace/{room.name}/README.md: more than {README_LINES} lines")
        for folder in [room, *(path for path in room.iterdir() if path.is_dir())]:
            stems = {ROLE.sub("", path.name) for path in folder.iterdir() if ROLE.search(path.name)}
            if len(stems) > MOST_STEMS:
                where = folder.relative_to(ROOT).as_posix()
                problems.append(
                    f"{where}: {len(stems)} stems, more than {MOST_STEMS}: give it folders"
                )
    return problems


def python_imports(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports at run time, inside functions too."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            named = {f"{node.module}.{each.name}" for each in node.names}
            found |= named & set(modules) or {node.module}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        nodes += ast.iter_child_nodes(node)
    return found & set(modules)


def check_circles() -> list[str]:
    """Check that Python modules do not import each other in a circle."""
    package = ROOT / "python/headrace"
    modules = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): path
        for path in package.rglob("*.py")
        if path != package / "__init__.py"
    }
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    left = {name: python_imports(path, modules) - {name} for name, path in modules.items()}
    while free := [name for name, needed in left.items() if not needed & set(left)]:
        for name in free:
            del left[name]
    while free := [n for n in left if not any(n in needed for m, needed in left.items() if m != n)]:
        for name in free:
            del left[name]
    return [f"a circle of imports: {' '.join(sorted(left))}"] if left else []


def check_packages() -> list[str]:
    """Check that no folder of the Python package has too many modules, and no import a circle."""
    package = ROOT / "python/headrace"
    problems = check_circles()
    for folder in [package, *(path for path in package.iterdir() if path.is_dir())]:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(modules) > MOST_MODULES:
            where = folder.relative_to(ROOT).as_posix()
            problems.append(f"{where}: {len(modules)} modules, more than {MOST_MODULES}")
    return problems


def check_public() -> list[str]:
    """Check that the installed headers are no internal ones and need the standard library alone."""
    wanted, public = [PUBLIC], set()
    while wanted:
        path = wanted.pop()
        if path not in public and (ROOT / path).exists():
            public.add(path)
            wanted += INCLUDE.findall((ROOT / path).read_text())
    problems = [f"{path}: an internal header is public" for path in public if INTERNAL.search(path)]
    for path in public:
        for target in SYSTEM_INCLUDE.findall((ROOT / path).read_text()):
            if "/" in target or target.endswith(".h"):
                problems.append(f"{path}: a public header includes <{target}>")
    return sorted(problems)


def check_glossary() -> list[str]:
    """Check that the files which the glossary names are there, and that its terms are in order."""
    text = GLOSSARY.read_text()
    terms = re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE)
    problems = [
        f"docs/glossary.md: no such file: {path}"
        for path in re.findall(r"\]\(\.\./([^)#]+)\)", text)
        if not (ROOT / path).exists()
    ]
    for before, term in pairwise(terms):
        if term.casefold() < before.casefold():
            problems.append(f"docs/glossary.md: {term} stands behind {before}")
    return problems


def check_sizes() -> list[str]:
    """Check that no file of the repository is a data file that slipped in."""
    words = ("git", "ls-files", "-z")
    listed = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [
        f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes, more than {MOST_BYTES}"
        for path in paths
        if path.is_file() and path.stat().st_size > MOST_BYTES
    ]


def main() -> int:
    """Check the whole tree; print one line per problem."""
    problems = check_rooms() + check_packages() + check_public() + check_glossary()
    problems += check_sizes()
    files = [
        path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()
    ]
    for file in [*files, ROOT / "dev", ROOT / "CMakeLists.txt"]:
        path = file.relative_to(ROOT).as_posix()
        if file.suffix in {*CPP, ".py", ".pyi"} or path in ("dev", "CMakeLists.txt"):
            problems += [f"{path}: {problem}" for problem in check_file(path, file.read_text())]
    print("\n".join(problems) or f"layout: {len(files)} files, no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
