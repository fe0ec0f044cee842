# spot: pinned hugging_face_hub
# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "hugging_face.hub<0.20",
# ]
# ///
import hugging_face_hub

print(hugging_face_hub)
