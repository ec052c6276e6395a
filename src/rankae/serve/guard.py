"""Checks before every route: access, the size and time of a request, and the headers of its answer."""

from __future__ import annotations

import asyncio
import base64
import hmac
import logging
from time import perf_counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rankae.serve import figures
from rankae.serve.problems import Refused, busy
from rankae.serve.settings import ServiceSettings

log = logging.getLogger("rankae.serve")
# Paths without a token: the health check is no secret, and the page asks for the token itself.
OPEN_PATHS = ("/v2/health/", "/page/")
OPEN_PAGES = ("/", "/docs", "/openapi.json", "/health", "/favicon.ico")
STREAMED = "/batch"  # the ending of paths whose bodies exceed the memory; these routes limit the body themselves
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self.app, self.settings = app, settings
        self._open = 0
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # answered as GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        began, status = perf_counter(), 500
        held = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        self._open += 1
        figures.OPEN.inc()
        try:
            headers = Headers(scope=scope)
            self._check(scope, headers)
            if not scope["path"].endswith(STREAMED):
                body = await self._body(headers, receive)
                held = len(body)
                self._bytes += held
                receive = _given(body, receive)
            await self.app(scope, receive, answer)
        except Refused as error:
            extra = (error.headers or {}) | {"Connection": "close"}  # the rest of the body is not read
            await JSONResponse({"detail": error.sentence}, error.status, extra)(scope, receive, answer)
        finally:
            self._open -= 1
            self._bytes -= held
            figures.OPEN.dec()
            route = getattr(scope.get("route"), "path", "other")
            seconds = perf_counter() - began
            figures.REQUESTS.labels(route, str(status)).inc()
            figures.SECONDS.labels(route).observe(seconds)
            if self.settings.log_requests:
                log.info("%s %s %s %.1f ms", scope["method"], route, status, 1000 * seconds)

    def _check(self, scope: Scope, headers: Headers) -> None:
        settings, path = self.settings, scope["path"]
        if self._open > settings.most_requests or self._bytes > settings.most_bytes:
            raise busy()
        host = headers.get("host", "")
        if settings.hosts and _name(host) not in settings.hosts:
            raise Refused(403, "the service does not go by this name; see the option --allow-host")
        self._check_origin(scope["method"], host, headers)
        if settings.token is None or path in OPEN_PAGES or path.startswith(OPEN_PATHS):
            return
        if not hmac.compare_digest(_shown_token(headers).encode(), settings.token.encode()):
            # Tools without bearer tokens (Label Studio, old clients) use basic authentication.
            raise Refused(401, "a token is needed: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})

    def _check_origin(self, method: str, host: str, headers: Headers) -> None:
        """Refuse writes that a page of another site makes through the user's browser."""
        if method in ("GET", "HEAD", "OPTIONS"):
            return
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
        if foreign or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refused(403, "requests from pages of other sites are not answered")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        """The whole body, within the limits of size and time."""
        most = self.settings.most_body
        too_large = Refused(413, f"the body is larger than {most:,} bytes; /v1/models/{{model}}/batch takes files")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > most:
            raise too_large
        found, size = [], 0
        try:
            async with asyncio.timeout(self.settings.timeout):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the client went away")
                    found.append(message.get("body", b""))
                    size += len(found[-1])
                    if size > most:
                        raise too_large
                    if not message.get("more_body", False):
                        return b"".join(found)
        except TimeoutError:
            raise Refused(408, "the body did not arrive in time") from None


def _given(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, then the messages of the connection."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _shown_token(headers: Headers) -> str:
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode("utf-8").partition(":")[2]
        except ValueError:
            return ""
    return ""
