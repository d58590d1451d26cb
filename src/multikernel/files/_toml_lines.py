"""On which line of a TOML text each key stands: tomllib parses, but does not tell."""

from __future__ import annotations

import re
import tomllib

KeyPath = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_COMMENT = re.compile(r"#[^\n]*")
_STRINGS = [
    re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\])*"'),
    re.compile(r"'[^']*'"),
]


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of every key of a valid TOML text, counted from one.

    Elements of arrays are keys too, by their position.

    Examples
    --------
    >>> key_lines('cv = 5\\n[sources.mrna]\\nfile = "mrna.csv"')[("sources", "mrna", "file")]
    3
    """
    return _Scanner(text).scan()


class _Scanner:
    """Walks over a text that tomllib has accepted, and so needs no checks of its own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.n_tables: dict[KeyPath, int] = {}  # of arrays of tables, so far

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(" \t\r\n")
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(" \t\r\n")
        return self.lines

    def _header(self) -> KeyPath:
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        line = self._line()
        self.at += brackets
        path = self._enter(self._key())
        self.at += brackets
        if brackets == 2:
            index = self.n_tables.get(path, 0)
            self.n_tables[path] = index + 1
            self._record(path, line)
            path = (*path, index)
        self._record(path, line)
        return path

    def _enter(self, key: KeyPath) -> KeyPath:
        """The path of a header, through the latest element of every array of tables above it."""
        path: KeyPath = ()
        for depth, part in enumerate(key):
            path = (*path, part)
            if path in self.n_tables and depth < len(key) - 1:
                path = (*path, self.n_tables[path] - 1)
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = (*table, *self._key())
        self._record(path, line)
        self._skip(" \t")
        self.at += 1  # the sign of equality
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip(" \t")
        mark = self.text[self.at]
        if mark in "\"'":
            self._string()
        elif mark == "[":
            self._elements(path)
        elif mark == "{":
            self._inline_table(path)
        else:
            self.at = _end(_BARE_VALUE, self.text, self.at)

    def _elements(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        self._skip(" \t\r\n,")
        while self.text[self.at] != "]":
            self._record((*path, index), self._line())
            self._value((*path, index))
            index += 1
            self._skip(" \t\r\n,")
        self.at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        self._skip(" \t\r\n,")
        while self.text[self.at] != "}":
            self._pair(path)
            self._skip(" \t\r\n,")
        self.at += 1

    def _key(self) -> KeyPath:
        parts: list[str] = []
        while True:
            self._skip(" \t")
            if self.text[self.at] in "\"'":
                parts.append(tomllib.loads(f"key = {self._string()}")["key"])
            else:
                end = _end(_BARE_KEY, self.text, self.at)
                parts.append(self.text[self.at : end])
                self.at = end
            self._skip(" \t")
            if self.text[self.at] != ".":
                return tuple(parts)
            self.at += 1

    def _string(self) -> str:
        start = self.at
        found = next(m for p in _STRINGS if (m := p.match(self.text, start)))
        self.at = found.end()
        return found.group()

    def _skip(self, characters: str) -> None:
        """Pass over these characters, and over comments where lines may end."""
        while self.at < len(self.text):
            if self.text[self.at] in characters:
                self.at += 1
            elif self.text[self.at] == "#" and "\n" in characters:
                self.at = _end(_COMMENT, self.text, self.at)
            else:
                return

    def _record(self, path: KeyPath, line: int) -> None:
        for depth in range(1, len(path) + 1):
            self.lines.setdefault(path[:depth], line)

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start
