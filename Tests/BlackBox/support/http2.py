"""Sends and reads single HTTP/2 frames, for requests that no regular client sends (RFC 9113)."""

import ssl

import hpack
from hyperframe.frame import (
    ContinuationFrame, DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame,
)  # fmt: skip
from secure import TLSServer

__all__ = ["Frames", "ContinuationFrame", "DataFrame", "HeadersFrame", "PingFrame", "RstStreamFrame", "SettingsFrame"]
ENHANCE_YOUR_CALM = 11


class Frames:
    """One TLS connection that sends frames and reads the server's frames."""

    def __init__(self, server: TLSServer):
        context = server.context()
        context.set_alpn_protocols(["h2"])
        self.socket: ssl.SSLSocket = server.handshake(context)
        self.host = f"127.0.0.1:{server.port}"
        self.encoder, self.unread, self.has_ended = hpack.Encoder(), b"", False
        self.goaway: GoAwayFrame | None = None
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.send(SettingsFrame(0))

    def __enter__(self) -> "Frames":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, *frames: Frame) -> bool:
        """Sends frames. False if the connection was closed."""
        try:
            self.socket.sendall(b"".join(frame.serialize() for frame in frames))
            return True
        except (ConnectionError, ssl.SSLError):
            return False

    def head(self, method: str = "GET", path: str = "/healthz", **headers: str) -> bytes:
        fields = {":method": method, ":scheme": "https", ":authority": self.host, ":path": path} | headers
        return self.encoder.encode(list(fields.items()))

    def request(self, stream: int, ends: bool = True, **head: str) -> HeadersFrame:
        flags = ["END_HEADERS", *(["END_STREAM"] if ends else [])]
        return HeadersFrame(stream, self.head(**head), flags=flags)

    def read(self, seconds: float = 10, until=lambda frame: False) -> list[Frame]:
        """The frames received until `until(frame)` is true, the timeout, or the end of the connection (`has_ended`, `goaway`)."""
        self.socket.settimeout(seconds)
        frames = []
        while not self.has_ended:
            while len(self.unread) >= 9:
                frame, length = Frame.parse_frame_header(memoryview(self.unread[:9]))
                if len(self.unread) < 9 + length:
                    break
                frame.parse_body(memoryview(self.unread[9 : 9 + length]))
                self.unread = self.unread[9 + length :]
                frames.append(frame)
                if isinstance(frame, GoAwayFrame):
                    self.goaway = frame
                if until(frame):
                    return frames
            try:
                more = self.socket.recv(65_536)
            except TimeoutError:
                return frames
            except (ConnectionError, ssl.SSLError):
                more = b""
            self.has_ended = not more
            self.unread += more
        return frames
