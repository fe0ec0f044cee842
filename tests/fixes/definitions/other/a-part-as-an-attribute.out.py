# cause: low-memory-mode
# spot: room.mixer(heard)
class Room:
    def __init__(self, ear, mixer, small):
        self.parts, self.small = {"ear": ear, "mixer": mixer}, small

    def need(self, name):
        if self.small:
            for other, part in self.parts.items():
                part.to("cuda" if other == name else "cpu")
        return self.parts[name]

    def __getattr__(self, name):
        return self.__dict__["parts"][name]


def hear(room, tone):
    heard = room.need("ear")(tone)
    return room.need("mixer")(heard)
