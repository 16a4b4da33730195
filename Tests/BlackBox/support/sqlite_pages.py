"""Finds the rows and index entries in a SQLite file (Database File Format, 1.5 and 1.6), so that tests can damage them."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE = 2, 5, 10, 13


@dataclass(frozen=True)
class PayloadRange:
    """A range of payload bytes: the part of one row or index entry that is on one page."""

    tree: str
    offset: int
    length: int


def payloads(file: Path) -> list[PayloadRange]:
    """The payload ranges of all tables and indexes, in key order. Free pages and unused space are not included."""
    with sqlite3.connect(file) as database:
        page_size = database.execute("PRAGMA page_size").fetchone()[0]
        roots = [("sqlite_schema", 1), *database.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")]
    database.close()
    data = file.read_bytes()
    return [piece for name, root in roots for piece in Tree(data, page_size, name).pieces(root)]


class Tree:
    """One b-tree of a file that has no reserved bytes."""

    def __init__(self, data: bytes, page_size: int, name: str):
        self.data, self.size, self.name = data, page_size, name

    def pieces(self, number: int) -> list[PayloadRange]:
        page = (number - 1) * self.size
        header = page + (100 if number == 1 else 0)
        kind = self.data[header]
        leaf = kind in (LEAF_INDEX, LEAF_TABLE)
        pointers = header + (8 if leaf else 12)
        found = []
        for index in range(self.integer(header + 3, 2)):
            cell = page + self.integer(pointers + 2 * index, 2)
            if not leaf:
                found += self.pieces(self.integer(cell, 4))
                cell += 4
            if kind != INTERIOR_TABLE:
                found += self.payload(cell, kind == LEAF_TABLE)
        return found if leaf else found + self.pieces(self.integer(header + 8, 4))

    def payload(self, cell: int, is_table: bool) -> list[PayloadRange]:
        length, start = self.varint(cell)
        if is_table:
            _, start = self.varint(start)
        local = self.local(length, is_table)
        found = [PayloadRange(self.name, start, local)]
        left, link = length - local, start + local
        while left > 0:
            overflow = (self.integer(link, 4) - 1) * self.size
            found.append(PayloadRange(self.name, overflow + 4, min(left, self.size - 4)))
            left, link = left - (self.size - 4), overflow
        return found

    def local(self, length: int, is_table: bool) -> int:
        """The number of payload bytes that are stored in the cell itself. The rest is on overflow pages."""
        largest = self.size - 35 if is_table else (self.size - 12) * 64 // 255 - 23
        if length <= largest:
            return length
        least = (self.size - 12) * 32 // 255 - 23
        share = least + (length - least) % (self.size - 4)
        return share if share <= largest else least

    def integer(self, offset: int, length: int) -> int:
        return int.from_bytes(self.data[offset : offset + length], "big")

    def varint(self, offset: int) -> tuple[int, int]:
        """A variable-length integer and the offset after it."""
        value = 0
        for position in range(offset, offset + 8):
            value = value << 7 | self.data[position] & 0x7F
            if self.data[position] < 0x80:
                return value, position + 1
        return value << 8 | self.data[offset + 8], offset + 9
