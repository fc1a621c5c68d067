"""Read the built pages as a browser would: where they lead, and what they show without saying."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of one page, its links, what it loads by itself, and its pictures."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.loads, self.pictures = {"", "top"}, [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if tag in ("img", "script", "source", "iframe") and "src" in attrs:
            self.loads.append(attrs["src"])
        if tag == "link" and "canonical" not in attrs.get("rel", ""):
            self.loads.append(attrs.get("href", ""))
        if tag == "img":
            self.pictures.append((attrs.get("src", ""), attrs.get("alt") or ""))


def read(folder):
    """All pages of a site, by their files; JupyterLite's own are not ours to judge."""
    files = (f for f in sorted(folder.rglob("*.html")) if folder / "lite" not in f.parents)
    return {f.resolve(): Page(f.read_text(encoding="utf-8")) for f in files}


def check(folder):
    """(number of links within the site, faults: what leads nowhere, comes from afar, is mute)."""
    pages, count, faults = read(folder), 0, []
    for file, page in pages.items():
        say = f"{file.relative_to(folder.resolve()).as_posix()}: ".__add__
        for url in page.links + page.loads:
            part = urlsplit(url)
            if part.scheme or part.netloc:
                if url in page.loads and part.scheme != "data":
                    faults.append(say(f"loads {url}"))
                continue
            count += 1
            target = (file.parent / unquote(part.path)).resolve() if part.path else file
            if not target.is_file():
                faults.append(say(f"there is no {url}"))
            elif target in pages and unquote(part.fragment) not in pages[target].places:
                faults.append(say(f"there is no place {url}"))
        for source, alt in page.pictures:
            if len(alt) < 12:
                faults.append(say(f"the picture {source[:80]} does not say what is on it: {alt!r}"))
    return count, faults
