"""A lesson as an app by Voilà, whose browser opens with the token that the server asks for."""

import html
import os
import tempfile
import threading
import webbrowser
from pathlib import Path

from voila.app import Voila

# A page of its own: in the arguments of a browser every user of the computer could read the token.
REDIRECT = '<!doctype html><meta http-equiv="refresh" content="0;url={}">'


class App(Voila):
    """Voilà, which by itself opens the browser without the token and so on a page to log in."""

    def launch_browser(self) -> None:
        """Open the lesson in a browser, in the background; without a browser the address is
        printed all the same."""
        page = self.write_redirect()
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),)).start()

    def write_redirect(self) -> Path:
        """Write a page that only this user can read and that leads to the lesson."""
        handle, name = tempfile.mkstemp(suffix=".html")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(REDIRECT.format(html.escape(self.display_url)))
        return Path(name)


if __name__ == "__main__":
    App.launch_instance()
