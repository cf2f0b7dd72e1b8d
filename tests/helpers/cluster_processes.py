"""What the kernel knows about processes: descendants, their listening sockets, and whether they live."""

import os
import time
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path


def parents() -> dict[int, int]:
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                found[int(stat.parent.name)] = int(fields[1])
    return found


def descendants(root: int) -> set[int]:
    known = parents()
    family = {root}
    while new := {pid for pid, parent in known.items() if parent in family} - family:
        family |= new
    return family - {root}


def listening(pids: set[int]) -> set[str]:
    """Return the addresses on which these processes accept connections."""
    mine = set()
    for pid in pids:
        with suppress(OSError):
            mine |= {os.readlink(f) for f in Path(f"/proc/{pid}/fd").iterdir() if f.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                found.add(address(fields[1].split(":")[0]))
    return found


def address(text: str) -> str:
    """Read an address as the kernel prints it: words of four bytes, each in the machine's order."""
    words = [bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8)]
    found = ip_address(b"".join(words))
    return str(found.ipv4_mapped or found) if isinstance(found, IPv6Address) else str(found)


def gone(pids: set[int], seconds: float = 30.0) -> set[int]:
    """Wait for processes to end; return those that have not."""
    deadline = time.monotonic() + seconds
    while (left := pids & parents().keys()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
