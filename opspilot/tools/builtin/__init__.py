"""The tools that ship with OpsPilot, over plain files."""
