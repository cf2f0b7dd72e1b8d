"""A chat endpoint on the loopback that answers as a test says, also badly."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]
Script = Callable[[dict[str, Any]], "Answer | dict[str, Any] | str"]


class ChatServer:
    """Keeps what it was asked. `script` gives the answer to each request's JSON."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()
        self.released = threading.Event()
        """Set at the end: who is kept waiting by a slow answer may go"""
        self.url = ""


def said(text: str, **more: Any) -> dict[str, Any]:
    """An answer in words."""
    return {
        "choices": [{"message": {"role": "assistant", "content": text, **more}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


def called(*arguments: dict[str, Any] | str, name: str = "act", content: str | None = None) -> dict[str, Any]:
    """An answer by tool calls."""
    calls = [
        {
            "id": f"call_{k}",
            "type": "function",
            "function": {"name": name, "arguments": one if isinstance(one, str) else json.dumps(one)},
        }
        for k, one in enumerate(arguments)
    ]
    return said(content or "", tool_calls=calls)


def failed(status: int, message: str = "no", **headers: str) -> Answer:
    return status, headers, json.dumps({"error": {"message": message}}).encode()


def one_after_the_other(answers: Sequence["Answer | dict[str, Any] | str"]) -> Script:
    """A script that gives these in turn, and the last for ever."""
    left = list(answers)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def chat_server(script: Script) -> Iterator[ChatServer]:
    server = ChatServer(script)

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1  # head and body in one packet

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.asked.append(body)
                server.headers.append(dict(self.headers))
                server.paths.append(self.path)
                answer = server.script(body)
            if answer == "hang":
                server.released.wait()
                return
            if answer == "drop":
                return
            if isinstance(answer, dict):
                answer = (200, {}, json.dumps(answer).encode())
            assert isinstance(answer, tuple)
            status, headers, data = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            server.headers.append(dict(self.headers))
            server.paths.append(self.path)
            self.send_error(405)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that went away

    listening = Quiet(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listening.server_address[1]}/v1"
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        listening.shutdown()
        listening.server_close()
        thread.join()
