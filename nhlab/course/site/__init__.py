"""The site, ``python3 -m nhlab site``: the lessons, the gallery and the library, to be read."""
