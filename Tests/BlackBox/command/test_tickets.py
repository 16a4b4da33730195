"""Links and codes for single use: what `hesper account` prints, and their use."""

import re
import subprocess
from pathlib import Path

import pytest
from client import PASSWORD, Client, ErrorResponse, Server, plain_session
from database import dump
from runner import WRONG_SETTING, WRONG_USAGE, Hesper, serving

CODE = re.compile(r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}")
NEW_PASSWORD = "another horse, another battery"


def code(printed: subprocess.CompletedProcess) -> str:
    assert (printed.returncode, printed.stderr) == (0, ""), printed.stderr
    codes = set(CODE.findall(printed.stdout))
    assert len(codes) == 1, printed.stdout
    return codes.pop()


def test_password_reset(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        phone = Client(url)
        phone.sign_in(ada, PASSWORD)
        printed = hesper("account", "reset-password", "ADA@example.org", "--url", url)
        link = next(line for line in printed.stdout.splitlines() if line.startswith("http"))
        assert link == f"{url}/reset-password?code={code(printed)}"
        assert phone.get("/v1/account").status_code == 200, "the password was changed before the link was used"
        session = plain_session()
        page = session.get(link)
        assert (page.status_code, page.headers["Cache-Control"]) == (200, "no-store")
        form = {"code": code(printed), "password": NEW_PASSWORD}
        assert session.post(link.split("?")[0], data=form).status_code == 200
        assert phone.get("/v1/account").status_code == 401
        phone.sign_in(ada, NEW_PASSWORD)
        assert session.post(link.split("?")[0], data=form | {"password": "12345678"}).status_code == 403
        # An app uses only the code. Case and separators do not matter.
        second = hesper("account", "reset-password", ada)
        assert "http://127.0.0.1:8080/reset-password" in second.stdout
        body = {"code": code(second).replace("-", " ").lower(), "newPassword": PASSWORD}
        assert Client(url).post("/v1/passwords", body).status_code == 204
        phone.sign_in(ada, PASSWORD)


def test_an_invitation(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with serving(tmp_path, "--sign-up", "invite", HESPER_URL="https://notes.example.org") as (url, _):
        printed = hesper("account", "invite", "eve@example.org", HESPER_URL="https://notes.example.org/")
        link = printed.stdout.splitlines()[-1]
        assert link == f"https://notes.example.org/sign-up?invitation={code(printed)}"
        eve = Client(url)
        with pytest.raises(ErrorResponse, match="sign-up-closed"):
            eve.sign_up("eve@example.org")
        body = {"email": "mallory@example.org", "password": PASSWORD, "deviceName": "x", "invitation": code(printed)}
        assert eve.post("/v1/accounts", body).json()["slug"] == "forbidden"
        assert eve.post("/v1/accounts", body | {"email": "Eve@example.org"}).status_code == 201
        assert eve.post("/v1/accounts", body | {"email": "eve2@example.org"}).json()["slug"] == "sign-up-closed"
        assert ada in hesper("account", "list").stdout


def test_codes_are_not_stored_or_logged(fresh_server: Server) -> None:
    fresh_server.client(email="ada@example.org")
    codes = [
        code(fresh_server.command("account", "reset-password", "ada@example.org")),
        code(fresh_server.command("account", "invite")),
    ]
    kept = dump(fresh_server)
    assert "password-reset" in kept and "invitation" in kept
    for each in codes:
        assert each not in kept and each.replace("-", "") not in kept
    assert fresh_server.client().post("/v1/passwords", {"code": codes[0], "newPassword": PASSWORD}).status_code == 204
    for each in codes:
        assert each not in fresh_server.log


@pytest.mark.parametrize("url", ["notes.example.org", "https://notes.example.org/hesper", "javascript:alert(1)"])
def test_invalid_urls_for_links(hesper: Hesper, ada: str, url: str) -> None:
    ended = hesper("account", "reset-password", ada, "--url", url)
    assert (ended.returncode, ended.stdout) == (WRONG_SETTING, "")
    assert url in ended.stderr and "--url" in ended.stderr


def test_an_invitation_for_an_invalid_address(hesper: Hesper, ada: str) -> None:
    ended = hesper("account", "invite", f"{ada}, eve@example.org")
    assert ended.returncode == WRONG_USAGE
    assert "is not an e-mail address" in ended.stderr
