"""What people are told at a terminal and in the browser, in each language. Models are told nothing from here."""
