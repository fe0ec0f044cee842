# index-to-device
patch = resized[
