# cause: low-memory-mode
# spot: self.ear.tell(heard)


class Room:
    def __init__(self, parts):
        self.ear, self.mixer = parts

    def need(self, part):
        part.to("cuda")
        return part

    def rest(self, part):
        part.to("cpu")

    def hear(self, tone):
        ear = self.need(self.ear)
        heard = ear.listen(tone)
        self.rest(ear)
        return heard

    def say(self, heard):
        return self.need(self.ear).tell(heard)
