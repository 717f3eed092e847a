"""Toolsets and questions that the planner of `demo` is tried on. It must know nothing of them, nor be told."""
