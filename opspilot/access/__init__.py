"""What lets people and programs in and is kept in files: keys, tokens, one-time links. For servers and commands."""
