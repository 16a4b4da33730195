"""Reading exports as anybody's tools read them."""

import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

from client import Client


class Export:
    """An export, read by Python's zipfile, which has nothing to do with what made it."""

    def __init__(self, data: bytes | Path):
        self.zip = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
        assert self.zip.testzip() is None
        self.names = self.zip.namelist()
        assert len({name.casefold() for name in self.names}) == len(self.names)
        assert self.names[-1] == "hesper.json"
        self.document = json.loads(self.zip.read("hesper.json"))
        assert (self.document["format"], self.document["formatVersion"]) == ("hesper-export", 1)

    def __getitem__(self, unique_id: str) -> bytes:
        """The file of a note or an attachment."""
        return self.zip.read(self.document["files"][unique_id])

    def text(self, unique_id: str) -> str:
        return self[unique_id].decode()

    def ids(self, section: str) -> set[str]:
        return {each["uniqueID"] for each in self.document[section]}


def export(client: Client) -> Export:
    response = client.get("/v1/export")
    assert response.status_code == 200, response.text
    return Export(response.content)


def unzips(path: Path) -> bool:
    """Whether Info-ZIP finds nothing wrong; true where it is not installed."""
    unzip = shutil.which("unzip")
    return unzip is None or subprocess.run([unzip, "-tqq", path], timeout=120, check=False).returncode == 0
