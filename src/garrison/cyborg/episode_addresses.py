"""The addresses of an episode."""

from collections.abc import Sequence
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from garrison.cage2.names import HOSTS, SUBNETS
from garrison.cyborg.image_facts import SUBNET_HOSTS

TEN = 10 << 24
"""Records keep addresses as offsets from 10.0.0.0."""


class EpisodeAddresses:
    """The hosts' addresses and the subnets, as numbers until somebody wants them as objects."""

    def __init__(self, addresses: Sequence[int], subnets: Sequence[int]) -> None:
        self._addresses = addresses
        self._subnets = subnets

    @cached_property
    def addresses(self) -> list[IPv4Address]:
        """By host."""
        return [IPv4Address(TEN + offset) for offset in self._addresses]

    @cached_property
    def subnets(self) -> list[IPv4Network]:
        """By subnet."""
        return [IPv4Network((TEN + offset, 28)) for offset in self._subnets]

    @cached_property
    def host_of(self) -> dict[IPv4Address, int]:
        """The host at each address."""
        return {address: h for h, address in enumerate(self.addresses)}

    @cached_property
    def subnet_of(self) -> dict[IPv4Network, int]:
        """The number of each subnet."""
        return {subnet: s for s, subnet in enumerate(self.subnets)}

    @cached_property
    def by_hostname(self) -> dict[str, IPv4Address]:
        """The address of each host, subnet by subnet."""
        return {HOSTS[h]: self.addresses[h] for hosts in SUBNET_HOSTS for h in hosts}

    @cached_property
    def by_subnet_name(self) -> dict[str, IPv4Network]:
        """Each subnet by its name."""
        return dict(zip(SUBNETS, self.subnets, strict=True))
