"""The journal: the append-only record of every session, in SQL."""
