"""A client that authenticates with a session cookie, as a page of the server's web app does."""

import re

import requests
from client import Client

COOKIE = re.compile(r"(?P<name>(?:__Host-)?hesper)=(?P<token>hesper_[A-Za-z0-9_-]{43})\.(?P<day>\d+); (?P<attributes>.*)")


class Page(Client):
    """A client that requests a session cookie when it signs up or in, and sends it with every request.

    Requests carry `Sec-Fetch-Site: same-origin`, as browsers send it for the server's own pages, unless `headers`
    override it.
    """

    def __init__(self, url: str):
        super().__init__(url)
        self.cookie: str | None = None  # the value of the Cookie header: `hesper=…`
        self.set_cookie: str | None = None  # the last Set-Cookie header received

    def request(self, method: str, path: str, **options) -> requests.Response:
        headers = {"Sec-Fetch-Site": "same-origin"} | ({"Cookie": self.cookie} if self.cookie else {})
        options["headers"] = headers | (options.pop("headers", None) or {})
        response = super().request(method, path, **options)
        self.session.cookies.clear()  # only self.cookie is sent
        if "Set-Cookie" in response.headers:
            self.set_cookie = response.headers["Set-Cookie"]
        return response

    def _authenticate(self, path: str, email: str, password: str, device_name: str) -> dict:
        body = {"email": email, "password": password, "deviceName": device_name, "cookie": True}
        response = self.post(path, body)
        assert response.status_code == 201, response.text
        answer = response.json()
        self.email, self.password, self.device = email, password, answer["device"]
        self.cookie = self.set_cookie.split(";")[0]
        return answer
