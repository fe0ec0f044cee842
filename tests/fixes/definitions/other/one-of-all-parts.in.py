# cause: low-memory-mode
# spot: room.parts["mixer"](heard)
class Room:
    def __init__(self, parts, small):
        self.parts, self.small = parts, small

    def need(self, *names):
        if self.small:
            for name, part in self.parts.items():
                part.to("cuda" if name in names else "cpu")
        return [self.parts[name] for name in names]


def hear(room, tone):
    (ear,) = room.need("ear")
    return room.parts["mixer"](ear(tone))


def again(room, heard):
    ear = room.need("ear")[0]
    return room.parts["mixer"](heard)  # louder
