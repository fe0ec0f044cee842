# cause: low-memory-mode
# spot: self.pager.parts["mixer"](heard)
import contextlib


class Pager:
    def __init__(self, parts):
        self.parts = parts

    @contextlib.contextmanager
    def awake(self, key):
        part = self.parts[key]
        part.to("cuda")
        try:
            yield part
        finally:
            part.to("cpu")


class Room:
    def __init__(self, pager):
        self.pager = pager

    def hear(self, tone):
        with self.pager.awake("ear") as ear:
            heard = ear(tone)
        with self.pager.awake("mixer"):
            mixed = self.pager.parts["mixer"](heard)
        return mixed
