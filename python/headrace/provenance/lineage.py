# SPDX-License-Identifier: Apache-2.0
"""`hr.lineage` and `hr.replay`: what values were made of, and the same once more."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import uuid
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import (
    Error,
    InputError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.frame.columns import frame_of, is_frame
from headrace.lazy.handle import array_of, is_array, mark
from headrace.provenance.policy import tags_of
from headrace.provenance.sources import file_at, label_of
from headrace.series.column import is_series, series_of
from headrace.settings import info

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

_FORMAT = 1
#: Bytes of values in memory that a record holds.
_MOST_BYTES = 1 << 20
_SCHEMA = "https://openlineage.io/spec"
_PRODUCER = "https://github.com/headrace"


class Lineage(dict[str, Any]):
    """A record of `hr.lineage`: a dictionary of JSON."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self, file, indent=1)

    def to_openlineage(
        self, path: str | os.PathLike[str], *, job: str, output: str, namespace: str = "headrace"
    ) -> None:
        """Write an OpenLineage RunEvent with the lineage of columns, one JSON object.

        Parameters
        ----------
        path : str or path-like
        job : str
            What the run is called.
        output : str
            The name of what was made, such as the path of a file.
        namespace : str, default "headrace"
            Of the job.
        """
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_run_event(self, job, output, namespace), file, indent=1)


def _parts(x: Any) -> tuple[str, list[Any], list[Any], list[_core.Node]]:
    """What something is, the names of its columns and labels, and their nodes."""
    if is_frame(x):
        x = x._numbered()  # rows that were picked have their numbers as labels
        return "frame", list(x._nodes), list(x._labels), x._every()
    if is_series(x):
        return "series", [x.name], [], [x._node]
    if is_array(x):
        return "array", ["values"], [], [x._node]
    raise TypeMismatchError(
        f"lineage: expected a frame, series or array of Headrace: type={type(x).__name__}"
    )


def lineage(x: DataFrame | Series | Array, *, hashes: bool = False) -> Lineage:
    """Tell what values are made of: a record that JSON can hold, for `hr.replay`.

    Parameters
    ----------
    x : DataFrame, Series or Array
    hashes : bool, default False
        Hash the contents of the files (one read of each) and of the result (which evaluates it), so
        that `replay` compares them.

    Returns
    -------
    Lineage
        ``columns``: by name of a column the columns of sources that its values are made of (masks,
        and keys of sorts and joins do not count); ``tags``: by name, of `DataFrame.tag`;
        ``sources``: each with its call, arguments and files (path, bytes, time); ``seeds``: those
        of random numbers; ``plan``: the steps, or None and ``why`` there are none; ``fingerprint``:
        equal for equal plans; ``info``: of `hr.info`.

    Notes
    -----
    Columns and tags stay known when values were used. The plan does not: ask before that. Up to
    1 MiB of values in memory are part of the record, with what was evaluated on the way; larger
    ones leave it without a plan. What was read from bytes or file objects, with options that are
    not of JSON, or with credentials, which no record holds, cannot be replayed.

    >>> hr.DataFrame({"a": [1, 2], "b": [3, 4]}).to_parquet("rows.parquet")
    >>> frame = hr.scan_parquet("rows.parquet")
    >>> record = hr.lineage(frame.assign(c=frame["a"] * 2)[["b", "c"]])
    >>> record["columns"]["c"]
    [{'source': 0, 'column': 'a'}]
    >>> hr.replay(record).to_dict()
    {'b': [3, 4], 'c': [2, 4]}
    """
    mark("lineage")
    kind, names, labels, nodes = _parts(x)
    plan, why = None, None
    inputs: list[tuple[bool, str, str]] = []
    try:
        plan, inputs = _core.plan_of_sources(nodes, _MOST_BYTES)
    except UnsupportedError as error:
        why = str(error)
    places: dict[str, int] = {}  # of sources, by their words

    def columns_of(marks: list[tuple[bool, str, str]]) -> list[dict[str, Any]]:
        return [
            {"source": places.setdefault(words, len(places)), "column": column}
            for is_tag, words, column in marks
            if not is_tag
        ]

    own = list(zip(map(label_of, names), nodes, strict=False))
    columns: dict[str, list[dict[str, Any]]] = {}
    for name, node in own:  # labels such as 1 and "1" have one name here
        known = columns.setdefault(name, [])
        known += [each for each in columns_of(_core.marks_of(node)) if each not in known]
    read = columns_of(inputs)
    sources = [json.loads(words) for words in places]
    for source in [sources[each["source"]] for each in read]:
        if source["arguments"] is None:
            plan = None
            why = f"a source cannot be read again: call={source['call']!r}, why={source['why']!r}"
    if hashes:
        for file in [file for source in sources for file in source["files"]]:
            file["sha256"] = _file_hash(file["path"])
    record = Lineage(
        format=_FORMAT,
        kind=kind,
        names=[_plain_name(name) for name in names],
        labels=[_plain_name(name) for name in labels],
        columns=columns,
        tags=tags_of(own),
        label_tags=tags_of(zip(map(label_of, labels), nodes[len(names) :], strict=True)),
        sources=sources,
        inputs=read,
        seeds=[each["arguments"]["seed"] for each in sources if each["call"] == "random"],
        fingerprint=None if plan is None else hashlib.sha256(plan).hexdigest(),
        plan=None if plan is None else base64.b64encode(zlib.compress(plan)).decode(),
        why=why,
        line=nodes[0].line if nodes else "",
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        info=dict(info()),
    )
    if hashes:
        record["result"] = _hashes(kind, names, nodes)
    return record


def _plain_name(name: Any) -> Any:
    return list(name) if isinstance(name, tuple) else name


def _name(made: Any) -> Any:
    return tuple(made) if isinstance(made, list) else made


def _file_hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hashes(kind: str, names: list[Any], nodes: list[_core.Node]) -> dict[str, Any]:
    """A hash of the values of each column; evaluates them."""
    _core.force(nodes)
    made: dict[str, str] = {}
    for name, node in zip(map(label_of, names), nodes, strict=False):
        if kind == "array":
            values = array_of(node).to_numpy()
        elif node.dtype in ("float64", "float32") and not node.nullable:
            values = series_of(node).to_numpy()
        else:
            values = series_of(_core.data(_core.hash_rows([node.value()]))).to_numpy()
        told = hashlib.sha256(f"{made.get(name, '')}{node.dtype} {values.shape}".encode())
        told.update(np.ascontiguousarray(values).view(np.uint8).data)
        made[name] = told.hexdigest()
    return made


# ---- once more -----------------------------------------------------------------------------------
def _changes(source: dict[str, Any]) -> str:
    """What has become of the files of a source; empty if nothing."""
    for file in source["files"]:
        try:
            now = file_at(file["path"])
        except OSError:
            return f"a file is gone: path={file['path']!r}"
        if now["bytes"] != file["bytes"]:
            size = f"bytes={now['bytes']}, before={file['bytes']}"
            return f"a file has another size: path={now['path']!r}, {size}"
        if "sha256" in file:
            if _file_hash(now["path"]) != file["sha256"]:
                return f"a file has other contents: path={now['path']!r}"
        elif now["modified_ns"] != file["modified_ns"]:
            return f"a file was written since: path={now['path']!r}"
    return ""


def _read(source: dict[str, Any]) -> dict[str, _core.Node]:
    """The columns of a source, read or drawn again."""
    call, arguments = source["call"], dict(source["arguments"])
    if call in DRAWS:
        return {"values": getattr(_core, call)(*arguments["words"])}
    if call not in READERS:
        raise InvalidArgumentError(f"replay: no such reader: call={call!r}")
    frame = getattr(sys.modules["headrace"], call)(arguments.pop("source"), **arguments)
    return {label_of(name): node for name, node in frame._nodes.items()}


DRAWS = frozenset(name for name in dir(_core) if name.startswith("random_"))
#: What a record may call.
READERS = frozenset(
    f"{how}_{what}" for what in ("csv", "parquet", "json", "ipc") for how in ("read", "scan")
) | {"read_fwf", "read_excel"}


def replay(record: Any) -> DataFrame | Series | Array:
    """Make the values of a record of `hr.lineage` once more.

    The same bits, for any number of threads and any memory limit, or an error that names what has
    changed; tagged as before. Lazy, unless the record has hashes of the result: these are compared.
    Only for records that you trust: steps are taken as they are.

    Parameters
    ----------
    record : Lineage, dict, or path
        What `hr.lineage` gave, or the JSON file of `Lineage.save`.

    Raises
    ------
    InputError
        For a file of a source that is gone or not as it was (by size and time, or by hashes where
        the record has them).
    InvalidArgumentError
        For a record without a plan, of another version, damaged or changed, and for a result that
        differs from the hashes.
    """
    mark("replay")
    try:
        return _replayed(record)
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        zlib.error,
    ) as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgumentError(
            f"replay: the record is damaged: {type(error).__name__}: {error!s:.200}; make a new "
            "one with hr.lineage"
        ) from error


def _replayed(record: Any) -> DataFrame | Series | Array:
    if isinstance(record, str | os.PathLike):
        with open(record, encoding="utf-8") as file:
            record = json.load(file)
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise InvalidArgumentError("replay: no record of hr.lineage of this version: format=1")
    if record["kind"] not in ("frame", "series", "array"):
        raise ValueError(f"kind={record['kind']!r}")
    if record["plan"] is None:
        raise InvalidArgumentError(f"replay: the record has no plan: why={record['why']!r}")
    for source in record["sources"]:
        if changed := _changes(source):
            raise InputError(f"replay: {changed}; restore it, or make a new record")
    plan = zlib.decompress(base64.b64decode(record["plan"]))
    if hashlib.sha256(plan).hexdigest() != record["fingerprint"]:
        raise InvalidArgumentError(
            "replay: the plan is not that of its fingerprint: "
            f"fingerprint={record['fingerprint']!r}"
        )
    version = record["info"]["headrace"]
    try:
        read = {
            i: _read(record["sources"][i]) for i in {each["source"] for each in record["inputs"]}
        }
        given = [read[each["source"]][each["column"]] for each in record["inputs"]]
        nodes = _core.plan_over_sources(plan, given)
    except (LookupError, InvalidArgumentError) as error:
        raise InvalidArgumentError(
            f"replay: the plan does not fit: {error}; version={_core.version}, before={version}"
        ) from error
    names = [_name(name) for name in record["names"]]
    labels = [_name(name) for name in record["labels"]]
    for place, (of, name) in enumerate(
        [*(("tags", name) for name in names), *(("label_tags", name) for name in labels)]
    ):
        if tags := record.get(of, {}).get(label_of(name)):
            if not isinstance(tags, list) or not all(isinstance(each, str) for each in tags):
                raise ValueError(f"{of}={tags!r}")
            nodes[place] = _core.add_tags(nodes[place], label_of(name), tags)
    if "result" in record:
        now = _hashes(record["kind"], names, nodes)
        wrong = sorted(name for name, each in record["result"].items() if now.get(name) != each)
        if wrong:
            raise InvalidArgumentError(
                f"replay: the values differ: columns={wrong}, version={_core.version}, "
                f"before={version}, simd={info()['simd']}, before={record['info']['simd']}"
            )
    if record["kind"] == "array":
        return array_of(nodes[0])
    if record["kind"] == "series":
        return series_of(nodes[0], names[0])
    columns = dict(zip(names, nodes[: len(names)], strict=True))
    return frame_of(columns, dict(zip(labels, nodes[len(names) :], strict=True)))


# ---- OpenLineage ---------------------------------------------------------------------------------
def _run_event(record: Lineage, job: str, output: str, namespace: str) -> dict[str, Any]:
    def dataset(source: dict[str, Any]) -> dict[str, str]:
        files = source["files"]
        where = (source["arguments"] or {}).get("source", source["call"])
        return {"namespace": "file", "name": files[0]["path"] if len(files) == 1 else str(where)}

    datasets = [dataset(source) for source in record["sources"]]
    fields = {
        name: {
            "inputFields": [
                {**datasets[each["source"]], "field": str(each["column"])} for each in found
            ]
        }
        for name, found in record["columns"].items()
    }
    facet = {
        "_producer": _PRODUCER,
        "_schemaURL": f"{_SCHEMA}/facets/1-2-0/ColumnLineageDatasetFacet.json",
    }
    return {
        "eventType": "COMPLETE",
        "eventTime": record["made"],
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": namespace, "name": job},
        "inputs": datasets,
        "outputs": [
            {
                "namespace": "file",
                "name": output,
                "facets": {"columnLineage": {**facet, "fields": fields}},
            }
        ],
        "producer": _PRODUCER,
        "schemaURL": f"{_SCHEMA}/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
