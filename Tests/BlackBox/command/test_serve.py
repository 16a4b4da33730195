"""`hesper serve`: output, start and shutdown."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from client import PASSWORD, ROOT, Client, Server, plain_session
from runner import FAILED, Hesper, run, serving
from wire import Wire


def log(folder: Path) -> str:
    return (folder / "log").read_text()


def test_port_0_chooses_a_port_and_prints_it(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        assert not url.endswith(":0")
        assert plain_session().get(url + "/readyz").status_code == 200
    assert (tmp_path / "data/hesper.sqlite").exists()


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_signals_stop_the_server(tmp_path: Path, signal_number: int) -> None:
    with serving(tmp_path) as (_, process):
        process.send_signal(signal_number)
        assert process.wait(30) == 0
    assert "error" not in log(tmp_path)


def test_pending_requests_are_completed_before_shutdown(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, process):
        client = Client(url)
        client.sign_up()
        body = json.dumps({"email": client.email, "password": PASSWORD, "deviceName": "laptop"}).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Expect": "100-continue"}
        with Wire(int(url.rpartition(":")[2]), client.token) as wire:
            wire.send_head("POST", "/v1/devices", headers)
            assert wire.any_response().status == 100  # the server reads the body
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert process.poll() is None
            wire.send(body)
            assert wire.response().status == 201
        assert process.wait(30) == 0


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = run(tmp_path, "serve", "--port", port)
    assert ended.returncode == FAILED
    assert ended.stderr.splitlines()[-1] == (
        f"hesper: Port {port} on 127.0.0.1 is already in use. Choose another port with --port."
    )
    assert ended.stdout == "" and "error" not in ended.stderr


def test_an_unusable_data_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = run(tmp_path, "serve", "--port", 0, "--data", "file/data")
    assert ended.returncode == FAILED
    why = f"{tmp_path}/file/data cannot be used for data: Not a directory."
    assert ended.stderr.splitlines()[-1] == f"hesper: the database is unavailable: {why}"


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_a_host_that_is_not_on_this_machine(tmp_path: Path, host: str) -> None:
    ended = run(tmp_path, "serve", "--port", 0, "--host", host)
    assert ended.returncode == FAILED
    assert ended.stderr.splitlines()[-1].startswith(f"hesper: {host} is not an address ")


def test_precedence_of_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"signUp": "closed", "logLevel": "critical", "data": "from-file"}')
    with serving(tmp_path, "--sign-up", "open", HESPER_CONFIG="settings.json", HESPER_DATA="from-variable") as (url, _):
        assert plain_session().get(url + "/v1/server").json()["signUp"] == "open"
    assert (tmp_path / "from-variable/hesper.sqlite").exists()
    assert not (tmp_path / "from-file").exists()
    assert log(tmp_path) == ""


@pytest.mark.parametrize(("host", "sign_up"), [("127.0.0.1", "open"), ("localhost", "open"), ("0.0.0.0", "closed")])
def test_sign_up_is_open_while_only_this_machine_can_connect(tmp_path: Path, host: str, sign_up: str) -> None:
    with serving(tmp_path, "--host", host) as (url, _):
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert plain_session().get(url + "/v1/server").json()["signUp"] == sign_up


@pytest.fixture
def share(tmp_path: Path) -> str:
    """A folder with a web app, for `--public`."""
    (tmp_path / "share/Public").mkdir(parents=True)
    (tmp_path / "share/Public/index.html").write_text("<!doctype html>")
    return "share"


def test_the_first_invitation_works_with_closed_sign_up(tmp_path: Path, share: str) -> None:
    with serving(tmp_path, "--sign-up", "closed", "--public", share) as (url, process):
        line = process.stdout.readline()
        link = re.search(r"http://\S+", line)[0]
        assert link.startswith(url)
        session = plain_session()
        body = {"email": "ada@example.org", "password": PASSWORD, "deviceName": "phone"}
        body["invitation"] = link.split("=")[1]
        assert session.post(url + "/v1/accounts", json=body).status_code == 201
        Client(url).sign_in("ada@example.org", PASSWORD)
        assert session.post(url + "/v1/accounts", json=body | {"email": "eve@example.org"}).status_code == 403
    with serving(tmp_path, "--sign-up", "closed", "--public", share) as (_, process):
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "", "a link was printed although there is an account"


def test_without_the_web_app_a_command_is_suggested(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, process):
        line = process.stdout.readline()
        assert line == "There are no accounts yet. Create the first one with: hesper account create EMAIL\n"


def test_the_link_is_usable_when_listening_on_all_addresses(tmp_path: Path, share: str) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", "--public", share) as (url, process):
        line = process.stdout.readline()
        link = re.search(r"http://\S+", line)[0]
        assert link.startswith(url.replace("0.0.0.0", "localhost"))
        assert plain_session().get(link).status_code == 200


def test_the_health_check_of_the_container(fresh_server: Server) -> None:
    line = next(line for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("HEALTHCHECK"))
    environment = {**os.environ, "HESPER_PORT": str(fresh_server.port)}

    def is_healthy() -> bool:
        return subprocess.run(json.loads(line[line.index("[") :]), env=environment, timeout=30).returncode == 0

    assert is_healthy()
    fresh_server.stop()
    assert not is_healthy()


def test_a_missing_contract_is_logged_once(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        assert plain_session().get(url + "/v1/server").status_code == 200
        assert plain_session().get(url + "/openapi.yaml").status_code == 404
    lines = [line for line in log(tmp_path).splitlines() if "openapi.yaml" in line]
    assert len(lines) == 1
    assert "/openapi.yaml and /docs are not available" in lines[0]


def test_the_contract_is_served(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/openapi.yaml").write_text("openapi: 3.1.0\n")
    with serving(tmp_path, "--public", "pages") as (url, _):
        assert plain_session().get(url + "/openapi.yaml").text == "openapi: 3.1.0\n"
    assert "openapi.yaml" not in log(tmp_path)


def test_the_web_app_is_served(tmp_path: Path) -> None:
    (tmp_path / "share/Public/js").mkdir(parents=True)
    (tmp_path / "share/Public/index.html").write_text("<!doctype html>")
    (tmp_path / "share/Public/js/app.js").write_text("run()")
    with serving(tmp_path, "--public", "share") as (url, process):
        assert re.search(r"http://\S+", process.stdout.readline())[0].startswith(f"{url}/#/sign-up?invitation=")
        page = plain_session().get(url)
        assert (page.text, page.headers["Content-Type"]) == ("<!doctype html>", "text/html; charset=utf-8")
        assert plain_session().get(url + "/js/app.js").text == "run()"
        assert '"/js/app.js":"sha256-' in plain_session().get(url + "/shell.js").text
    assert "Public" not in log(tmp_path)


def test_a_missing_web_app_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        answer = plain_session().get(url)
        assert answer.status_code == 404
        assert "without the web app" in answer.json()["detail"]
    assert "The web app is not available" in log(tmp_path)


def test_unknown_variables_are_logged(tmp_path: Path) -> None:
    with serving(tmp_path, HESPER_PROT="8080"):
        pass
    assert "Unknown setting HESPER_PROT." in log(tmp_path)


def test_only_the_owner_can_access_the_data(tmp_path: Path) -> None:
    with serving(tmp_path):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
        assert (tmp_path / "data/hesper.sqlite").stat().st_mode & 0o077 == 0


def test_tls_from_files(tmp_path: Path) -> None:
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost "
        "-addext subjectAltName=DNS:localhost -keyout key.pem -out certificate.pem".split(),
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    files = ["--tls-certificate", "certificate.pem", "--tls-key", "key.pem"]
    with serving(tmp_path, "--host", "localhost", *files) as (url, _):
        assert url.startswith("https://localhost:")
        session = plain_session()
        session.verify = str(tmp_path / "certificate.pem")
        assert session.get(url + "/readyz").status_code == 200


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["check"], ["account", "list"]])
def test_a_database_of_a_later_version_is_refused(hesper: Hesper, tmp_path: Path, command: list[str]) -> None:
    database = sqlite3.connect(tmp_path / "data/hesper.sqlite")
    known = database.execute("PRAGMA user_version").fetchone()[0]
    database.execute(f"PRAGMA user_version = {known + 1}")
    database.close()
    ended = hesper(*command)
    assert ended.returncode == FAILED
    assert "written by a later Hesper" in ended.stderr


@pytest.mark.parametrize(("soft", "hard", "gets"), [(256, 10_000, 8_704), (256, 1_000, 1_000)])
def test_the_limit_of_open_files_is_raised(soft: int, hard: int, gets: int) -> None:
    limits = f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$0" "$@"'
    with Server(prefix=["bash", "-c", limits]) as server:
        line = next(line for line in Path(f"/proc/{server.pid}/limits").read_text().splitlines() if "open files" in line)
        assert int(line.split()[3]) == gets
        assert ("files and connections may be open at the same time" in server.log) is (gets < 8_704)
