# cause: input-on-wrong-shard
# spot: words[:, 1:]
# name: words[:, 1:]
# devices: next(self.net.ear.parameters()).device
# meets: self.net(words[:, 1:])
class Tongue:
    def said(self, words):
        words = words.to(self.place)
        return self.net(words[:, 1:].to(next(self.net.ear.parameters()).device)) == words[:, :-1]
