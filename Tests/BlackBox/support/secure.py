"""Runs servers that serve HTTPS themselves."""

import os
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
from client import Client, Server, free_port


def make_certificate(folder: Path) -> None:
    """Creates a certificate for 127.0.0.1 and its key in the folder, or replaces them.

    The files are replaced one after the other, as ACME clients do.
    """
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 "
        "-addext subjectAltName=IP:127.0.0.1 -keyout key.new -out certificate.new".split(),
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    for name in ("certificate", "key"):
        os.replace(folder / f"{name}.new", folder / f"{name}.pem")


class TLSServer(Server):
    """A server with a self-made certificate. Plain HTTP is on a second port, which redirects to HTTPS."""

    def __init__(self, folder: Path, arguments: list[str] = ()):
        self.folder = folder
        make_certificate(folder)
        self.plain_port = free_port()
        files = ["--tls-certificate", self.certificate, "--tls-key", str(folder / "key.pem")]
        super().__init__(arguments=[*files, *arguments], environment={"HESPER_HTTP_PORT": str(self.plain_port)})

    @property
    def certificate(self) -> str:
        return str(self.folder / "certificate.pem")

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def wait_until_ready(self, seconds: float = 30) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if Client(self.url).get("/readyz", verify=self.certificate, timeout=2).status_code == 200:
                    return True
            except OSError:  # no listener, or no certificate yet
                time.sleep(0.02)
        return False

    def anonymous_client(self) -> Client:
        """A client that trusts the certificate and is not signed in."""
        client = Client(self.url)
        client.session.verify = self.certificate
        return client

    def client(self, **account) -> Client:
        client = self.anonymous_client()
        client.sign_up(**account)
        return client

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.certificate)

    def http2(self, client: Client | None = None) -> httpx.Client:
        """A single HTTP/2 connection, signed in as `client`."""
        headers = {"Authorization": f"Bearer {client.token}"} if client else {}
        return httpx.Client(
            base_url=self.url, headers=headers, http1=False, http2=True, verify=self.context(), timeout=30,
            trust_env=False, limits=httpx.Limits(max_connections=1),
        )  # fmt: skip

    def connect(self, version: ssl.TLSVersion, protocols: list[str], ciphers: str = "DEFAULT") -> ssl.SSLSocket:
        context = self.context()
        context.set_ciphers(f"{ciphers}@SECLEVEL=0")  # otherwise the client itself refuses old versions
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(protocols)
        return self.handshake(context)

    def handshake(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        return context.wrap_socket(plain, server_hostname="127.0.0.1")


class SelfSignedServer(TLSServer):
    """A server that generates its certificate in its data folder. `certificate` is the certificate of its authority."""

    def __init__(self, folder: Path, arguments: list[str] = (), environment: dict[str, str] | None = None):
        self.folder, self.plain_port = folder, free_port()
        Server.__init__(
            self, data=folder / "data", arguments=["--tls", "self-signed", *arguments],
            environment={"HESPER_HTTP_PORT": str(self.plain_port), **(environment or {})},
        )  # fmt: skip

    @property
    def tls(self) -> Path:
        return self.data / "tls"

    @property
    def certificate(self) -> str:
        return str(self.tls / "authority.pem")
