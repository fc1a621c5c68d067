"""Plots, pictures, panels with sliders, bodies."""
