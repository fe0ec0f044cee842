# spot: transformers
import transformers

print(transformers)
