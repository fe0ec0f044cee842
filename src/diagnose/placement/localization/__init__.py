"""From what met to why it was there, and the line to edit."""
