"""What everything else may use: files written whole, words for a terminal, a notebook's cells, what is solved."""
