"""The words of observations: how they are spelled, compared and printed."""

import copy
import pickle

import pytest

from garrison.cyborg.cyborg_enums import (
    Architecture,
    DecoyType,
    OperatingSystemDistribution,
    OperatingSystemType,
    OperatingSystemVersion,
    Path,
    ProcessName,
    ProcessType,
    ProcessVersion,
    QueryType,
    SessionType,
    Spelled,
    TrinaryEnum,
)


def test_success_equals_the_bool_that_it_stands_for() -> None:
    assert TrinaryEnum.TRUE == True  # noqa: E712
    assert TrinaryEnum.FALSE == False  # noqa: E712
    assert TrinaryEnum.UNKNOWN != True  # noqa: E712
    assert TrinaryEnum.UNKNOWN != False  # noqa: E712
    assert [TrinaryEnum.parse_bool(value).name for value in (True, False, None, 1)] == [
        "TRUE",
        "FALSE",
        "UNKNOWN",
        "UNKNOWN",
    ]
    assert str(TrinaryEnum.TRUE) == "TRUE"


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        (OperatingSystemType, "Windows 10", "WINDOWS"),
        (OperatingSystemType, "LINUX", "LINUX"),
        (OperatingSystemDistribution, "Windows Server 2008 R2", "WINDOWS_SVR_2008"),
        (OperatingSystemDistribution, "windows_svr_2008", "WINDOWS_SVR_2008"),
        (OperatingSystemDistribution, "some ubuntu", "UBUNTU"),
        (OperatingSystemDistribution, "vista", "UNKNOWN"),
        (OperatingSystemVersion, "U18_04_3", "U18_04_3"),
        (OperatingSystemVersion, "6.1.7601 and more", "W6_1_7601"),
        (ProcessName, "svchost.exe", "SVCHOST"),
        (ProcessType, "svchost.exe", "UNKNOWN"),
        (ProcessType, "web server", "WEBSERVER"),
        (ProcessType, "sshd", "SSH"),
        (SessionType, "green_session", "GREY_SESSION"),
        (SessionType, "local shell", "LOCAL_SHELL"),
        (Path, "C:\\temp\\", "TEMP"),
        (Architecture, "x86_64", "x64"),
    ],
)
def test_members_are_found_by_their_spelling(kind: type[Spelled], text: str, name: str) -> None:
    assert kind.parse_string(text) is kind[name]


def test_an_unknown_version_stays_what_it_was() -> None:
    assert ProcessVersion.parse_string("Haraka 2.7.0") is ProcessVersion.HARAKA_2_7_0
    assert ProcessVersion.parse_string(ProcessVersion.SMBv1) is ProcessVersion.SMBv1
    assert ProcessVersion.parse_string("nothing") == "nothing"
    assert ProcessVersion.parse_string(None) is ProcessVersion.UNKNOWN
    assert QueryType.parse_string("sync") is QueryType.SYNC
    assert QueryType.parse_string("never") is None


def test_values_count_from_one_in_the_originals_order() -> None:
    assert [member.value for member in ProcessType] == list(range(1, 13))
    assert (ProcessType.MYSQL.value, SessionType.GREY_SESSION.value, DecoyType.EXPLOIT.value) == (12, 12, 2)


def test_members_survive_copying_and_pickling() -> None:
    for member in (TrinaryEnum.TRUE, SessionType.SSH):
        assert copy.deepcopy(member) is member
        assert pickle.loads(pickle.dumps(member)) is member
