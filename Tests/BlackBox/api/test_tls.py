"""TLS with certificate files, HTTP/2, and redirects from plain HTTP (protocol.md, HTTP rules)."""

import hashlib
import json
import ssl

import pytest
import requests
from client import Client, plain_session
from http2 import DataFrame, Frames
from rows import check_problem
from secure import TLSServer, make_certificate
from test_manners import Wire
from waiting import wait_until
from writer import new_id


def test_the_api_over_tls(secure):
    """Large requests and a streamed page. A client that does not trust the certificate cannot connect."""
    client = secure.client()
    text = "a long text, " * 50_000
    notes = [{"uniqueID": new_id(), "text": text} for _ in range(3)]
    for note in notes:
        assert client.put(f"/v1/notes/{note['uniqueID']}", {"text": text}).status_code == 201
    found, _ = client.read_all()
    assert sorted(note["uniqueID"] for note in found["notes"]) == sorted(note["uniqueID"] for note in notes)
    assert {note["text"] for note in found["notes"]} == {text}
    with pytest.raises(requests.exceptions.SSLError):
        plain_session().get(f"{secure.url}/readyz", timeout=10)
    client.session.close()  # otherwise the server waits for it when it stops


def test_uploads_with_tls_records_of_different_sizes(secure):
    """The amount of data decrypted per read depends on the record size. It is larger with 10,000 bytes than with 16,384."""
    client = secure.client()
    data = hashlib.shake_128(b"records").digest(5_000_000)
    for size in (1_000, 10_000, 16_384):
        path = f"/v1/attachments/{new_id()}/data"
        with secure.connect(ssl.TLSVersion.TLSv1_3, ["http/1.1"]) as connection:
            head = [f"PUT {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {client.token}", f"Content-Length: {len(data)}"]
            connection.sendall("\r\n".join([*head, "", ""]).encode())
            for at in range(0, len(data), size):
                connection.sendall(data[at : at + size])
            assert connection.recv(1_000).startswith(b"HTTP/1.1 201"), size
        assert client.get(path).content == data
    client.session.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_versions_of_tls(secure):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        for protocols in (["http/1.1", "h2"], ["h2", "http/1.1"]):
            with secure.connect(version, protocols) as connection:
                assert connection.selected_alpn_protocol() == "h2"
        with secure.connect(version, ["http/1.1"]) as connection:
            assert connection.selected_alpn_protocol() == "http/1.1"
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            secure.connect(version, ["http/1.1"])


def test_ciphers(secure):
    """Only ciphers with forward secrecy and authentication are accepted."""
    for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"):
        with secure.connect(ssl.TLSVersion.TLSv1_2, ["h2"], cipher) as connection:
            assert connection.cipher()[0] == cipher
    for cipher in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "AES128-GCM-SHA256", "AES256-SHA"):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            secure.connect(ssl.TLSVersion.TLSv1_2, ["h2"], cipher)


def test_plain_http_on_the_port_of_tls(secure):
    """The connection is closed without a response. TLS connections still work."""
    with Wire(secure) as wire:
        wire.send("GET /healthz HTTP/1.1", "Host: x")
        try:
            assert b"HTTP/1.1 200" not in wire.reader.read(200)
        except ConnectionResetError:
            pass
    assert Client(secure.url).get("/healthz", verify=secure.certificate).status_code == 200


# HTTP/2


@pytest.fixture(scope="module")
def ada(secure) -> Client:
    return secure.client()


def test_the_api_over_http2(secure, ada):
    """Large bodies with and without Content-Length, ranges, HEAD and errors, on one connection."""
    text = "a long text, " * 50_000
    note, attachment = new_id(), new_id()
    data = hashlib.shake_128(b"bytes").digest(3_000_000)
    with secure.http2(ada) as session:
        answer = session.put(f"/v1/notes/{note}", json={"text": text})
        assert (answer.http_version, answer.status_code) == ("HTTP/2", 201)
        assert session.get(f"/v1/notes/{note}").json()["text"] == text
        head = session.head(f"/v1/notes/{note}")
        assert (head.content, head.headers["ETag"]) == (b"", session.get(f"/v1/notes/{note}").headers["ETag"])
        body = json.dumps({"text": "without a length"}).encode()
        json_type = {"Content-Type": "application/json"}
        answer = session.put(f"/v1/notes/{note}", content=iter([body[:5], body[5:]]), headers=json_type)
        assert answer.status_code == 200
        assert session.get(f"/v1/notes/{note}").json()["text"] == "without a length"
        path = f"/v1/attachments/{attachment}/data"
        pieces = (data[at : at + 70_000] for at in range(0, 3_000_000, 70_000))
        assert session.put(path, content=pieces).status_code == 201
        assert session.get(path).content == data
        part = session.get(path, headers={"Range": "bytes=10-19"})
        assert (part.status_code, part.content) == (206, data[10:20])
        assert session.post("/v1/sync", json={}).json()["hasMore"] is False
        check_problem(session.get("/v1/notes/none"), "not-found", 404)
        silent = session.build_request("POST", "/v1/sync", headers=json_type)
        del silent.headers["Content-Length"]
        check_problem(session.send(silent), "length-required", 411)
        assert session.get("/v1/export").content.startswith(b"PK")
        assert session.head("/v1/export").status_code == 200
        assert session.get("/").status_code == 200


def test_http2_limits_of_headers(secure, ada):
    """The error is returned as over HTTP/1.1, and the connection stays open."""
    with secure.http2(ada) as session:
        assert session.get("/healthz").status_code == 200  # the client has now received the server's settings
        check_problem(session.get("/healthz", headers={"X-A": "a" * 17_000}), "headers-too-large", 431)
        many = [(f"X-{number}", "a" * 50) for number in range(400)]
        check_problem(session.get("/healthz", headers=many), "headers-too-large", 431)
        check_problem(session.get("/" + "a" * 9_000), "uri-too-long", 414)
        answer = session.get("/healthz")
        assert answer.status_code == 200
        assert answer.extensions["stream_id"] > 1, "a new connection was opened"


def test_events_over_http2(secure, ada):
    """Events arrive while other requests use the same connection."""
    with secure.http2(ada) as session:
        with session.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: changes"
            note = new_id()
            other = ada.put(f"/v1/notes/{note}", {"text": "seen"})
            assert other.status_code == 201
            for line in lines:
                if note in line:
                    break
            else:
                pytest.fail("the stream ended")
        assert session.get("/healthz").extensions["stream_id"] > 1


def test_a_server_with_event_streams_over_http2_stops(tmp_path):
    """It announces the stop on the stream, ends it, and does not wait for the client. (httpx aborts streams at GOAWAY.)"""
    with TLSServer(tmp_path) as server:
        client = server.client()
        client.session.close()
        with Frames(server) as frames:
            frames.send(frames.request(1, path="/v1/events", authorization=f"Bearer {client.token}"))
            frames.read(until=lambda frame: isinstance(frame, DataFrame) and b"event: changes" in frame.data)
            server.process.terminate()
            rest = frames.read(until=lambda frame: isinstance(frame, DataFrame) and "END_STREAM" in frame.flags)
            assert b": the server is shutting down" in b"".join(frame.data for frame in rest if isinstance(frame, DataFrame))
            assert "END_STREAM" in rest[-1].flags
            frames.read(until=lambda _: frames.goaway)
            assert frames.goaway.error_code == 0
        assert server.stop(seconds=60) == 0


# Certificate files


def served_certificate(server: TLSServer) -> bytes:
    """The certificate that a new connection receives."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with server.handshake(context) as connection:
        return connection.getpeercert(binary_form=True)


def test_a_renewed_certificate_is_used_without_a_restart(tmp_path):
    with TLSServer(tmp_path) as server:
        client = server.client()
        session = server.http2(client)
        with session.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            before = served_certificate(server)
            make_certificate(tmp_path)
            wait_until(lambda: served_certificate(server) != before, pause=0.5)
            after = served_certificate(server)
            # Open connections continue.
            note = new_id()
            assert client.put(f"/v1/notes/{note}", {"text": "seen"}).status_code == 201
            assert any(note in line for line in lines)
        session.close()
        client.session.close()
        # Invalid files are ignored and logged.
        (tmp_path / "key.pem").write_text("no key")
        wait_until(lambda: "the previous one remains in use" in server.log)
        assert served_certificate(server) == after
        assert (server.log.count("TLS certificate reloaded"), server.log.count("the previous one remains in use")) == (1, 1)


# From plain HTTP to HTTPS


def test_strict_transport_security(secure, ada):
    named = {"Host": "notes.example.org"}
    for path in ("/", "/healthz", "/v1/account", "/nowhere"):
        answer = secure.anonymous_client().get(path, headers=named)
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000", path
    # On localhost, other servers may not use TLS.
    for host in ("localhost", "localhost:8443", "app.localhost"):
        assert "Strict-Transport-Security" not in secure.anonymous_client().get("/healthz", headers={"Host": host}).headers


def test_no_strict_transport_security_without_tls(server):
    answer = Client(server.url).get("/healthz", headers={"Host": "notes.example.org"})
    assert "Strict-Transport-Security" not in answer.headers


def plain(server: TLSServer, method: str, path: str, **options) -> requests.Response:
    return plain_session().request(
        method, f"http://127.0.0.1:{server.plain_port}{path}", allow_redirects=False, timeout=10, **options
    )


@pytest.mark.parametrize("path", ["/", "/docs?a=b", "/v1/notes/%2F?x=%20y"])
def test_plain_http_redirects_to_https(secure, path):
    for method in ("GET", "HEAD"):
        answer = plain(secure, method, path)
        assert (answer.status_code, answer.headers["Location"]) == (308, f"{secure.url}{path}")
        assert answer.headers["X-Request-ID"]
    named = plain(secure, "GET", path, headers={"Host": "notes.example.org:8080"})
    assert named.headers["Location"] == f"https://notes.example.org:{secure.port}{path}"


def test_credentials_sent_over_plain_http_are_not_redirected(secure):
    """A redirect would hide that the password or token was sent unencrypted."""
    body = {"email": "a@example.org", "password": "secret", "deviceName": "x"}
    answer = plain(secure, "POST", "/v1/devices", json=body)
    check_problem(answer, "forbidden", 403)
    assert secure.url in answer.json()["detail"]
    check_problem(plain(secure, "GET", "/v1/account", headers={"Authorization": "Bearer x"}), "forbidden", 403)
    check_problem(plain(secure, "GET", "/", headers={"Host": "a@b/c"}), "malformed-request", 400)


def test_redirects_have_the_limits_of_the_server(secure):
    check_problem(plain(secure, "GET", "/" + "a" * 9_000), "uri-too-long", 414)
    check_problem(plain(secure, "GET", "/", headers={"X-A": "a" * 17_000}), "headers-too-large", 431)
