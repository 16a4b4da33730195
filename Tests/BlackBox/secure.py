"""A server that speaks TLS itself."""

import socket
import ssl
import subprocess
import time
from pathlib import Path

import requests
from client import Client, Server


class TLSServer(Server):
    """The same server with a certificate that it signed itself."""

    def __init__(self, folder: Path):
        subprocess.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 "
            "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out certificate.pem".split(),
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        self.certificate = str(folder / "certificate.pem")
        super().__init__(arguments=["--tls-certificate", self.certificate, "--tls-key", str(folder / "key.pem")])

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def wait_until_ready(self, seconds: float = 30) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if Client(self.url).get("/readyz", verify=self.certificate, timeout=2).status_code == 200:
                    return True
            except requests.ConnectionError:
                time.sleep(0.02)
        return False

    def anybody(self) -> Client:
        """Who knows the certificate, and is not signed in."""
        client = Client(self.url)
        client.session.verify = self.certificate
        return client

    def client(self, **account) -> Client:
        client = self.anybody()
        client.sign_up(**account)
        return client

    def connect(self, version: ssl.TLSVersion, protocols: list[str]) -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_ciphers("DEFAULT@SECLEVEL=0")  # else this side refuses the old versions itself
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(protocols)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        return context.wrap_socket(plain, server_hostname="127.0.0.1")
