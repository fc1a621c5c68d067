"""Drawings, panels and exercises that belong to one lesson each."""
