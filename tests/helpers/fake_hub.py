"""A hub on the loopback that takes one upload and remembers it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def fake_hub(refuse: bool = False) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve; give the address and the list of requests. With `refuse` every one is forbidden."""
    requests: list[dict[str, Any]] = []

    class Hub(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append({"path": self.path, "body": body, "token": self.headers.get("Authorization")})
            self._answer(403 if refuse else 200, self._reply(body))

        def do_GET(self) -> None:
            requests.append({"path": self.path, "body": b"", "token": self.headers.get("Authorization")})
            self._answer(404, {})

        def _reply(self, body: bytes) -> dict[str, Any]:
            if self.path.endswith("/preupload/main"):
                files = json.loads(body)["files"]
                mode = {"uploadMode": "regular", "shouldIgnore": False}
                return {"files": [{"path": file["path"], **mode} for file in files]}
            if "/commit/" in self.path:
                return {"success": True, "commitOid": "1" * 40, "commitUrl": f"{address}/me/mine/commit/{'1' * 40}"}
            return {"url": f"{address}/me/mine", "id": "me/mine", "name": "me/mine", "errors": [], "warnings": []}

        def _answer(self, code: int, values: dict[str, Any]) -> None:
            content = json.dumps(values).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield address, requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
