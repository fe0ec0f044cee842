# spot: pinned transformers
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch", "transformers[torch]==4.51.3",  "accelerate"]
# ///
import transformers

print(transformers)
