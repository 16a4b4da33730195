"""Reads export archives with standard tools."""

import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

from client import Client


class Export:
    """An export archive, read with Python's zipfile, which shares no code with the server."""

    def __init__(self, data: bytes | Path):
        self.zip = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
        assert self.zip.testzip() is None
        self.names = self.zip.namelist()
        assert len({name.casefold() for name in self.names}) == len(self.names)
        assert self.names[-1] == "hesper.json"
        self.document = json.loads(self.zip.read("hesper.json"))
        assert (self.document["format"], self.document["formatVersion"]) == ("hesper-export", 1)

    def __getitem__(self, unique_id: str) -> bytes:
        """The file of a note or an attachment, by its ID."""
        return self.zip.read(self.document["files"][unique_id])

    def text(self, unique_id: str) -> str:
        return self[unique_id].decode()

    def ids(self, section: str) -> set[str]:
        return {each["uniqueID"] for each in self.document[section]}


def export(client: Client) -> Export:
    response = client.get("/v1/export")
    assert response.status_code == 200, response.text
    return Export(response.content)


def passes_unzip(path: Path) -> bool:
    """Whether Info-ZIP's test of the archive succeeds. True if unzip is not installed."""
    unzip = shutil.which("unzip")
    return unzip is None or subprocess.run([unzip, "-tqq", path], timeout=120, check=False).returncode == 0
