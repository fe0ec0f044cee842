# spot: Tagger.load_from_checkpoint(path)
# devices: ;
# wanted: cpu
model = Tagger.load_from_checkpoint(path)
