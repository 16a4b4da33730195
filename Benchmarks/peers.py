"""The programs that Hesper is compared with: SQLite's C API, PocketBase, nginx and Hummingbird."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import requests
from client import free_port, plain_session
from machine import ROOT, TOOLS, WORK

PASSWORD = "correct horse battery staple"


class Peer:
    """A server that runs inside a `with` block, with its own folder."""

    def __init__(self, name: str):
        self.folder = WORK / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.port = free_port()
        self.process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, command: list[str], path: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        with plain_session() as session:
            for _ in range(1000):
                try:
                    if session.get(self.url + path, timeout=2).status_code < 500:
                        return
                except requests.RequestException:
                    time.sleep(0.02)
        raise RuntimeError(f"{command[0]} did not start: {(self.folder / 'log').read_text()[-1000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class PocketBase(Peer):
    """PocketBase with a collection of the same fields, an index for polling, and rules that require a signed-in user."""

    def __init__(self):
        super().__init__("pocketbase")
        try:
            self.set_up(str(ROOT / ".build/venv/bin/pocketbase"))
        except Exception:
            self.close()
            raise

    def set_up(self, binary: str) -> None:
        folder = ["--dir", str(self.folder / "data")]  # PocketBase creates other folders beside this one
        superuser = [binary, "superuser", "upsert", "bench@example.org", PASSWORD, *folder]
        subprocess.run(superuser, check=True, capture_output=True, timeout=60)
        self.start([binary, "serve", "--http", f"127.0.0.1:{self.port}", *folder], "/api/health")
        self.session = plain_session()
        self.session.headers["Authorization"] = self.sign_in("_superusers", "bench@example.org")
        self.call("PATCH", "/api/settings", {"batch": {"enabled": True, "maxRequests": 500, "timeout": 60}})
        self.make_collection("notes")
        user = {"email": "user@example.org", "password": PASSWORD, "passwordConfirm": PASSWORD}
        self.call("POST", "/api/collections/users/records", user)
        self.bearer = self.sign_in("users", "user@example.org")

    def call(self, method: str, path: str, body: dict | None = None) -> dict:
        response = self.session.request(method, self.url + path, json=body, timeout=60)
        if response.status_code >= 300:
            raise RuntimeError(f"PocketBase: {method} {path}: {response.status_code} {response.text}")
        return response.json() if response.content else {}

    def sign_in(self, collection: str, identity: str) -> str:
        return self.call(
            "POST", f"/api/collections/{collection}/auth-with-password", {"identity": identity, "password": PASSWORD}
        )["token"]

    def make_collection(self, name: str) -> None:
        rule = "@request.auth.id != ''"
        self.call(
            "POST",
            "/api/collections",
            {
                "name": name,
                "type": "base",
                "listRule": rule,
                "viewRule": rule,
                "createRule": rule,
                "fields": [
                    {"name": "text", "type": "text", "max": 1_048_576},
                    {"name": "creationDate", "type": "date"},
                    {"name": "updated", "type": "autodate", "onCreate": True, "onUpdate": True},
                ],
                "indexes": [f"CREATE INDEX idx_{name}_updated ON {name} (updated)"],
            },
        )

    def count(self) -> int:
        return self.call("GET", "/api/collections/notes/records?perPage=1")["totalItems"]

    def empty(self) -> None:
        self.call("DELETE", "/api/collections/notes/truncate")

    def pages(self, count: int) -> list[str]:
        """The paths that list `count` records with 1,000 per page, the maximum."""
        return [
            f"/api/collections/notes/records?page={page}&perPage=1000&skipTotal=1"
            for page in range(1, (count + 999) // 1000 + 1)
        ]

    def newest(self) -> str:
        """The path of a poll that finds one record. Creates that record in a millisecond of its own."""
        time.sleep(0.01)
        self.call("POST", "/api/collections/notes/records", {"text": "the last"})
        last = self.call("GET", "/api/collections/notes/records?perPage=1&skipTotal=1&sort=-updated")["items"][0][
            "updated"
        ]
        found = (
            f"/api/collections/notes/records?perPage=30&skipTotal=1&filter=(updated%3E%3D'{last.replace(' ', '%20')}')"
        )
        assert len(self.call("GET", found)["items"]) == 1
        return found


class Nginx(Peer):
    """nginx that serves files."""

    def __init__(self, files: dict[str, bytes]):
        super().__init__("nginx")
        os.chmod(self.folder, 0o755)
        (self.folder / "files").mkdir()
        for name, content in files.items():
            (self.folder / "files" / name).write_bytes(content)
        (self.folder / "nginx.conf").write_text(f"""
            user root; worker_processes auto; daemon off; pid {self.folder}/pid; error_log {self.folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
                default_type application/json;
                client_body_temp_path {self.folder}/t1; proxy_temp_path {self.folder}/t2;
                fastcgi_temp_path {self.folder}/t3; uwsgi_temp_path {self.folder}/t4;
                scgi_temp_path {self.folder}/t5;
                server {{ listen 127.0.0.1:{self.port}; root {self.folder}/files; }}
            }}""")
        self.start(["/usr/sbin/nginx", "-c", str(self.folder / "nginx.conf")], "/")


class Hello(Peer):
    """Hummingbird that responds with "hello", and has an idle event stream (Benchmarks/hello)."""

    def __init__(self):
        super().__init__("hello")
        self.restart()

    def restart(self) -> None:
        self.stop()
        self.start([str(ROOT / ".build-bench/release/hello"), str(self.port)], "/")


def yardstick(database: Path, *arguments: str | int, environment: dict[str, str] | None = None) -> dict:
    """Runs yardstick.c."""
    done = subprocess.run(
        [str(TOOLS / "yardstick"), str(database), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **(environment or {})},
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def database_of(data: Path) -> Path:
    """The database in a data folder of Hesper."""
    found = [file for file in data.iterdir() if file.is_file() and file.open("rb").read(16) == b"SQLite format 3\0"]
    if len(found) != 1:
        raise RuntimeError(f"{data} contains {len(found)} databases")
    return found[0]


def copy_of(data: Path, name: str) -> Path:
    """Copies the database in a data folder that no process has open."""
    source, copy = database_of(data), WORK / f"{name}.db"
    for suffix in ("", "-wal", "-shm"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
        if Path(f"{source}{suffix}").exists():
            shutil.copy(f"{source}{suffix}", f"{copy}{suffix}")
    return copy
