"""Invalid settings are reported with their source, and the server does not start."""

from pathlib import Path

import pytest
from runner import WRONG_SETTING, WRONG_USAGE, Hesper

LEVELS = "trace, debug, info, notice, warning, error, critical"
NO_URL = "must be a scheme, host and port, such as https://notes.example.org"
NO_RATE = "must be none or a number from 60 to 1000000"
NO_TLS = "redirecting plain HTTP requires a certificate. Set --tls-certificate, or --tls self-signed, too."
NO_RANGE = "must be addresses such as 127.0.0.1, or networks such as 10.0.0.0/8 or fd00::/8"
NO_ORIGIN = "must be origins (scheme, host and port) such as https://notes.example.org"


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["--port", "abc"], {}, '--port: must be a port from 0 to 65535, not "abc".'),
        ([], {"HESPER_PORT": "70000"}, "HESPER_PORT: must be a port from 0 to 65535, not 70000."),
        (["--sign-up", "maybe"], {}, '--sign-up: must be one of open, invite, closed, not "maybe".'),
        (["--url", "notes.example.org"], {}, f'--url: {NO_URL}, not "notes.example.org".'),
        ([], {"HESPER_REQUESTS_PER_MINUTE": "9"}, f'HESPER_REQUESTS_PER_MINUTE: {NO_RATE}, not "9".'),
        (["--password-cost", "9"], {}, "--password-cost: must be a number from 10 to 20, not 9."),
        ([], {"HESPER_LOG_LEVEL": "loud"}, f'HESPER_LOG_LEVEL: must be one of {LEVELS}, not "loud".'),
        (["--mail-from", "a@b.c"], {}, "--mail-from: a sender address requires a command for sending. Set --sendmail too."),
        (["--public", "nowhere"], {}, "--public: nowhere is not a folder."),
        (["--config", "nowhere.json"], {}, "Cannot read the settings file nowhere.json: No such file or directory."),
        (["--tls-key", "/dev/null"], {}, "--tls-key: a key requires its certificate. Set --tls-certificate too."),
        (["--tls-certificate", "nowhere"], {}, "--tls-certificate: cannot read the file nowhere."),
        (["--http-port", "80"], {}, f"--http-port: {NO_TLS}"),
        (["--tls", "always"], {}, '--tls: must be self-signed, not "always".'),
        (
            ["--tls", "self-signed", "--tls-certificate", "nowhere"], {},
            "--tls: a self-signed certificate cannot be combined with certificate files. Remove this setting or --tls-certificate.",
        ),
        (
            ["--tls", "self-signed"], {"HESPER_URL": "http://notes.local"},
            "HESPER_URL: must start with https:// for a server with a certificate, not http://notes.local.",
        ),
        ([], {"HESPER_TRUSTED_PROXIES": "127.0.0.1,10.0.0.1/8"}, f'HESPER_TRUSTED_PROXIES: {NO_RANGE}, not "10.0.0.1/8".'),
        ([], {"HESPER_WEBHOOK_NETWORKS": "localhost"}, f'HESPER_WEBHOOK_NETWORKS: {NO_RANGE}, not "localhost".'),
        ([], {"HESPER_CORS_ORIGINS": "https://a.example,b.example"}, f'HESPER_CORS_ORIGINS: {NO_ORIGIN}, not "b.example".'),
    ],
)
def test_invalid_settings(hesper: Hesper, tmp_path: Path, arguments, environment, message) -> None:
    ended = hesper("serve", *arguments, **environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (WRONG_SETTING, "", f"hesper: {message}\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ('{"prot": 8080}', "data/hesper.json: Unknown setting prot. The settings are host, port, "),
        ('{"port": "8080"}', 'data/hesper.json, port: must be a port from 0 to 65535, not "8080".'),
        ('{"data": "elsewhere"}', "data/hesper.json, data: cannot be set in a file in the data folder."),
        ('{"port": 1,}', "data/hesper.json: "),
    ],
)
def test_invalid_settings_files(hesper: Hesper, tmp_path: Path, json: str, message: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/hesper.json").write_text(json)
    ended = hesper("serve")
    assert ended.returncode == WRONG_SETTING
    assert ended.stderr.startswith(f"hesper: {message}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--prot", "1"], ["--port"], ["now"]])
def test_invalid_command_lines(hesper: Hesper, arguments: list[str]) -> None:
    ended = hesper("serve", *arguments)
    assert ended.returncode == WRONG_USAGE
    assert ended.stderr.startswith("Error: ")


def test_invalid_certificate_files(hesper: Hesper, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")
    ended = hesper("serve", "--tls-key", "key.pem", "--tls-certificate", "key.pem", "--port", "0")
    assert ended.returncode == WRONG_SETTING
    assert "certificate" in ended.stderr


@pytest.mark.parametrize("arguments", [[], ["serve"], ["account"], ["account", "create"], ["check"], ["import"], ["export"]])
def test_help(hesper: Hesper, arguments: list[str]) -> None:
    done = hesper(*arguments, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("OVERVIEW: ")


def test_version(hesper: Hesper) -> None:
    assert hesper("--version").stdout.startswith("hesper 0.")
