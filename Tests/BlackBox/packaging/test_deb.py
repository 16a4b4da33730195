"""The Debian package built by `make deb`: installed, upgraded, removed and purged on a machine without the toolchain.

systemd is not PID 1 there, so the service is started directly, and the unit is checked with systemd-analyze.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import BINARY, PASSWORD, ROOT, Client, free_port, plain_session
from machine import Machine

pytestmark = [pytest.mark.long, pytest.mark.thorough]

AS_HESPER = ["setpriv", "--reuid=hesper", "--regid=hesper", "--clear-groups"]
USED = "hesper: Using the settings of the service: /usr/lib/systemd/system/hesper.service, /etc/default/hesper.\n"
FOLDERS = ["/usr", "/lib/systemd", "/etc", "/var/lib/hesper", "/var/lib/systemd"]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="installing a package takes root")


@pytest.fixture(scope="module")
def package() -> Path:
    done = subprocess.run(["Tools/deb.sh", "--no-build"], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return ROOT / done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def newer(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same package with a later version."""
    folder = tmp_path_factory.mktemp("newer")
    subprocess.run(["dpkg-deb", "--raw-extract", package, folder / "root"], check=True, timeout=120)
    control = folder / "root/DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 99.0.0", control.read_text()))
    subprocess.run(
        ["dpkg-deb", "-Znone", "--root-owner-group", "--build", folder / "root", folder / "hesper.deb"],
        check=True,
        timeout=120,
        stdout=subprocess.DEVNULL,
    )
    return folder / "hesper.deb"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    if machine.error:
        pytest.skip(f"cannot create an isolated machine: {machine.error}")
    yield machine
    machine.close()


def installed_files(machine: Machine) -> set[str]:
    """Files of the package in all folders where it may have left some."""
    found = machine.run("find", *FOLDERS, "-xdev", "-path", "*hesper*", "-not", "-path", "*/swift/*").stdout.splitlines()
    return {path for path in found if not path.startswith(("/usr/src", "/usr/local"))}


def field(package: Path, name: str) -> str:
    done = subprocess.run(["dpkg-deb", "--field", package, name], capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def test_package_content(package: Path) -> None:
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True, timeout=60).stdout.split()[1]
    assert field(package, "Version") == version
    for library in ("libsqlite3-0", "libarchive13", "libxml2", "libpq5", "libc6"):
        assert f"{library} (>= " in field(package, "Depends")
    listed = subprocess.run(["dpkg-deb", "--contents", package], capture_output=True, text=True, timeout=60).stdout
    modes = {line.split()[5]: (line.split()[0], line.split()[1]) for line in listed.splitlines()}
    assert modes["./usr/bin/hesper"][0].startswith("l")
    assert modes["./usr/lib/hesper/bin/hesper"] == ("-rwxr-xr-x", "root/root")
    assert modes["./etc/default/hesper"] == ("-rw-------", "root/root")
    assert modes["./etc/fail2ban/filter.d/hesper.conf"] == ("-rw-r--r--", "root/root")
    assert "./usr/share/hesper/Public/index.html" in modes
    assert "./lib/systemd/system/hesper.service" in modes
    # No library of Debian is included, and all files belong to root.
    assert not [path for path in modes if re.search(r"/lib(c|sqlite3|pq|ssl|archive)\.so", path)]
    assert all(owner == "root/root" for _, owner in modes.values())


@needs_root
def test_install_upgrade_remove_purge(package: Path, newer: Path, machine: Machine) -> None:
    before = installed_files(machine)
    port = free_port()
    machine.check("dpkg", "--install", machine.put(package))
    assert machine.check("stat", "-c", "%U:%G %a", "/var/lib/hesper") == "hesper:hesper 700\n"
    assert machine.check("stat", "-c", "%U:%G %a", "/etc/default/hesper") == "root:hesper 640\n"
    assert machine.check("hesper", "--version").startswith("hesper ")
    links = machine.check("find", "/etc/systemd/system", "-name", "hesper.service")
    assert links == "/etc/systemd/system/multi-user.target.wants/hesper.service\n"
    machine.check("md5sum", "--quiet", "--check", "/var/lib/dpkg/info/hesper.md5sums")

    # Settings and notes survive an upgrade.
    machine.check("sh", "-c", "echo HESPER_SIGN_UP=open >> /etc/default/hesper")
    with machine.serving(port):
        url = f"http://127.0.0.1:{port}"
        assert "<title>" in plain_session().get(url, timeout=10).text
        assert plain_session().get(f"{url}/openapi.yaml", timeout=10).status_code == 200
        client = Client(url)
        client.sign_up("ada@example.org")
        assert client.post("/v1/notes", {"text": "Milk"}).status_code == 201
    machine.check("dpkg", "--install", machine.put(newer))
    assert "HESPER_SIGN_UP=open" in machine.check("cat", "/etc/default/hesper")
    with machine.serving(port):
        assert [note["text"] for note in client.get("/v1/notes").json()["notes"]] == ["Milk"]
    checked = machine.check(*AS_HESPER, "hesper", "check")
    assert checked == "Checked 1 account: no problems found.\n"

    machine.check("dpkg", "--remove", "hesper")
    assert machine.run("hesper", "--version").returncode != 0
    assert "/etc/default/hesper" in installed_files(machine)
    assert machine.run("test", "-s", "/var/lib/hesper/hesper.sqlite").returncode == 0
    machine.check("dpkg", "--install", machine.put(newer))
    done = machine.run("dpkg", "--purge", "hesper")
    assert done.returncode == 0
    assert "the notes are still in /var/lib/hesper" in done.stderr
    assert {path.split("/")[3] for path in installed_files(machine) - before} == {"hesper"}
    assert machine.run("test", "-s", "/var/lib/hesper/hesper.sqlite").returncode == 0
    assert "hesper" in machine.check("getent", "passwd", "hesper")

    # If no notes are left, purging removes everything.
    machine.check("dpkg", "--install", machine.put(newer))
    machine.check("sh", "-c", "rm -r /var/lib/hesper/*")
    machine.check("dpkg", "--purge", "hesper")
    assert installed_files(machine) == before
    assert machine.run("getent", "passwd", "hesper").returncode != 0


@needs_root
def test_an_account_from_the_command_line(package: Path, machine: Machine) -> None:
    """As in the README. The files belong to the service's user."""
    machine.check("dpkg", "--install", machine.put(package))
    made = machine.run(*AS_HESPER, "hesper", "account", "create", "ada@example.org", stdin=PASSWORD + "\n")
    assert made.returncode == 0, made.stderr
    assert machine.check("stat", "-c", "%U %a", "/var/lib/hesper/hesper.sqlite") == "hesper 600\n"


@needs_root
def test_commands_use_the_settings_of_the_service(package: Path, machine: Machine) -> None:
    machine.check("dpkg", "--install", machine.put(package))
    settings = "HESPER_URL='https://notes.example.org'\nHESPER_TRUSTED_PROXIES=127.0.0.1 \nHESPER_PROT=1\n"
    machine.check("sh", "-c", f"cat >> /etc/default/hesper <<'END'\n{settings}END")
    machine.check(*AS_HESPER, "hesper", "account", "create", "ada@example.org", stdin=PASSWORD + "\n")
    invited = machine.run(*AS_HESPER, "hesper", "account", "invite")
    assert (invited.returncode, invited.stderr) == (0, USED)
    assert "\nhttps://notes.example.org/sign-up?invitation=" in invited.stdout
    told = machine.run(*AS_HESPER, "hesper", "doctor")
    assert (told.returncode, told.stderr) == (0, USED), told.stdout
    assert "ok: The data folder /var/lib/hesper is private and has enough free space." in told.stdout.splitlines()
    assert "warning: Unknown setting HESPER_PROT." in told.stdout.splitlines()
    elsewhere = machine.check(*AS_HESPER, "hesper", "account", "invite", "--url", "https://other.example.org")
    assert "\nhttps://other.example.org/" in elsewhere

    # With other data named explicitly or in the current folder, the service's settings are not used.
    machine.check(*AS_HESPER, "mkdir", "/tmp/mine")
    here = ["hesper", "account", "list"]
    for words in (["env", "HESPER_DATA=/tmp/mine", *here], [*here, "--data", "/tmp/mine"]):
        other = machine.run(*AS_HESPER, *words)
        assert "/tmp/mine contains no hesper.sqlite" in other.stderr and "service" not in other.stderr
    machine.check(*AS_HESPER, "mkdir", "/tmp/mine/data")
    beside = machine.run(*AS_HESPER, "sh", "-c", "cd /tmp/mine && hesper account list")
    assert beside.stderr == "hesper: data contains no hesper.sqlite: set the data folder with --data or HESPER_DATA.\n"
    built = "mkdir -p /tmp/built/bin && cp -r /usr/lib/hesper/. /tmp/built && cd /tmp/built && bin/hesper account list"
    assert "data contains no hesper.sqlite" in machine.run(*AS_HESPER, "sh", "-c", built).stderr

    # Other users, including root, are refused with a hint, because files of two owners would mix.
    for user in ([], ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]):
        refused = machine.run(*user, "hesper", "account", "list")
        assert (refused.returncode, refused.stdout) == (78, "")
        assert "sudo -u hesper hesper" in refused.stderr
    assert machine.run("setpriv", "--reuid=nobody", "--clear-groups", "cat", "/etc/default/hesper").returncode != 0


@needs_root
def test_permissions_of_the_settings_file(package: Path, newer: Path, machine: Machine) -> None:
    """An upgrade makes the file readable for the service's user, unless an administrator has set other permissions."""
    first = machine.put(package)
    machine.check("dpkg", "--install", first)
    for before, after in [
        ("root:root 600", "root:hesper 640"),  # as earlier packages had it
        ("root:hesper 600", "root:hesper 600"),
        ("root:root 400", "root:root 400"),
        ("root:hesper 644", "root:hesper 640"),
    ]:
        owner, mode = before.split()
        machine.check("sh", "-c", f"chown {owner} /etc/default/hesper && chmod {mode} /etc/default/hesper")
        machine.check("dpkg", "--install", first)
        assert machine.check("stat", "-c", "%U:%G %a", "/etc/default/hesper") == after + "\n"
    machine.check("sh", "-c", "chown root:root /etc/default/hesper && chmod 600 /etc/default/hesper")
    refused = machine.run(*AS_HESPER, "hesper", "account", "list")
    assert refused.returncode == 78
    assert "sudo chgrp hesper /etc/default/hesper && sudo chmod 640 /etc/default/hesper" in refused.stderr
    machine.check("dpkg", "--install", machine.put(newer))
    assert machine.check("stat", "-c", "%U:%G %a", "/etc/default/hesper") == "root:hesper 640\n"
    machine.check("dpkg-statoverride", "--update", "--add", "root", "root", "600", "/etc/default/hesper")
    machine.check("dpkg", "--install", machine.put(newer))
    assert machine.check("stat", "-c", "%U:%G %a", "/etc/default/hesper") == "root:root 600\n"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit(tmp_path: Path) -> None:
    """The unit is valid, and systemd's security rating is good."""
    unit = tmp_path / "hesper.service"
    text = (ROOT / "Packaging/hesper.service").read_text()
    unit.write_text(text.replace("/usr/bin/hesper", str(BINARY)))
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    assert "hesper.service" not in verified.stderr, verified.stderr
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit], capture_output=True, text=True, timeout=60
    )
    assert judged.returncode == 0, judged.stdout[-2000:]
