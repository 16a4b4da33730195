"""A wrong setting is named with where it stands, and nothing starts."""

from pathlib import Path

import pytest
from runner import WRONG_SETTING, WRONG_USAGE, Hesper

LEVELS = "trace, debug, info, notice, warning, error, critical"
NO_URL = "is not scheme, host and port alone, such as https://notes.example.org."
NO_RATE = "none, or a number from 60 to 1000000 is wanted"
NO_TLS = "plain HTTP is sent on to TLS, which needs a certificate: set --tls-certificate, or --tls self-signed, too."
NO_RANGE = "is neither an address, such as 127.0.0.1, nor a network, such as 10.0.0.0/8 or fd00::/8."
NO_ORIGIN = "is not an origin such as https://notes.example.org: scheme, host and port alone."


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["--port", "abc"], {}, '--port: a port from 0 to 65535 is wanted, not "abc".'),
        ([], {"HESPER_PORT": "70000"}, "HESPER_PORT: a port from 0 to 65535 is wanted, not 70000."),
        (["--sign-up", "maybe"], {}, '--sign-up: one of open, invite, closed is wanted, not "maybe".'),
        (["--url", "notes.example.org"], {}, f'--url: "notes.example.org" {NO_URL}'),
        ([], {"HESPER_REQUESTS_PER_MINUTE": "9"}, f'HESPER_REQUESTS_PER_MINUTE: {NO_RATE}, not "9".'),
        (["--password-cost", "13"], {}, "--password-cost: a number from 14 to 20 is wanted, not 13."),
        ([], {"HESPER_LOG_LEVEL": "loud"}, f'HESPER_LOG_LEVEL: one of {LEVELS} is wanted, not "loud".'),
        (["--mail-from", "a@b.c"], {}, "--mail-from: a sender needs a command that sends: set --sendmail too."),
        (["--public", "nowhere"], {}, "--public: nowhere is not a folder."),
        (["--config", "nowhere.json"], {}, "nowhere.json: the settings file cannot be read: it is not there."),
        (["--tls-key", "/dev/null"], {}, "--tls-key: a key needs its certificate: set --tls-certificate too."),
        (["--tls-certificate", "nowhere"], {}, "--tls-certificate: the file nowhere cannot be read."),
        (["--http-port", "80"], {}, f"--http-port: {NO_TLS}"),
        (["--tls", "always"], {}, '--tls: self-signed is wanted, not "always".'),
        (
            ["--tls", "self-signed", "--tls-certificate", "nowhere"], {},
            "--tls: a certificate is made here or comes from files, not both: leave out this, or --tls-certificate.",
        ),
        (
            ["--tls", "self-signed"], {"HESPER_URL": "http://notes.local"},
            "HESPER_URL: a server with a certificate is reached at https://…, not at http://notes.local.",
        ),
        ([], {"HESPER_TRUSTED_PROXIES": "127.0.0.1,10.0.0.1/8"}, f'HESPER_TRUSTED_PROXIES: "10.0.0.1/8" {NO_RANGE}'),
        ([], {"HESPER_CORS_ORIGINS": "https://a.example,b.example"}, f'HESPER_CORS_ORIGINS: "b.example" {NO_ORIGIN}'),
    ],
)
def test_wrong_settings(hesper: Hesper, tmp_path: Path, arguments, environment, message) -> None:
    ended = hesper("serve", *arguments, **environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (WRONG_SETTING, "", f"hesper: {message}\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ('{"prot": 8080}', "data/hesper.json: prot is no setting; there are host, port, "),
        ('{"port": "8080"}', 'data/hesper.json, port: a port from 0 to 65535 is wanted, not "8080".'),
        ('{"data": "elsewhere"}', "data/hesper.json, data: a file in the data folder cannot say where that is."),
        ('{"port": 1,}', "data/hesper.json: "),
    ],
)
def test_wrong_files(hesper: Hesper, tmp_path: Path, json: str, message: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/hesper.json").write_text(json)
    ended = hesper("serve")
    assert ended.returncode == WRONG_SETTING
    assert ended.stderr.startswith(f"hesper: {message}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--prot", "1"], ["--port"], ["now"]])
def test_wrong_command_lines(hesper: Hesper, arguments: list[str]) -> None:
    ended = hesper("serve", *arguments)
    assert ended.returncode == WRONG_USAGE
    assert ended.stderr.startswith("Error: ")


def test_files_of_tls_that_do_not_work_together(hesper: Hesper, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")
    ended = hesper("serve", "--tls-key", "key.pem", "--tls-certificate", "key.pem", "--port", "0")
    assert ended.returncode == WRONG_SETTING
    assert "certificate" in ended.stderr


@pytest.mark.parametrize("arguments", [[], ["serve"], ["account"], ["account", "create"], ["check"], ["import"], ["export"]])
def test_help(hesper: Hesper, arguments: list[str]) -> None:
    told = hesper(*arguments, "--help")
    assert told.returncode == 0
    assert told.stdout.startswith("OVERVIEW: ")


def test_version(hesper: Hesper) -> None:
    assert hesper("--version").stdout.startswith("hesper 0.")
