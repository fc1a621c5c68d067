"""Symmetry, connections, reduction, and measurements on discrete maps."""
