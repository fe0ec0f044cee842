# cause: low-memory-mode
# spot: self.ear(tone)
import contextlib


class Room:
    def __init__(self, ear, mixer):
        self.ear, self.mixer = ear, mixer

    @contextlib.contextmanager
    def awake(self, part):
        part.to("cuda")
        try:
            yield part
        finally:
            part.to("cpu")

    def hear(self, tone):
        with self.awake(self.ear):
            return self.ear(tone)
