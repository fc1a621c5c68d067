"""The figures of panels in a browser: generated JavaScript, and pages that compute with it."""
