# SPDX-License-Identifier: Apache-2.0
"""Messages of Kafka, by any consumer object, as a stream of frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace.dtypes import dtype_word
from headrace.errors import InputError, InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.io.csv import read_csv
from headrace.io.json import read_json
from headrace.io.lines import Lines
from headrace.stream.stream import Stream

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

__all__ = ["from_kafka"]

_OP = "from_kafka"
#: The error by which librdkafka says that a partition has no more messages; it is no error.
_PARTITION_END = -191


class KafkaStream(Stream):
    """Frames of messages; see `from_kafka`."""

    def __init__(self, consumer: Any, format: Any, batch: int, timeout: float) -> None:
        self._consumer, self._format = consumer, format
        self._batch, self._timeout = batch, timeout
        self._closed = self._is_due = False
        #: The next offset of each partition of each topic.
        self._next: dict[str, dict[str, int]] = {}
        self.position: Any = None

    def close(self) -> None:
        """See `Stream.close`."""
        self._closed = True

    def seek(self, position: Any) -> None:
        """See `Stream.seek`: messages before these offsets are left out."""
        try:
            offsets = {
                str(topic): {str(int(part)): int(offset) for part, offset in each.items()}
                for topic, each in position["offsets"].items()
            }
            self._format.restore(position["schema"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"{_OP}: not a position: position={position!r}; pass what Stream.position gave"
            ) from error
        self._next, self.position = offsets, position

    def committed(self) -> None:
        """Commit the offsets of all messages that were given out."""
        if self._is_due:
            self._consumer.commit(asynchronous=False)
            self._is_due = False

    def __iter__(self) -> Iterator[DataFrame]:
        for frame in self._batches():
            yield frame
            self.committed()

    def _batches(self) -> Iterator[DataFrame]:
        while not self._closed:
            values = self._values(self._messages())
            if not values:
                continue
            text = b"\n".join(values) + b"\n"
            try:
                frame = self._format.frame(text, first=True)
            except InputError as error:
                error.add_note(f"{_OP}: lines are messages of a batch, up to {self._next}")
                raise
            self.position = {
                "offsets": {topic: dict(each) for topic, each in self._next.items()},
                "schema": self._format.saved(),
            }
            self._is_due = True
            if frame is not None and (frame._rows() or frame._rejects is not None):
                yield frame

    def _messages(self) -> list[Any]:
        if hasattr(self._consumer, "consume"):
            made: list[Any] = self._consumer.consume(self._batch, self._timeout)
            return made
        found: list[Any] = []
        until = time.monotonic() + self._timeout
        while len(found) < self._batch and (left := until - time.monotonic()) > 0:
            message = self._consumer.poll(left)
            if message is not None:
                found.append(message)
        return found

    def _values(self, messages: list[Any]) -> list[bytes]:
        """What the messages hold, those left out that were given out before."""
        values = []
        for message in messages:
            if (error := message.error()) is not None:
                if error.code() == _PARTITION_END:
                    continue
                raise InputError(f"{_OP}: the consumer failed: error={error}; see its log")
            known = self._next.setdefault(message.topic(), {})
            part, offset = str(message.partition()), message.offset()
            if offset < known.get(part, 0):
                continue
            known[part] = offset + 1
            value = message.value()
            if value is None:  # a tombstone
                continue
            if b"\n" in value.strip(b"\n"):
                raise InputError(
                    f"{_OP}: a message of several lines: topic={message.topic()!r}, "
                    f"partition={part}, offset={offset}; write one row per message"
                )
            values.append(bytes(value).strip(b"\n"))
        return values


def from_kafka(
    consumer: Any,
    *,
    format: Literal["json", "csv"] | Callable[[bytes], DataFrame] = "json",
    dtypes: Mapping[str, Any] | None = None,
    batch: int = 100_000,
    timeout: float = 1.0,
    position: Any = None,
    **options: Any,
) -> Stream:
    """A `Stream` of the messages of a Kafka consumer, one row per message.

    Offsets are committed when a batch has been processed: when the next one is asked for, and by
    `Flow.sink` after its checkpoint. A message that a state of a checkpoint has already counted is
    left out when it comes again, so each row counts once.

    Parameters
    ----------
    consumer : object
        A subscribed consumer with ``consume(n, timeout)`` or ``poll(timeout)``, and
        ``commit(asynchronous=False)``: `confluent_kafka.Consumer`, with ``enable.auto.commit``
        False.
    format : {"json", "csv"} or callable
        What a message holds: a JSON object, fields of CSV (pass ``names=``), or what a function
        makes a frame of: it gets the messages of a batch, a line each.
    dtypes : {name: dtype}, optional
        Of columns, as for the readers; others are those of the first batch.
    batch : int
        Messages per batch, at most.
    timeout : float
        Seconds to wait for a batch to be full.
    position : optional
        ``stream.position`` of an earlier stream.
    **options
        Of `read_json` or `read_csv`.

    >>> consumer = confluent_kafka.Consumer({...})  # doctest: +SKIP
    >>> consumer.subscribe(["clicks"])  # doctest: +SKIP
    >>> stream = hr.stream.from_kafka(consumer)  # doctest: +SKIP
    >>> flow = stream.window("5min", on="t", lateness="1min").groupby("user").agg(n=("t", "size"))
    ... # doctest: +SKIP
    >>> flow.sink("clicks.csv", checkpoint="clicks.state")  # doctest: +SKIP
    """
    if not (hasattr(consumer, "consume") or hasattr(consumer, "poll")) or not hasattr(
        consumer, "commit"
    ):
        raise TypeMismatchError(
            f"{_OP}: expected a consumer with consume or poll, and commit: "
            f"consumer={type(consumer).__name__!r}"
        )
    if batch < 1 or timeout <= 0:
        raise InvalidArgumentError(
            f"{_OP}: expected positive numbers: batch={batch!r}, timeout={timeout!r}"
        )
    words = {name: dtype_word(dtype) for name, dtype in (dtypes or {}).items()}

    def read(text: bytes, known: dict[str, str]) -> DataFrame:
        made: DataFrame
        if format == "json":
            made = read_json(text, lines=True, dtypes=known, **options)
        elif format == "csv":
            made = read_csv(text, header=False, dtypes=known, compression="none", **options)
        else:
            assert callable(format)
            made = format(text)
        return made

    if format == "csv" and "names" not in options:
        raise InvalidArgumentError(f"{_OP}: messages of CSV have no header; pass names=")
    if not callable(format) and format not in ("json", "csv"):
        raise UnsupportedError(
            f"{_OP}: invalid value: format={format!r}; expected 'json', 'csv' or a function"
        )
    made = KafkaStream(consumer, Lines(_OP, read, words), batch, timeout)
    if position is not None:
        made.seek(position)
    return made
