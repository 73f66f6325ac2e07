"""Rows of data on standard output: a table for people, jsonl, csv and txt for programs.

Knows formats and widths. Refuses to know what the rows mean.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Self


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"
    TXT = "txt"  #: the first column alone


#: Rows whose widths decide a table's columns; later rows may be wider.
_MEASURED_ROWS = 200
_NARROWEST = 12


class Writer:
    """Writes rows one after the other; a reader that goes away (``| head``) is no error.

    Use it in a ``with`` statement; ``count`` is how many rows came.
    """

    def __init__(self, columns: Sequence[str], form: Format) -> None:
        self.count = 0
        self._columns = columns
        self._form = form
        self._held: list[Mapping[str, Any]] = []
        self._widths: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._measure()
            _print("", end="")

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row; a table's first rows are held until its columns are measured."""
        self.count += 1
        match self._form:
            case Format.JSONL:
                _print(json.dumps(row, ensure_ascii=False))
            case Format.TXT:
                _print(str(row[self._columns[0]]))
            case Format.CSV:
                if self.count == 1:
                    _print(_csv_line(self._columns))
                _print(_csv_line([row.get(column) for column in self._columns]))
            case Format.TABLE:
                self._write_table(row)

    def _write_table(self, row: Mapping[str, Any]) -> None:
        if self._widths:
            _print(_table_line([_text(row.get(column)) for column in self._columns], self._widths))
        else:
            self._held.append(row)
            if len(self._held) == _MEASURED_ROWS:
                self._measure()

    def _measure(self) -> None:
        """Fix the columns' widths by the rows held; on a terminal they are made to fit."""
        held, self._held = self._held, []
        if not held:
            return
        cells = [[_text(row.get(column)) for column in self._columns] for row in held]
        self._widths = [max(map(len, column)) for column in zip(self._columns, *cells, strict=True)]
        if sys.stdout.isatty():
            self._widths = _fitted(self._widths, shutil.get_terminal_size((100, 24)).columns)
        for line in (self._columns, *cells):
            _print(_table_line(line, self._widths))


def _fitted(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit the room: the widest of the later columns gives way first, then the first column."""
    first, *others = widths
    while first + sum(others) + 2 * len(others) > room and max(others, default=0) > _NARROWEST:
        others[others.index(max(others))] -= 1
    return [max(_NARROWEST, min(first, room - sum(others) - 2 * len(others))), *others]


def _print(line: str, end: str = "\n") -> None:
    try:
        sys.stdout.write(line + end)
        if not end:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _csv_line(values: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _table_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = [
        cell if len(cell) <= width else cell[: width - 1] + "…" for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(cell.ljust(width) for cell, width in zip(fitted, widths, strict=True)).rstrip()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
