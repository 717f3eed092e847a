"""What people are told by the command line, in each language. Models are told nothing from here."""
