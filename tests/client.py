"""python client.py ADDRESS WORD...: what ``python WORD...`` does, in a fork of server.py's process.

It is a process of its own to whoever starts it: the streams are its own, signals go on, and it ends as the fork
does. Only what this Python's options, limits and further files are does not reach it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def status(address, streams, **asked):
    """How a work ends: its exit status, or the negative number of a signal."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b"!"], streams)
        with server.makefile("rw") as talk:
            print(json.dumps(asked), file=talk, flush=True)
            number = int(talk.readline())
            if __name__ == "__main__":
                for one in FORWARDED:
                    signal.signal(one, lambda sent, _: os.kill(number, sent))
            return int(talk.readline() or -signal.SIGKILL)


if __name__ == "__main__":
    _, address, *words = sys.argv
    given, here = {"words": words}, os.getcwd()  # noqa: PTH109 (pathlib is not imported so soon)
    ended = status(
        address, [0, 1, 2], work="python", given=given, folder=here, environment={**os.environ}
    )
    if ended < 0:
        if -ended in FORWARDED:
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    os._exit(ended)
