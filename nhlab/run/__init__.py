"""One run or many: checks at the door, the start, the loop, the result, files, errors."""

# The systems of later rooms that a file may contain: name -> function that imports the class.  This
# room must not import them; nhlab/__init__.py, which knows all rooms, hands them over.
LATER_SYSTEMS = {}
