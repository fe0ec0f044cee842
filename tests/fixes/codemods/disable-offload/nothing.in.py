# spot: Engine(model)
engine = Engine(model)
