"""`hesper doctor` reports that a sound installation is in order, and names each problem with its remedy."""

import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from runner import FAILED, WRONG_SETTING, Hesper, serving


MAIL = {
    "HESPER_SENDMAIL": "/bin/cat -u",
    "HESPER_MAIL_FROM": "hesper@example.org",
    "HESPER_URL": "https://notes.example.org",
}


def told(hesper: Hesper, *arguments: str, status: int = 0, **environment: str) -> list[str]:
    done = hesper("doctor", *arguments, **{"HESPER_SIGN_UP": "closed", **environment})
    assert (done.returncode, done.stderr) == (status, ""), done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert all(line.startswith(("ok: ", "warning: ", "wrong: ")) for line in lines), lines
    assert any(line.startswith("wrong: ") for line in lines) == (status == FAILED)
    return lines


def execute(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / "data/hesper.sqlite")) as database, database:
        database.executescript(sql)


def test_a_sound_installation(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    before = (tmp_path / "data/hesper.sqlite").read_bytes()
    lines = told(hesper)
    for line in [
        "ok: The settings are valid.",
        "ok: The data folder data is private and has enough free space.",
        "ok: The database has version 2, which is current.",
        "ok: SQLite's quick check found no problems. Run hesper check for a full check.",
    ]:
        assert any(line.split(" 2,")[0] in found for found in lines), (line, lines)
    assert any(line.startswith("ok: The clock shows 2") for line in lines)
    assert (tmp_path / "data/hesper.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "environment", "line"),
    [
        ([], {"HESPER_PROT": "1"}, "warning: Unknown setting HESPER_PROT."),
        ([], {"HESPER_PORT": "x"}, 'wrong: HESPER_PORT: must be a port from 0 to 65535, not "x".'),
        ([], {"HESPER_LOG_FORMAT": "xml"}, 'wrong: HESPER_LOG_FORMAT: must be one of text, json, not "xml".'),
        ([], {"HESPER_HOST": "0.0.0.0"}, "warning: The server listens on 0.0.0.0 without TLS, "),
        ([], {"HESPER_HOST": "0.0.0.0", "HESPER_SIGN_UP": "open"}, "warning: Everyone who can connect to 0.0.0.0 can"),
        ([], {"HESPER_SIGN_UP": "open"}, "warning: All users of this machine, and all clients of a proxy, can create accounts."),
        ([], {"HESPER_SIGN_UP": ""}, "warning: All users of this machine can create accounts. If the server is behind a proxy"),
        ([], {"HESPER_SIGN_UP": "", "HESPER_TRUSTED_PROXIES": "127.0.0.1"}, "ok: The settings are valid."),
        ([], {"HESPER_METRICS": "0.0.0.0:9464"}, "warning: Metrics are available to everyone who can connect to 0.0.0.0:9464"),
        ([], {"HESPER_PASSWORD_COST": "16"}, "warning: The password cost is below the recommendation of OWASP. "),
        ([], {"HESPER_PUBLIC": "data"}, "warning: Public/index.html not found in data"),
        ([], {"HESPER_SENDMAIL": "/bin/cat"}, "wrong: HESPER_SENDMAIL: e-mail requires a sender address"),
        ([], MAIL | {"HESPER_URL": ""}, "wrong: HESPER_SENDMAIL: links in e-mails require the public URL"),
        ([], MAIL | {"HESPER_SENDMAIL": "/nowhere/mail -t"}, "wrong: Cannot send e-mail: /nowhere/mail is not"),
        ([], MAIL | {"HESPER_SENDMAIL": "/etc/passwd"}, "wrong: Cannot send e-mail: /etc/passwd is not an executable file"),
        ([], MAIL | {"HESPER_URL": "http://notes.example.org"}, "warning: Links in e-mails start with http://notes"),
        ([], MAIL, "ok: E-mail is sent with /bin/cat. Links in it start with https://notes.example.org."),
        ([], {"HESPER_TLS_KEY": "/dev/null"}, "wrong: HESPER_TLS_KEY: a key requires its certificate"),
        (["--data", "nowhere"], {}, "wrong: Cannot access the data folder nowhere: No such file"),
        (["--data", "."], {}, "wrong: . contains no hesper.sqlite: set the data folder"),
        (["--database", "postgresql://127.0.0.1:1/x"], {}, "wrong: Cannot connect to the database"),
    ],
)
def test_settings(hesper: Hesper, ada: str, arguments: list[str], environment: dict[str, str], line: str) -> None:
    status = FAILED if line.startswith("wrong") else 0
    lines = told(hesper, *arguments, status=status, **environment)
    assert sum(found.startswith(line) for found in lines) == 1, lines


def test_permissions(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    (tmp_path / "data").chmod(0o755)
    (tmp_path / "data/hesper.sqlite").chmod(0o644)
    lines = told(hesper, status=FAILED)
    assert "wrong: data is accessible to other users (mode 755). Run chmod go= data" in lines
    assert "wrong: data/hesper.sqlite is accessible to other users (mode 644). Run chmod go= data/hesper.sqlite" in lines


def test_versions(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    execute(tmp_path, "PRAGMA user_version = 99")
    lines = told(hesper, status=FAILED)
    assert any(line.startswith("wrong: the database has version 99, written by a later Hesper") for line in lines)
    execute(tmp_path, "PRAGMA user_version = 1")
    lines = told(hesper)
    assert any(line.startswith("warning: The database has version 1. The next start upgrades it to ") for line in lines)
    with closing(sqlite3.connect(tmp_path / "data/hesper.sqlite")) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,), "doctor changed the database"


def test_a_damaged_database(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    path = tmp_path / "data/hesper.sqlite"
    values = ", ".join(f"(randomblob(16), '{index}@example.org', '{index}@example.org', '{'x' * 200}', 0)" for index in range(200))
    execute(
        tmp_path,
        f"INSERT INTO accounts (id, email, email_key, password_hash, creation_date) VALUES {values};"
        "PRAGMA wal_checkpoint(TRUNCATE)",
    )
    contents = bytearray(path.read_bytes())
    at = contents.rindex(b"@example.org") // 4096 * 4096
    contents[at : at + 64] = b"\xff" * 64
    path.write_bytes(contents)
    lines = told(hesper, status=FAILED)
    assert any("SQLite finds in the database: " in line or "the database is damaged" in line for line in lines), lines


def test_a_half_restored_folder(hesper: Hesper, tmp_path: Path) -> None:
    (tmp_path / "data/restoring").mkdir(parents=True)
    (tmp_path / "data").chmod(0o700)
    assert "wrong: data is only partly restored. Run hesper restore again with the same backup." in told(hesper, status=FAILED)


def test_a_clock_that_went_back(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    execute(
        tmp_path,
        "INSERT INTO edits (scope, object, sequence, pushed_at, is_servers, body)"
        " SELECT id, randomblob(16), 1, 4102444800000, 0, '[]' FROM scopes",
    )
    lines = told(hesper, status=FAILED)
    assert any(line.startswith("wrong: The last change was received at 2100-01-01T00:00:00.000Z") for line in lines), lines


def clock(seconds: float) -> bytes:
    """The clock of device 0xad, the given number of seconds from now."""
    return (int((time.time() + seconds) * 1000) << 16).to_bytes(8, "big") + (0xAD).to_bytes(8, "big")


def test_clocks_that_are_ahead(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    def ahead() -> list[str]:
        return [line for line in told(hesper) if "ahead of this machine's" in line]

    for seconds, distance in [(-9, None), (280, None), (330, "5 minutes"), (7230, "2 hours"), (20 * 365.25 * 86400 + 60, "7305 days")]:
        execute(tmp_path, f"UPDATE scopes SET greatest_clock = x'{clock(seconds).hex()}'")
        lines = ahead()
        assert len(lines) == (distance is not None), lines
        if distance:
            year = time.gmtime(time.time() + seconds).tm_year
            assert lines[0].startswith(f"warning: {ada} has an edit dated {year}-"), lines
            assert f", {distance} ahead of this machine's clock, from device 00000000000000ad. " in lines[0]
    for index in range(12):
        execute(
            tmp_path,
            f"INSERT INTO scopes (digest, greatest_clock) VALUES (zeroblob(32), x'{clock(1000 + index).hex()}');"
            "INSERT INTO accounts (id, email, email_key, password_hash, creation_date)"
            f" VALUES (zeroblob(15) || x'{index:02x}', '{index}@x', '{index}@x', 'x', 0);"
            f"INSERT INTO memberships (account, scope) SELECT zeroblob(15) || x'{index:02x}', max(id) FROM scopes;",
        )
    lines = ahead()
    assert len(lines) == 11 and ada in lines[0] and "11@x" in lines[1]
    assert lines[-1] == "warning: More than 10 accounts have edits dated ahead of this machine's clock."


@pytest.mark.parametrize(("days", "line"), [(90, "ok: The certificate matches"), (5, "warning: The certificate cert.pem expires at ")])
def test_certificates(hesper: Hesper, ada: str, tmp_path: Path, days: int, line: str) -> None:
    for name in ("cert", "other"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
             "-days", str(days), "-keyout", f"{name}.key", "-out", f"{name}.pem"],
            cwd=tmp_path, check=True, capture_output=True, timeout=60,
        )  # fmt: skip
    lines = told(hesper, HESPER_TLS_CERTIFICATE="cert.pem", HESPER_TLS_KEY="cert.key")
    assert any(found.startswith(line) for found in lines), lines
    mixed = told(hesper, status=FAILED, HESPER_TLS_CERTIFICATE="cert.pem", HESPER_TLS_KEY="other.key")
    assert any(found.startswith("wrong: Cannot use the certificate and key: ") for found in mixed), mixed


def test_an_unreadable_settings_file(hesper: Hesper) -> None:
    done = hesper("doctor", "--config", "nowhere.json")
    assert (done.returncode, done.stdout) == (WRONG_SETTING, "")


def test_a_self_signed_certificate(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    own = {"HESPER_TLS": "self-signed"}
    assert "ok: The server creates a certificate authority and a certificate in data/tls when it starts." in told(hesper, **own)
    assert not (tmp_path / "data/tls").exists(), "doctor created files"
    with serving(tmp_path, **own):
        pass
    lines = told(hesper, **own)
    assert any(line.startswith("ok: The self-signed certificate for localhost, 127.0.0.1") for line in lines), lines
    everywhere = told(hesper, **own, HESPER_HOST="0.0.0.0")
    assert any(line.startswith("warning: The certificate possibly lacks the name or address that clients use") for line in everywhere)
    moved = told(hesper, **own, HESPER_HOST="fd00::7")
    assert "ok: The server renews the certificate when it starts. The authority is unchanged." in moved
    stranger = told(hesper, status=FAILED, **own, HESPER_URL="https://notes.example.org")
    wrong = [line for line in stranger if line.startswith("wrong: ")]
    assert any("it was created without the name notes.example.org" in line for line in wrong), stranger
    authority = tmp_path / "data/tls/authority.pem"
    authority.rename(tmp_path / "moved.pem")
    lost = told(hesper, status=FAILED, **own)
    line = "wrong: The certificate authority in data/tls cannot be used: authority.pem is missing. "
    assert any(found.startswith(line) for found in lost), lost
    (tmp_path / "moved.pem").rename(authority)
    (tmp_path / "data/tls/authority.key").chmod(0o644)
    line = "data/tls/authority.key is accessible to other users (mode 644). Run chmod go= data/tls/authority.key"
    assert f"wrong: {line}" in told(hesper, status=FAILED, **own)
