"""Runs SeaweedFS as an S3 server, on free loopback ports with data below .build/."""

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests
from client import LOGS, free_ports

KEY, SECRET = "hesper", "secret-of-these-tests"
SERVERS = [f"{server}.port{kind}" for server in ("s3", "master", "volume", "filer") for kind in ("", ".grpc")]


class SeaweedFS:
    def __init__(self):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="seaweed-", dir=LOGS))
        identity = {"name": "hesper", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        self.process: subprocess.Popen | None = None
        for _ in range(3):
            # All ports are set explicitly. The default gRPC port is the HTTP port plus 10,000, which may exceed 65535.
            self.ports = dict(zip(SERVERS, free_ports(len(SERVERS))))
            self.port = self.ports["s3.port"]
            if self.start():
                return
        log = (self.folder / "log").read_text(errors="replace")
        self.close()
        raise RuntimeError(f"SeaweedFS did not start; the end of its log:\n{log[-4000:]}")

    def start(self) -> bool:
        """Whether it is ready within a minute. False immediately if the process ends, for example because a port was taken."""
        (self.folder / "data").mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    Path(sys.executable).parent / "weed", "server", "-ip", "127.0.0.1", "-ip.bind", "127.0.0.1",
                    "-dir", self.folder / "data", "-filer", "-s3", "-s3.config", self.folder / "s3.json",
                    "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false", "-volume.max", "20",
                    "-master.volumeSizeLimitMB", "256", *(f"-{server}={port}" for server, port in self.ports.items()),
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if requests.get(f"http://127.0.0.1:{self.port}/", timeout=2).status_code in (200, 403):
                    return True
            except requests.RequestException:
                time.sleep(0.2)
        self.stop()
        return False

    def environment(self, **other: str) -> dict[str, str]:
        """The environment of a Hesper server that stores attachments in the test bucket."""
        return {
            "HESPER_ATTACHMENTS": "s3://hesper-tests/prefix", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", **other,
        }  # fmt: skip

    def client(self):
        """An S3 client with the test credentials."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", aws_access_key_id=KEY, aws_secret_access_key=SECRET,
            region_name="us-east-1", config=Config(retries={"max_attempts": 10}),
        )  # fmt: skip

    def make_bucket(self) -> None:
        self.client().create_bucket(Bucket="hesper-tests")

    def contents(self) -> list[bytes]:
        """The content of all objects in the bucket."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="hesper-tests")
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        found = []
        for key in keys:
            # The object may have been removed since the listing.
            with contextlib.suppress(client.exceptions.NoSuchKey):
                found.append(client.get_object(Bucket="hesper-tests", Key=key)["Body"].read())
        return found

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
