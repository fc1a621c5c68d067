"""Drawings and panels that belong to one lesson each."""
