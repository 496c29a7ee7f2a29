"""Calls home: TCP, UDP, raw and local sockets, name lookups, web requests; abstract names of other processes."""

import socket
import urllib.request

NEEDS = ("seccomp",)


def family(kind, transport):
    socket.socket(kind, transport)


TRIES = {
    "tcp": lambda: family(socket.AF_INET, socket.SOCK_STREAM),
    "tcp6": lambda: family(socket.AF_INET6, socket.SOCK_STREAM),
    "udp": lambda: family(socket.AF_INET, socket.SOCK_DGRAM),
    "raw": lambda: family(socket.AF_INET, socket.SOCK_RAW),
    "local": lambda: family(socket.AF_UNIX, socket.SOCK_STREAM),
    "netlink": lambda: family(socket.AF_NETLINK, socket.SOCK_RAW),
    "packet": lambda: family(socket.AF_PACKET, socket.SOCK_RAW),
    "lookup": lambda: socket.getaddrinfo("example.org", 80),
    "web": lambda: urllib.request.urlopen("http://127.0.0.1:1/", timeout=0.2),
}
for name, attempt in TRIES.items():
    try:
        attempt()
    except (PermissionError, socket.gaierror, urllib.error.URLError) as error:
        if "Permission" in str(error) or "not permitted" in str(error) or isinstance(error, socket.gaierror):
            continue
    raise RuntimeError(f"SUCCEEDED: {name}")
