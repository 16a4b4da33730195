"""Pushes texts of one note, with clocks that a test gives as small numbers."""

import clocks
from convergence import read_history
from writer import Writer, new_id

BEGIN = clocks.wall() - 3_600_000
A, B, C = (letter * 16 for letter in "abc")


def at(time: int, node: str = A) -> str:
    """The clock of a device: an hour ago plus `time` in seconds."""
    return clocks.clock(BEGIN + time * 1_000, 0, node)


class Desk:
    def __init__(self, writer: Writer, text: str, clock: str):
        """Creates a note with a text."""
        self.writer, self.note = writer, new_id()
        self.result: dict = {}  # the receipt of the latest push
        self.push(text, clock, creationDate=clocks.date(BEGIN))

    def push(
        self,
        text: str,
        clock: str,
        base: str | None = None,
        after: list[str] | None = (),
        value: str | None = None,
        **more,
    ) -> dict:
        """Pushes a text. `after` None omits `textAfter`. Returns the text's field of the receipt."""
        change = {"uniqueID": self.note, "text": text, "clocks": {"text": clock}, **more}
        change |= {"textAfter": list(after)} if after is not None else {}
        change |= {"textBase": base} if base else {}
        change |= {"textBaseValue": value} if value is not None else {}
        self.result = self.writer.push_one("notes", change)
        assert self.result["status"] != "rejected", self.result
        return self.result.get("fields", {}).get("text", {})

    def give_back(self, text: str, clock: str) -> dict:
        """Pushes a text to a restored server, as a device does with a text that it had synced before the restore."""
        return self.push(text, clock, base=clock)

    @property
    def state(self) -> dict:
        response = self.writer.client.get(f"/v1/notes/{self.note}")
        assert response.status_code == 200, response.text
        return response.json()

    @property
    def text(self) -> str:
        return self.state["text"]

    @property
    def history(self) -> list[str | None]:
        """All values of the text, newest first. None stands for values removed by thinning."""
        edits = read_history(self.writer.client, self.note)
        return [edit.get("value") for edit in edits if edit["attribute"] == "text"]
