"""Attacks over HTTP/2, frame by frame. The server closes the attacking connection and continues to serve others.

The tests do not check how many frames were sent, because on a slow machine most of them are in the system's buffers.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from client import Client
from http2 import (
    ENHANCE_YOUR_CALM, ContinuationFrame, DataFrame, Frames, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame,
)  # fmt: skip
from secure import TLSServer

STREAMS = 100


def memory(server: TLSServer) -> int:
    """The process's current memory in KiB."""
    lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.fixture(autouse=True)
def server_is_intact(secure):
    """Checks after each attack that the server responds to another client and has allocated little memory."""
    before = memory(secure)
    yield
    assert Client(secure.url).get("/readyz", verify=secure.certificate, timeout=10).status_code == 200
    assert memory(secure) - before < 100_000, "KiB"


def test_rapid_reset(secure):
    """CVE-2023-44487: requests that are cancelled immediately, few at a time, so that the server processes each."""
    with Frames(secure) as frames:
        for stream in range(1, 20_001, 2):
            if not frames.send(frames.request(stream), RstStreamFrame(stream, error_code=8)):
                break
            if stream % 99 == 0:
                frames.read(0.01)
            if frames.has_ended:
                break
        frames.read()
        assert frames.has_ended
        assert frames.goaway is None or frames.goaway.error_code == ENHANCE_YOUR_CALM


@pytest.mark.parametrize("size", [0, 16_000])
def test_endless_continuations(secure, size):
    """CVE-2024-27316: headers that never end, with content or empty."""
    with Frames(secure) as frames:
        frames.send(HeadersFrame(1, frames.head()))
        block = frames.encoder.encode([("x-a", "a" * size)]) if size else b""
        sent = 0
        while sent < 5_000 and frames.send(ContinuationFrame(1, block)):
            sent += 1
        frames.read()
        assert frames.has_ended


def test_hpack_bomb(secure):
    """One long header in the HPACK table, referenced many times."""
    with Frames(secure) as frames:
        frames.send(frames.request(1, **{"x-bomb": "a" * 3_900}))
        frames.read(until=lambda frame: isinstance(frame, HeadersFrame))
        # The latest entry has the first index after the 61 static ones.
        bomb = frames.head() + b"\xbe" * 12_000
        frames.send(HeadersFrame(3, bomb, flags=["END_HEADERS", "END_STREAM"]))
        frames.read()
        assert frames.has_ended


def test_too_many_streams(secure):
    """The server serves as many streams as it announced, and refuses more."""
    with Frames(secure) as frames:
        settings = frames.read(until=lambda frame: isinstance(frame, SettingsFrame) and "ACK" not in frame.flags)
        assert settings[-1].settings[SettingsFrame.MAX_CONCURRENT_STREAMS] == STREAMS
        frames.send(SettingsFrame(0, flags=["ACK"]))
        head = {"method": "POST", "path": "/v1/devices", "content-type": "application/json"}
        for stream in range(1, 2 * STREAMS, 2):
            assert frames.send(frames.request(stream, ends=False, **head))
        ping = PingFrame(0, b"12345678")
        frames.send(ping)
        frames.read(until=lambda frame: isinstance(frame, PingFrame) and "ACK" in frame.flags)
        assert not frames.has_ended and frames.goaway is None
        frames.send(frames.request(2 * STREAMS + 1, ends=False, **head))
        refused = frames.read(until=lambda frame: isinstance(frame, RstStreamFrame) and frame.stream_id > 2 * STREAMS)
        assert frames.has_ended or frames.goaway or isinstance(refused[-1], RstStreamFrame)


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("pings", lambda _: PingFrame(0, b"12345678")),
        ("settings", lambda _: SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 65_535})),
        ("nothing", lambda _: DataFrame(1, b"")),
    ],
)
def test_floods(secure, name, frame):
    """Frames that are cheap to send and that the server must process or acknowledge."""
    with Frames(secure) as frames:
        head = {"method": "POST", "path": "/v1/devices", "content-type": "application/json"}
        frames.send(frames.request(1, ends=False, **head))
        sent = 0
        while sent < 200_000 and frames.send(*[frame(sent)] * 50):
            sent += 50
        frames.read()
        assert frames.has_ended, name


def test_forbidden_headers(secure):
    """Headers that HTTP/2 forbids: upper-case names, `Connection`, two paths. The server ends the stream or connection."""
    for fields in (
        [("X-Upper", "a")], [("connection", "close")], [("transfer-encoding", "chunked")], [(":path", "/again")],
    ):  # fmt: skip
        with Frames(secure) as frames:
            block = frames.head() + frames.encoder.encode(fields)
            frames.send(HeadersFrame(1, block, flags=["END_HEADERS", "END_STREAM"]))
            got = frames.read(until=lambda frame: isinstance(frame, (RstStreamFrame, HeadersFrame)))
            assert not any(isinstance(frame, HeadersFrame) for frame in got), fields
            assert frames.has_ended or frames.goaway or isinstance(got[-1], RstStreamFrame), fields


def test_a_wrong_content_length(secure):
    """A body shorter or longer than Content-Length would allow smuggling if there were a server behind this one."""
    for length, data in (("5", b"{}"), ("1", b"{}")):
        with Frames(secure) as frames:
            head = {"method": "POST", "path": "/v1/devices", "content-type": "application/json"}
            head["content-length"] = length
            frames.send(frames.request(1, ends=False, **head), DataFrame(1, data, flags=["END_STREAM"]))
            got = frames.read(until=lambda frame: isinstance(frame, RstStreamFrame) and frame.stream_id == 1)
            assert frames.has_ended or isinstance(got[-1], RstStreamFrame)


def test_an_idle_client_does_not_prevent_shutdown(tmp_path):
    """A stopping server sends GOAWAY and waits a limited time for clients that do not react."""
    with TLSServer(tmp_path) as server, Frames(server) as frames:
        frames.send(frames.request(1))
        frames.read(until=lambda frame: isinstance(frame, HeadersFrame))
        assert server.stop(seconds=90) == 0


def test_a_tls_scanner_finds_nothing(secure, tmp_path):
    """sslyze tests old versions and ciphers, Heartbleed, CCS, ROBOT, compression and renegotiation."""
    report = tmp_path / "report.json"
    scans = [
        "sslv2", "sslv3", "tlsv1", "tlsv1_1", "tlsv1_2", "tlsv1_3", "heartbleed", "openssl_ccs", "robot", "compression",
        "reneg", "fallback", "early_data", "elliptic_curves",
    ]  # fmt: skip
    command = [sys.executable, "-m", "sslyze", "--json_out", str(report), *(f"--{scan}" for scan in scans)]
    ended = subprocess.run([*command, f"127.0.0.1:{secure.port}"], capture_output=True, text=True, timeout=240)
    assert report.exists(), ended.stdout + ended.stderr
    found = json.loads(report.read_text())["server_scan_results"][0]["scan_result"]
    results = {name: scan["result"] for name, scan in found.items() if scan and scan.get("result")}
    accepted = {
        name: [suite["cipher_suite"]["name"] for suite in result["accepted_cipher_suites"]]
        for name, result in results.items()
        if name.endswith("_cipher_suites")
    }
    assert [name for name in accepted if accepted[name]] == ["tls_1_2_cipher_suites", "tls_1_3_cipher_suites"]
    for suite in accepted["tls_1_2_cipher_suites"]:
        assert suite.startswith("TLS_ECDHE_") and ("_GCM_" in suite or "CHACHA20" in suite), suite
    assert not results["heartbleed"]["is_vulnerable_to_heartbleed"]
    assert not results["openssl_ccs_injection"]["is_vulnerable_to_ccs_injection"]
    assert "NOT_VULNERABLE" in results["robot"]["robot_result"]
    assert not results["tls_compression"]["supports_compression"]
    assert not results["session_renegotiation"]["is_vulnerable_to_client_renegotiation_dos"]
    assert results["session_renegotiation"]["supports_secure_renegotiation"]
    assert results["tls_fallback_scsv"]["supports_fallback_scsv"]
    assert not results["tls_1_3_early_data"]["supports_early_data"]
