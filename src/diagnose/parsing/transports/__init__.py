"""What stands between a program's output and the text that was pasted: each module peels one layer."""
