"""Expressions to text to functions. Knows no mechanics."""
