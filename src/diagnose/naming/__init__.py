"""What a name says of where its value comes from, learned from how public packages define their names."""
