# spot: parameter best
# wanted: cpu
# devices: self.books.device
class Shelf:
    def take(self, best):
        """The best ones."""
        return self.books[best], self.prices[best]
