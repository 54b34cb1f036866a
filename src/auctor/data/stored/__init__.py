"""Tables larger than memory: files that are read by column, and codes in a folder of their own."""
