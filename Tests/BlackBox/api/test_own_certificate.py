"""`--tls self-signed`: a certificate that Hesper makes for itself, and the authority that vouches for it."""

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
    """One that people reach under the name of `URL`."""
    with SelfSignedServer(tmp_path_factory.mktemp("own"), environment={"HESPER_URL": URL}) as running:
        yield running


def openssl(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=folder)


def verify(own: SelfSignedServer, certificate: Path, *arguments: str) -> subprocess.CompletedProcess:
    strictly = ["-x509_strict", "-purpose", "sslserver", "-CAfile", own.certificate]
    return openssl("verify", *strictly, *arguments, certificate)


def test_who_trusts_the_authority_is_served(own):
    """By HTTP/2 and HTTP/1.1, and curl; all of it, with accounts and notes."""
    client = own.client()
    assert client.post("/v1/notes", {"text": "seen"}).status_code == 201
    with own.http2(client) as session:
        answer = session.get("/v1/notes")
        assert (answer.http_version, answer.status_code) == ("HTTP/2", 200)
        assert [note["text"] for note in answer.json()["notes"]] == ["seen"]
    curl = ["curl", "-sS", "--noproxy", "*", "--max-time", "20", "--resolve", f"notes.example.org:{own.port}:127.0.0.1"]
    for host in ("127.0.0.1", "localhost", "notes.example.org"):
        told = subprocess.run(
            [*curl, "--cacert", own.certificate, f"https://{host}:{own.port}/healthz"], capture_output=True, timeout=60
        )
        assert told.stdout == b'{"status":"ok"}', (host, told.stderr)
    client.session.close()


def test_who_does_not_is_not(own):
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{own.url}/healthz", trust_env=False)
    told = subprocess.run(
        ["curl", "-sS", "--noproxy", "*", "--max-time", "20", f"{own.url}/healthz"], capture_output=True, timeout=60
    )
    assert (told.returncode, told.stdout) == (60, b"")


def test_a_name_that_it_has_not_is_refused(own):
    context = own.context()
    with socket.create_connection(("127.0.0.1", own.port), timeout=10) as plain:
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            context.wrap_socket(plain, server_hostname="other.example.org")


@pytest.mark.parametrize(
    ("option", "name", "does"),
    [
        ("hostname", "localhost", True), ("hostname", "notes.example.org", True), ("ip", "127.0.0.1", True),
        ("ip", "::1", True), ("hostname", socket.gethostname().lower(), True), ("hostname", "example.org", False),
        ("ip", "127.0.0.2", False),
    ],
)  # fmt: skip
def test_openssl_verifies_it(own, option: str, name: str, does: bool):
    done = verify(own, own.tls / "server.pem", f"-verify_{option}", name)
    assert (done.returncode == 0) == does, done.stdout + done.stderr


def test_it_says_what_to_trust(own):
    shown = openssl("x509", "-in", own.certificate, "-noout", "-fingerprint", "-sha256").stdout
    fingerprint = shown.strip().split("=")[1]
    assert len(fingerprint) == 95
    for part in (fingerprint, own.certificate, f"curl --cacert {own.certificate}", "update-ca-certificates", "Firefox"):
        assert part in own.log, part
    assert "PRIVATE" not in own.log


def test_the_authority_is_for_servers_alone(own):
    text = openssl("x509", "-in", own.certificate, "-noout", "-text").stdout
    for part in (
        "CA:TRUE, pathlen:0", "X509v3 Key Usage: critical\n                Certificate Sign\n",
        "X509v3 Name Constraints: critical", "DNS:notes.example.org", "IP:192.168.0.0/255.255.0.0",
        "TLS Web Server Authentication", "prime256v1",
    ):  # fmt: skip
        assert part in text, part
    days = openssl("x509", "-in", own.tls / "server.pem", "-noout", "-checkend", 397 * 86_400)
    assert days.returncode == 1, "it holds for longer than browsers take"


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ("DNS:localhost", None), ("DNS:notes.example.org,DNS:desk.local,IP:192.168.7.7", None),
        ("DNS:deep.notes.example.org", "excluded subtree violation"),
        ("DNS:bank.example.com", "permitted subtree violation"), ("DNS:example.org", "permitted subtree violation"),
        ("DNS:localhost,IP:8.8.8.8", "permitted subtree violation"), ("authority", "path length constraint exceeded"),
    ],
)  # fmt: skip
def test_what_a_stolen_key_is_good_for(own, tmp_path: Path, names: str, why: str | None):
    """This server's names, and those of a network of one's own; no site on the internet, and no other authority."""

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


def test_no_browser_is_told_to_stay_with_it(own):
    """It could not be talked into another certificate, or back to plain HTTP, when this one is lost."""
    for host in ("notes.example.org", "localhost"):
        answer = own.anybody().get("/healthz", headers={"Host": host})
        assert (answer.status_code, answer.headers.get("Strict-Transport-Security")) == (200, None)


def test_plain_http_leads_to_it(own):
    answer = plain_session().get(f"http://127.0.0.1:{own.plain_port}/docs", allow_redirects=False, timeout=10)
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{own.url}/docs")


def test_later_starts(tmp_path: Path):
    """The authority stays, and the certificate. A new name makes another one, trusted as the one before was."""
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
        # A name that the authority may not vouch for: nobody is asked to trust another one unawares.
        server.stop()
        server.environment["HESPER_URL"] = "https://bank.example.com"
        with pytest.raises(RuntimeError, match="it was created without the name bank.example.com"):
            server.start()
        assert (server.tls / "authority.pem").read_bytes() == files["authority.pem"]


def test_a_backup_has_no_key(tmp_path: Path):
    with SelfSignedServer(tmp_path) as server:
        server.client().session.close()
        done = server.command("backup", str(tmp_path / "backup"))
        assert done.returncode == 0, done.stderr
        backed_up = [path for path in (tmp_path / "backup").rglob("*") if path.is_file()]
        assert backed_up and not FILES & {path.name for path in backed_up}
        assert not any(b"PRIVATE KEY" in path.read_bytes() for path in backed_up)
