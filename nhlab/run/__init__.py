"""One run or many: checks at the door, the start, the loop, the result, files, errors."""
