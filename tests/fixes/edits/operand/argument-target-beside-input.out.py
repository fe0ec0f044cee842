return F.cross_entropy(input, target.long().to(input.device), reduction="none")
