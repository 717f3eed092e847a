"""Channels by which people are told that a run waits for them: adapters of the port `Channel`.

They know HTTP and processes, and nothing of journals, runs or settings.
"""
