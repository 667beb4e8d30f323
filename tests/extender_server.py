"""An extender for tests: it answers over real HTTP with what a function says."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

Answer = Callable[[str, Any], Any]
"""The verb that is asked for and its arguments -> the answer."""


def handler(answer: Answer) -> type[BaseHTTPRequestHandler]:
    """What an HTTP server needs to be such an extender."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(answer(self.path.rsplit("/", 1)[1], args)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
