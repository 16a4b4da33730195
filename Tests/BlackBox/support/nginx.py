"""Runs nginx in front of a server, configured as docs/https.md describes."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import requests
from client import ROOT, Server, free_ports
from page import Page
from secure import make_certificate

# On Debian, nginx is in a folder that only root has in PATH.
PROGRAM = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


class Nginx:
    """nginx with the server blocks of docs/https.md, whose ports, names and files are replaced by those of the test."""

    def __init__(self, server: Server, folder: Path):
        assert PROGRAM, "nginx is not installed: Tools/set-up.sh test"
        self.folder = folder
        make_certificate(folder)
        self.certificate = str(folder / "certificate.pem")
        self.plain_port, self.port = free_ports(2)
        self.url = f"https://127.0.0.1:{self.port}"
        blocks = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/https.md").read_text(), re.DOTALL)[1]
        for written, here in [
            ("127.0.0.1:8080", f"127.0.0.1:{server.port}"),
            ("listen 80;", f"listen 127.0.0.1:{self.plain_port};"),
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("/etc/ssl/notes/fullchain.pem", self.certificate),
            ("/etc/ssl/notes/privkey.pem", str(folder / "key.pem")),
        ]:
            assert blocks.count(written) == 1, written
            blocks = blocks.replace(written, here)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        (folder / "nginx.conf").write_text(
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\n"
            f"{'user root;' if Path('/root').owner() == Path(folder).owner() else ''}\n"
            f"events {{ worker_connections 256; }}\nhttp {{\naccess_log off;\n{paths}{blocks}}}\n"
        )
        log = f"{folder}/error.log"
        self.process = subprocess.Popen([PROGRAM, "-c", f"{folder}/nginx.conf", "-p", str(folder), "-e", log])
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.page().get("/readyz").status_code == 200:
                    return
            except requests.ConnectionError:
                time.sleep(0.05)
        self.close()
        raise RuntimeError(f"nginx did not start: {(self.folder / 'error.log').read_text()}")

    def page(self) -> Page:
        page = Page(self.url)
        page.session.verify = self.certificate
        return page

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)
