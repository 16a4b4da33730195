"""A page of the server's own, as a browser shows it to the server: its session is in a cookie."""

import re

import requests
from client import Client

COOKIE = re.compile(r"(?P<name>(?:__Host-)?hesper)=(?P<token>hesper_[A-Za-z0-9_-]{43})\.(?P<day>\d+); (?P<attributes>.*)")


class Page(Client):
    """A client that asks for a cookie when it signs up or in, and sends it from then on.

    It says that it is a page of the server's own, as browsers of today do: `headers={"Sec-Fetch-Site": …}` says another thing.
    """

    def __init__(self, url: str):
        super().__init__(url)
        self.cookie: str | None = None  # `hesper=…`, as it is sent
        self.given: str | None = None  # `Set-Cookie` as it came last

    def request(self, method: str, path: str, **options) -> requests.Response:
        headers = {"Sec-Fetch-Site": "same-origin"} | ({"Cookie": self.cookie} if self.cookie else {})
        options["headers"] = headers | (options.pop("headers", None) or {})
        response = super().request(method, path, **options)
        self.session.cookies.clear()  # this class keeps the one it is given, and no other
        if "Set-Cookie" in response.headers:
            self.given = response.headers["Set-Cookie"]
        return response

    def _enter(self, path: str, email: str, password: str, device_name: str) -> dict:
        body = {"email": email, "password": password, "deviceName": device_name, "cookie": True}
        response = self.post(path, body)
        assert response.status_code == 201, response.text
        answer = response.json()
        self.email, self.password, self.device = email, password, answer["device"]
        self.cookie = self.given.split(";")[0]
        return answer
