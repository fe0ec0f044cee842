# spot: [Accuracy(), F1()]
metrics = [Accuracy(), F1()]
