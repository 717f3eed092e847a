"""Workflows: thin interpreters of the core's decisions."""
