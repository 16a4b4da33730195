"""Test data for attachments, and helpers that upload and download it."""

import base64
import hashlib
import random
import uuid

from client import Client


def some_bytes(count: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(count)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest(data: bytes) -> str:
    """The value of Repr-Digest and Content-Digest (RFC 9530)."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def data_path(attachment: str) -> str:
    return f"/v1/attachments/{attachment}/data"


def upload(client: Client, data: bytes, attachment: str | None = None) -> str:
    """Uploads bytes. Returns the attachment's ID, which is new unless one is given."""
    attachment = attachment or str(uuid.uuid4())
    response = client.put(data_path(attachment), data=data)
    assert response.status_code == 201, response.text
    return attachment


def attach(client: Client, data: bytes, mime_type: str = "image/png", **properties) -> str:
    """Uploads bytes and creates the attachment. Returns its ID."""
    attachment = upload(client, data)
    response = client.put(f"/v1/attachments/{attachment}", {"mimeType": mime_type, **properties})
    assert response.status_code == 201, response.text
    return attachment


def download(client: Client, attachment: str) -> bytes:
    response = client.get(data_path(attachment))
    assert response.status_code == 200, response.text
    return response.content
