"""What only the notebooks need: lessons, exercises, paper figures, comparison."""
