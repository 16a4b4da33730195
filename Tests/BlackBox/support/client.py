"""Starts a `hesper` server and sends HTTP requests to it. Used by all Python tests and scripts."""

import contextlib
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("HESPER_BINARY", ROOT / ".build/release/hesper"))
LOGS = ROOT / ".build/black-box"
PASSWORD = "correct horse battery staple"
# Tests hash passwords thousands of times, with C code that is not optimized.
LOW_PASSWORD_COST = {"HESPER_PASSWORD_COST": "10"}


def port_range() -> list[int]:
    """The ports that this process tries in turn, from a random start because other test runs may use the same range.

    They are below the system's ephemeral ports (Linux: from 32768), so that no outgoing connection takes a port between
    its selection and its use. Each pytest worker has its own range.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = [*range(12_000 + worker % 10 * 2_000, 14_000 + worker % 10 * 2_000)]
    begin = random.randrange(len(ports))
    return ports[begin:] + ports[:begin]


PORTS = port_range()
next_ports = itertools.cycle(PORTS)


def free_ports(count: int) -> list[int]:
    """Distinct loopback ports on which nothing listens."""
    found: list[int] = []
    with contextlib.ExitStack() as probes:
        for port in itertools.islice(next_ports, len(PORTS)):
            if len(found) == count:
                return found
            with contextlib.suppress(OSError):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
                found.append(port)
    raise RuntimeError(f"fewer than {count} free ports from {min(PORTS)} to {max(PORTS)}")


def free_port() -> int:
    """A loopback port on which nothing listens."""
    return free_ports(1)[0]


class Server:
    """A `hesper serve` process on a free loopback port.

    `data`: the data folder. The default is a temporary folder that `close` removes.
    `database`: the URL of a PostgreSQL database (postgres.py). The default is SQLite in the data folder, or, if `store` is
    set, a new database there that `close` drops.
    `prefix`: words before the command (`["strace", …]`, `["faketime", …]`).
    `environment`: variables added to the inherited ones, from which all HESPER_ variables are removed.

    The log is written below .build/black-box/.
    """

    # The PostgreSQL server for servers without `database`, or None for SQLite (conftest.py, --store).
    store = None
    # The folder of the web app and the contract, or None for those of the repository.
    public: Path | None = None

    def __init__(
        self,
        data: Path | None = None,
        arguments: list[str] = (),
        environment: dict[str, str] | None = None,
        log_level: str = "info",
        prefix: list[str] = (),
        port: int | None = None,
        start: bool = True,
        database: str | None = None,
    ):
        self.own_data = data is None
        self.data = Path(data or tempfile.mkdtemp(prefix="hesper-"))
        self.arguments, self.prefix, self.log_level = list(arguments), list(prefix), log_level
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("HESPER_")}
        # Tests send requests without pause. ConnectionTests.swift and attacks/ test the rate limit.
        self.environment["HESPER_REQUESTS_PER_MINUTE"] = "none"
        if self.public:
            self.environment["HESPER_PUBLIC"] = str(self.public)
        self.environment |= LOW_PASSWORD_COST | (environment or {})
        self.own_database = self.store.database() if self.store and database is None else None
        self.database = database or self.own_database
        if self.database:
            self.environment["HESPER_DATABASE"] = self.database
        self.port = port
        self.process: subprocess.Popen | None = None
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log_path = LOGS / f"{time.strftime('%H%M%S')}-{uuid.uuid4().hex[:8]}.log"
        if start:
            self.start()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def log(self) -> str:
        """The whole log, of all starts."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def start(self) -> "Server":
        """Starts the process and waits until it is ready. Tries another port if the free port was taken meanwhile."""
        assert self.process is None, "the server is already running"
        if not BINARY.exists():
            raise RuntimeError(f"{BINARY} does not exist. Build it with: Tools/release.sh hesper")
        chosen = self.port is not None
        for _ in range(3):
            if not chosen:
                self.port = free_port()
            self.launch()
            if self.wait_until_ready():
                return self
            self.process = None
            if chosen:
                break
        raise RuntimeError(f"the server did not start; its log ends:\n{self.log[-2000:]}")

    def launch(self) -> None:
        """Starts the process without waiting until it is ready."""
        command = [*self.prefix, str(BINARY), "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--data", str(self.data), "--log-level", self.log_level, *self.arguments]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, cwd=ROOT
            )

    def wait_until_ready(self, seconds: float = 30) -> bool:
        """Whether /readyz returns 200 within the timeout. Returns False immediately if the process ends."""
        deadline = time.monotonic() + seconds
        with plain_session() as session:
            while time.monotonic() < deadline:
                if self.process.poll() is not None:
                    return False
                try:
                    if session.get(f"{self.url}/readyz", timeout=2).status_code == 200:
                        return True
                except requests.RequestException:
                    pass
                time.sleep(0.02)
        self.kill()
        return False

    def stop(self, seconds: float = 30) -> int:
        """Sends SIGTERM and waits. Returns the exit status. After the timeout, sends SIGKILL and raises RuntimeError."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise RuntimeError(f"the server did not stop within {seconds} s") from None

    def kill(self) -> None:
        """Ends the process with SIGKILL, as a crash would."""
        if self.process is not None:
            process, self.process = self.process, None
            process.kill()
            process.wait()

    def restart(self) -> "Server":
        """Stops the process and starts it again on the same port and data."""
        self.stop()
        return self.start()

    def close(self) -> None:
        """Stops the process. Removes the data folder and the database if this object created them."""
        try:
            self.stop()
        finally:
            if self.own_data:
                shutil.rmtree(self.data, ignore_errors=True)
            if self.own_database:
                self.store.drop(self.own_database)

    def command(self, *arguments: str, seconds: float = 120, **options) -> subprocess.CompletedProcess:
        """Runs another subcommand on the same data, such as `server.command("check")`, and captures its output as text."""
        return subprocess.run(
            [str(BINARY), *arguments, "--data", str(self.data)],
            capture_output=True,
            text=True,
            timeout=seconds,
            env=self.environment,
            cwd=ROOT,
            **options,
        )

    def client(self, **account) -> "Client":
        """A client of a new account, signed in."""
        client = Client(self.url)
        client.sign_up(**account)
        return client


def plain_session() -> requests.Session:
    """A session that ignores proxies and .netrc."""
    session = requests.Session()
    session.trust_env = False
    return session


class ErrorResponse(Exception):
    """An HTTP response with an error status: `status`, `problem` (RFC 9457 problem details, empty if none), `response`."""

    def __init__(self, response: requests.Response):
        self.response, self.status = response, response.status_code
        is_problem = response.headers.get("Content-Type", "").startswith("application/problem+json")
        self.problem = response.json() if is_problem else {}
        super().__init__(f"{response.request.method} {response.request.url}: {self.status} {response.text[:500]}")

    @property
    def slug(self) -> str | None:
        return self.problem.get("slug")


class Client:
    """Sends HTTP requests to one server as one device. The verb methods return every response, also errors."""

    def __init__(self, url: str, token: str | None = None):
        self.url, self.token = url, token
        self.session = plain_session()
        self.email: str | None = None
        self.password: str | None = None
        self.device: dict | None = None

    def request(self, method: str, path: str, **options) -> requests.Response:
        """Sends a request. `options` are those of requests: json, data, params, headers. A header set to None is omitted."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= options.pop("headers", None) or {}
        options.setdefault("timeout", 60)
        return self.session.request(method, self.url + path, headers=headers, **options)

    def get(self, path: str, **options) -> requests.Response:
        return self.request("GET", path, **options)

    def put(self, path: str, json=None, **options) -> requests.Response:
        return self.request("PUT", path, json=json, **options)

    def patch(self, path: str, json=None, **options) -> requests.Response:
        return self.request("PATCH", path, json=json, **options)

    def post(self, path: str, json=None, **options) -> requests.Response:
        return self.request("POST", path, json=json, **options)

    def delete(self, path: str, **options) -> requests.Response:
        return self.request("DELETE", path, **options)

    def sign_up(self, email: str | None = None, password: str = PASSWORD, device_name: str = "phone") -> dict:
        """Creates an account, by default with a new e-mail address, and authenticates as its first device from now on."""
        return self._authenticate("/v1/accounts", email or f"{uuid.uuid4().hex}@example.org", password, device_name)

    def sign_in(self, email: str, password: str = PASSWORD, device_name: str = "laptop") -> dict:
        """Signs in as a new device, and authenticates as that device from now on."""
        return self._authenticate("/v1/devices", email, password, device_name)

    def wait_for_index(self, seconds: float = 60) -> None:
        """Waits until search covers all notes. After a large push, the index is built in the background."""
        end = time.monotonic() + seconds
        while "unindexed" in (answer := self.get("/v1/search", params={"limit": 1}).json()):
            assert time.monotonic() < end, answer
            time.sleep(0.05)

    def another_device(self, device_name: str = "laptop") -> "Client":
        """A client of the same account, signed in as another device."""
        other = Client(self.url)
        other.sign_in(self.email, self.password, device_name)
        return other

    def _authenticate(self, path: str, email: str, password: str, device_name: str) -> dict:
        body = {"email": email, "password": password, "deviceName": device_name}
        for _ in range(5):
            response = self.request("POST", path, json=body, headers={"Authorization": None})
            if response.status_code != 429:
                break
            time.sleep(min(float(response.headers.get("Retry-After", "1")), 15))
        if response.status_code != 201:
            raise ErrorResponse(response)
        answer = response.json()
        self.email, self.password, self.token, self.device = email, password, answer["token"], answer["device"]
        return answer

    def sync(self, changes: dict | None = None, since: str | None = None, limit: int | None = None, **options) -> dict:
        """One sync request. Returns the response body. Raises ErrorResponse for any status other than 200."""
        body: dict = {}
        if since is not None:
            body["syncToken"] = since
        if changes is not None:
            body["changes"] = changes
        if limit is not None:
            body["limit"] = limit
        response = self.post("/v1/sync", body, **options)
        if response.status_code != 200:
            raise ErrorResponse(response)
        return response.json()

    def read_all(self, since: str | None = None, limit: int | None = None) -> tuple[dict, dict]:
        """All pages of sync after `since`. Returns all changes by section, and the last response body."""
        found: dict = {"notes": [], "tags": [], "attachments": [], "objects": [], "deletedObjects": []}
        for _ in range(100_000):
            answer = self.sync(since=since, limit=limit)
            for section, items in answer["changes"].items():
                found.setdefault(section, []).extend(items)
            since = answer["syncToken"]
            if not answer["hasMore"]:
                return found, answer
        raise RuntimeError("sync did not finish")
