"""What Blue's actions do to the world's books, and what Blue is told."""

from collections.abc import Iterator
from typing import Any

from garrison.cage2.names import ACTIONS, BlueKind
from garrison.cyborg.cyborg_enums import FileType, ProcessVersion, TrinaryEnum
from garrison.cyborg.image_facts import DECOY_PROGRAMS
from garrison.cyborg.true_view import system_info
from garrison.cyborg.world import PRIVILEGED, HostProcess, NetworkHost, World, known_path

Answer = dict[str, Any]


def blue_answer(world: World, action: int, success: TrinaryEnum, accepted: bool, drawn: Iterator[int]) -> Answer:
    """Do one of the 145 actions (-1: an invalid one) and return what its agent is told, without the monitor's part."""
    answer: Answer = {"success": success}
    if action < 0:
        return answer
    row = ACTIONS[action]
    if row.kind == BlueKind.ANALYSE:
        _analyse(world.hosts[row.host], answer)
    elif row.kind == BlueKind.REMOVE:
        _remove(world, world.hosts[row.host], drawn)
    elif row.kind == BlueKind.RESTORE:
        world.hosts[row.host].restore(keeps_versions=world.keeps_versions())
    elif row.kind == BlueKind.DECOY and accepted:
        _place_decoy(world.hosts[row.host], row.decoy, next(drawn), answer)
    return answer


def monitor(host: NetworkHost, events: list[dict[str, Any]], answer: Answer) -> None:
    """Tell Blue of a step's events on a host, behind what its action told, and remember the reported processes."""
    if not events:
        return
    entry = answer.setdefault(host.name, {})
    entry.setdefault("Processes", []).extend(events)
    entry["Interface"] = [{"IP Address": host.address}]
    entry["System info"] = system_info(host)
    host.reported += [event["PID"] for event in events if "PID" in event]


def _analyse(host: NetworkHost, answer: Answer) -> None:
    # A file that was written again is listed once, where it was written last.
    files = list(dict.fromkeys(reversed(host.files)))[::-1]
    if files:
        answer[host.name] = {
            "Files": [
                {
                    "Path": host.folder,
                    "Known Path": known_path(host.folder),
                    "File Name": name,
                    "Known File": FileType.UNKNOWN,
                    "Density": 0.9,
                    "Signed": False,
                }
                for name in files
            ]
        }


def _remove(world: World, host: NetworkHost, drawn: Iterator[int]) -> None:
    for pid in host.reported:
        process = host.process(pid)
        if process is None or process.user in PRIVILEGED:
            continue
        host.stop(process)
        if pid in host.services.values():
            _start_again(world, host, process, next(drawn))


def _start_again(world: World, host: NetworkHost, process: HostProcess, pid: int) -> None:
    """Restart a decoy that got a reported process id by chance (quirk Q14); its service still names the first one."""
    process.pid = pid
    if process.version is not None and not world.keeps_versions():
        process.version = ProcessVersion.UNKNOWN
    host.processes.append(process)


def _place_decoy(host: NetworkHost, d: int, pid: int, answer: Answer) -> None:
    process = host.place_decoy(d, pid)
    decoy = DECOY_PROGRAMS[d]
    entry: Answer = {"PID": pid, "PPID": process.parent, "Service Name": decoy.service, "Username": process.user}
    if decoy.properties is not None:
        entry["Properties"] = list(decoy.properties)
    answer[host.name] = {"Processes": [entry]}
