"""`/metrics`: format, access and address."""

import re
import socket
from pathlib import Path

import requests
from attachments import attach
from client import Client, Server, free_port, plain_session
from database import query
from runner import WRONG_SETTING, run

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? ([0-9.e+-]+)')


def metrics(url: str) -> dict[str, float]:
    """All samples. Checks that each family is declared once, directly before its samples."""
    answer = plain_session().get(f"{url}/metrics", timeout=10)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples: dict[str, float] = {}
    families: list[str] = []
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            families.append(line.split()[2])
            assert line.split()[3] in ("counter", "gauge", "histogram")
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert re.sub("_(bucket|sum|count)$", "", match[1]) == families[-1] or match[1] == families[-1], line
            name = line.rpartition(" ")[0]
            assert name not in samples, name
            samples[name] = float(match[3])
    assert len(families) == len(set(families))
    return samples


def test_a_separate_address(fresh_server: Server) -> None:
    port = free_port()
    fresh_server.stop()
    fresh_server.environment["HESPER_METRICS"] = f"127.0.0.1:{port}"
    fresh_server.start()
    client = fresh_server.client()
    attach(client, b"x" * 1_000)
    samples = metrics(f"http://127.0.0.1:{port}")
    assert samples["hesper_accounts"] == samples["hesper_devices"] == samples["hesper_store_up"] == 1
    assert samples["hesper_blob_bytes"] == 1_000
    assert samples['hesper_http_requests_total{method="POST",route="/v1/accounts",status="201"}'] == 1
    assert samples['hesper_disk_free_bytes{folder="data"}'] > 0
    assert samples["hesper_commit_duration_seconds_count"] >= 1
    # No other route at that address, and no metrics at the API's address.
    other = Client(f"http://127.0.0.1:{port}")
    assert [other.get(path).status_code for path in ("/", "/v1/server", "/healthz", "/metrics/x")] == [404] * 4
    assert other.post("/metrics").status_code == 405
    assert other.request("HEAD", "/metrics").status_code == 200
    assert client.get("/metrics").status_code == 404
    # 16 connections are served, or slightly more if they arrive in one moment. The next one waits.
    other.session.close()
    held, is_full = [], False
    while not is_full and len(held) < 20:
        held.append(socket.create_connection(("127.0.0.1", port), timeout=5))
        held[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
        try:
            assert held[-1].recv(1_000).startswith(b"HTTP/1.1 200")
        except TimeoutError:
            is_full = True
    assert is_full and 16 < len(held) < 21
    held.pop(0).close()
    held[-1].settimeout(30)
    assert held[-1].recv(1_000).startswith(b"HTTP/1.1 200")
    for connection in held:
        connection.close()
    assert fresh_server.stop() == 0


def test_metrics_while_the_database_is_unavailable(fresh_server: Server) -> None:
    client = fresh_server.client()
    query(fresh_server, "ALTER TABLE accounts RENAME TO gone")
    assert client.get("/readyz").status_code == 500
    samples = metrics(fresh_server.url)
    assert samples["hesper_store_up"] == 0
    assert "hesper_accounts" not in samples
    assert samples['hesper_http_requests_total{method="GET",route="/readyz",status="500"}'] >= 1


def test_the_api_serves_metrics_only_to_this_machine(server: Server) -> None:
    assert metrics(server.url)["hesper_store_up"] == 1
    assert metrics(server.url.replace("127.0.0.1", "localhost"))["hesper_store_up"] == 1
    refused = [
        {"X-Forwarded-For": "192.0.2.1"}, {"Forwarded": "for=192.0.2.1"}, {"Via": "1.1 proxy"},
        {"X-Forwarded-Host": "notes.example.org"}, {"Host": "notes.example.org"}, {"Host": "127.0.0.1.example.org"},
        {"Host": "localhost.example.org"}, {"Host": "[::1]x"}, {"X-Forwarded-Proto": "https"},
        {"X-Forwarded-Port": "443"}, {"x-forwarded-prefix": "/notes"}, {"X-Real-IP": "192.0.2.1"},
    ]  # fmt: skip
    for headers in refused:
        answer = requests.get(f"{server.url}/metrics", headers=headers, timeout=10)
        assert (answer.status_code, answer.json()["slug"]) == (404, "not-found"), headers
        assert "hesper_" not in answer.text


def test_histograms_count_requests(server: Server) -> None:
    client = server.client()
    name = 'hesper_http_request_duration_seconds{}{{method="GET",route="/v1/notes/{{uniqueID}}"{}}}'
    before = metrics(server.url).get(name.format("_count", ""), 0)
    for _ in range(7):
        assert client.get("/v1/notes/0f1e2d3c-0000-4000-8000-000000000000").status_code == 404
    samples = metrics(server.url)
    assert samples[name.format("_count", "")] == before + 7
    assert samples[name.format("_bucket", ',le="+Inf"')] == before + 7
    buckets = [value for key, value in samples.items() if key.startswith(name.format("_bucket", "")[:-1])]
    assert buckets == sorted(buckets)
    assert samples[name.format("_sum", "")] > 0


def test_wrong_addresses(tmp_path: Path) -> None:
    for text in ("9464", "localhost", "127.0.0.1:", ":9464", "127.0.0.1:70000", "::1:9464", "127.0.0.1:x"):
        ended = run(tmp_path, "serve", "--port", 0, HESPER_METRICS=text)
        wanted = f'hesper: HESPER_METRICS: must be an address such as 127.0.0.1:9464, not "{text}".\n'
        assert (ended.returncode, ended.stderr) == (WRONG_SETTING, wanted)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        ended = run(tmp_path, "serve", "--port", 0, "--metrics", address)
    assert ended.returncode == WRONG_SETTING
    assert f"hesper: Cannot listen on {address}, set with --metrics or HESPER_METRICS: " in ended.stderr
