from proteins.routine import train_and_evaluate

config = {"classes": 3, "features": 6, "device": None, "use_class_weights": True}
print(train_and_evaluate(**config))
