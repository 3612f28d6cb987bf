"""Who asks: a client by its address, also where a proxy stands between us."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence


def is_address(name: str) -> bool:
    """Whether a name is an IP address: nobody can point that elsewhere."""
    return address_of(name) is not None


def address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An IP address without its zone, and as IPv4 if that is what it stands for; None if the name is none."""
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_name(name: str) -> str:
    """What we call the client at an address: the address, of IPv6 the part that a network gives to one customer."""
    address = address_of(name)
    if address is None:
        return name
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def is_proxy(name: str) -> bool:
    """Whether an operator's proxy may be at an address: on this machine, or in its own network."""
    address = address_of(name)
    return address is not None and (address.is_loopback or address.is_private)


def forwarded(peer: str, headers: Sequence[str]) -> str:
    """Who asks through a proxy: the last that X-Forwarded-For names, for that alone did our proxy write itself."""
    last = headers[-1].rpartition(",")[2].strip() if headers and is_proxy(peer) else ""
    host = last.removeprefix("[").partition("]")[0] if "[" in last else last  # [::1]:80, or ::1
    host = host.partition(":")[0] if host.count(":") == 1 else host  # 192.0.2.1:80
    return host if is_address(host) else peer
