# cause: low-memory-mode
# spot: self.parts["mixer"](heard)
import contextlib


class Room:
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

    def hear(self, tone):
        with self.awake("ear") as ear:
            heard = ear(tone)
        mixed = self.parts["mixer"](heard)
        return mixed
