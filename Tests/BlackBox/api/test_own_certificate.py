"""`--tls self-signed`: a certificate that Hesper generates, signed by its own authority."""

import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from client import plain_session
from secure import SelfSignedServer

URL = "https://notes.example.org:8443"
FILES = {"authority.pem", "authority.key", "server.pem", "server.key"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SelfSignedServer]:
    """A server that clients reach at `URL`."""
    with SelfSignedServer(tmp_path_factory.mktemp("own"), environment={"HESPER_URL": URL}) as running:
        yield running


def openssl(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=folder)


def verify(own: SelfSignedServer, certificate: Path, *arguments: str) -> subprocess.CompletedProcess:
    strictly = ["-x509_strict", "-purpose", "sslserver", "-CAfile", own.certificate]
    return openssl("verify", *strictly, *arguments, certificate)


def test_clients_that_trust_the_authority_can_connect(own):
    """Over HTTP/2, HTTP/1.1 and with curl."""
    client = own.client()
    assert client.post("/v1/notes", {"text": "seen"}).status_code == 201
    with own.http2(client) as session:
        answer = session.get("/v1/notes")
        assert (answer.http_version, answer.status_code) == ("HTTP/2", 200)
        assert [note["text"] for note in answer.json()["notes"]] == ["seen"]
    curl = ["curl", "-sS", "--noproxy", "*", "--max-time", "20", "--resolve", f"notes.example.org:{own.port}:127.0.0.1"]
    for host in ("127.0.0.1", "localhost", "notes.example.org"):
        done = subprocess.run(
            [*curl, "--cacert", own.certificate, f"https://{host}:{own.port}/healthz"], capture_output=True, timeout=60
        )
        assert done.stdout == b'{"status":"ok"}', (host, done.stderr)
    client.session.close()


def test_clients_that_do_not_trust_the_authority_cannot_connect(own):
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{own.url}/healthz", trust_env=False)
    done = subprocess.run(
        ["curl", "-sS", "--noproxy", "*", "--max-time", "20", f"{own.url}/healthz"], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (60, b"")


def test_other_host_names_are_refused(own):
    context = own.context()
    with socket.create_connection(("127.0.0.1", own.port), timeout=10) as plain:
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            context.wrap_socket(plain, server_hostname="other.example.org")


@pytest.mark.parametrize(
    ("option", "name", "is_valid"),
    [
        ("hostname", "localhost", True), ("hostname", "notes.example.org", True), ("ip", "127.0.0.1", True),
        ("ip", "::1", True), ("hostname", socket.gethostname().lower(), True), ("hostname", "example.org", False),
        ("ip", "127.0.0.2", False),
    ],
)  # fmt: skip
def test_openssl_verifies_the_certificate(own, option: str, name: str, is_valid: bool):
    done = verify(own, own.tls / "server.pem", f"-verify_{option}", name)
    assert (done.returncode == 0) == is_valid, done.stdout + done.stderr


def test_the_log_explains_how_to_trust_the_authority(own):
    shown = openssl("x509", "-in", own.certificate, "-noout", "-fingerprint", "-sha256").stdout
    fingerprint = shown.strip().split("=")[1]
    assert len(fingerprint) == 95
    for part in (fingerprint, own.certificate, f"curl --cacert {own.certificate}", "update-ca-certificates", "Firefox"):
        assert part in own.log, part
    assert "PRIVATE" not in own.log


def test_the_authority_is_restricted(own):
    text = openssl("x509", "-in", own.certificate, "-noout", "-text").stdout
    for part in (
        "CA:TRUE, pathlen:0", "X509v3 Key Usage: critical\n                Certificate Sign\n",
        "X509v3 Name Constraints: critical", "DNS:notes.example.org", "IP:192.168.0.0/255.255.0.0",
        "TLS Web Server Authentication", "prime256v1",
    ):  # fmt: skip
        assert part in text, part
    days = openssl("x509", "-in", own.tls / "server.pem", "-noout", "-checkend", 397 * 86_400)
    assert days.returncode == 1, "the certificate is valid for longer than browsers accept"


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ("DNS:localhost", None), ("DNS:notes.example.org,DNS:desk.local,IP:192.168.7.7", None),
        ("DNS:deep.notes.example.org", "excluded subtree violation"),
        ("DNS:bank.example.com", "permitted subtree violation"), ("DNS:example.org", "permitted subtree violation"),
        ("DNS:localhost,IP:8.8.8.8", "permitted subtree violation"), ("authority", "path length constraint exceeded"),
    ],
)  # fmt: skip
def test_names_that_a_stolen_authority_key_can_certify(own, tmp_path: Path, names: str, why: str | None):
    """Only this server's names and those of private networks. No other host on the internet, and no other authority."""

    def sign(name: str, extension: str, by: str, key: str) -> None:
        (tmp_path / "extensions").write_text(extension)
        ask = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}"]
        assert openssl(*ask, "-keyout", f"{name}.key", "-out", f"{name}.csr", folder=tmp_path).returncode == 0
        made = openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", by, "-CAkey", key, "-CAcreateserial", "-days", 9,
            "-extfile", "extensions", "-out", f"{name}.pem", "-CAserial", "serial", folder=tmp_path,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr

    identifiers = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
    others = []
    by, key = own.certificate, str(own.tls / "authority.key")
    if names == "authority":
        usage = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
        sign("between", f"{usage}{identifiers}", by, key)
        by, key, others = "between.pem", "between.key", ["-untrusted", str(tmp_path / "between.pem")]
    san = "DNS:localhost" if names == "authority" else names
    sign("thief", f"subjectAltName={san}\n{identifiers}", by, key)
    done = verify(own, tmp_path / "thief.pem", *others)
    assert (done.returncode == 0) == (why is None), done.stdout + done.stderr
    assert why is None or why in done.stdout + done.stderr


def test_strict_transport_security_is_not_sent(own):
    """With it, browsers would refuse another certificate, or plain HTTP, if this one is lost."""
    for host in ("notes.example.org", "localhost"):
        answer = own.anonymous_client().get("/healthz", headers={"Host": host})
        assert (answer.status_code, answer.headers.get("Strict-Transport-Security")) == (200, None)


def test_plain_http_redirects(own):
    answer = plain_session().get(f"http://127.0.0.1:{own.plain_port}/docs", allow_redirects=False, timeout=10)
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{own.url}/docs")


def test_certificates_persist_across_restarts(tmp_path: Path):
    """The authority and the certificate persist. A new host name causes a new certificate by the same authority."""
    with SelfSignedServer(tmp_path) as server:
        files = {path.name: path.read_bytes() for path in server.tls.iterdir()}
        assert set(files) == FILES
        for path in [server.tls, *server.tls.iterdir()]:
            assert path.stat().st_mode & 0o077 == 0, path
        server.restart()
        assert {path.name: path.read_bytes() for path in server.tls.iterdir()} == files
        trusted = tmp_path / "trusted.pem"
        trusted.write_bytes(files["authority.pem"])
        server.environment["HESPER_URL"] = "https://desk.local"
        server.restart()
        assert (server.tls / "authority.pem").read_bytes() == files["authority.pem"]
        assert (server.tls / "server.pem").read_bytes() != files["server.pem"]
        done = openssl("verify", "-CAfile", trusted, "-verify_hostname", "desk.local", server.tls / "server.pem")
        assert done.returncode == 0, done.stdout + done.stderr
        # A name outside the authority's constraints needs a new authority, which is not made without the operator's consent.
        server.stop()
        server.environment["HESPER_URL"] = "https://bank.example.com"
        with pytest.raises(RuntimeError, match="it was created without the name bank.example.com"):
            server.start()
        assert (server.tls / "authority.pem").read_bytes() == files["authority.pem"]


def test_backups_contain_no_private_keys(tmp_path: Path):
    with SelfSignedServer(tmp_path) as server:
        server.client().session.close()
        done = server.command("backup", str(tmp_path / "backup"))
        assert done.returncode == 0, done.stderr
        backed_up = [path for path in (tmp_path / "backup").rglob("*") if path.is_file()]
        assert backed_up and not FILES & {path.name for path in backed_up}
        assert not any(b"PRIVATE KEY" in path.read_bytes() for path in backed_up)
