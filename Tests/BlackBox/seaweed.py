"""A server that speaks S3: SeaweedFS, on free loopback ports, in a folder of its own below .build/."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests
from client import LOGS, free_port

KEY, SECRET = "hesper", "secret-of-these-tests"


class SeaweedFS:
    def __init__(self):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="seaweed-", dir=LOGS))
        self.port = free_port()
        identity = {"name": "hesper", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        self.process: subprocess.Popen | None = None
        self.ports = [self.port]
        # Each of its servers takes a second port, 10,000 above: below that it has room.
        while len(self.ports) < 4:
            port = free_port()
            if port < 55_000 and port not in self.ports:
                self.ports.append(port)
        self.start()

    def start(self) -> None:
        master, volume, filer = self.ports[1:]
        (self.folder / "data").mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    Path(sys.executable).parent / "weed", "server", "-ip", "127.0.0.1", "-ip.bind", "127.0.0.1",
                    "-dir", self.folder / "data", "-master.port", str(master), "-volume.port", str(volume),
                    "-filer", "-filer.port", str(filer), "-s3", "-s3.port", str(self.port),
                    "-s3.config", self.folder / "s3.json", "-master.telemetry=false", "-volume.max", "20",
                    "-master.volumeSizeLimitMB", "256",
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if requests.get(f"http://127.0.0.1:{self.port}/", timeout=2).status_code in (200, 403):
                    return
            except requests.RequestException:
                time.sleep(0.2)
        self.close()
        raise RuntimeError("SeaweedFS did not start")

    def environment(self, **other: str) -> dict[str, str]:
        """What a server needs to keep attachments in a bucket there."""
        return {
            "HESPER_ATTACHMENTS": "s3://hesper-tests/prefix", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", **other,
        }  # fmt: skip

    def make_bucket(self) -> None:
        import boto3
        from botocore.config import Config

        client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", aws_access_key_id=KEY, aws_secret_access_key=SECRET,
            region_name="us-east-1", config=Config(retries={"max_attempts": 10}),
        )  # fmt: skip
        client.create_bucket(Bucket="hesper-tests")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
