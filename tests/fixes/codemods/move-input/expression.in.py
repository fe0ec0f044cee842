# spot: batch.pop("intent")
intent = batch.pop("intent")
