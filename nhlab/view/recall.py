"""The call by which a panel was made, as a notebook has it: the code of panels without another."""

import inspect
import linecache


def call_from_outside():
    """The text of the call, in a cell or at the top of a script, that led into nhlab; "" if there
    is none or its text is not kept."""
    caller = inspect.currentframe()
    while caller and str(caller.f_globals.get("__name__", "")).split(".")[0] == "nhlab":
        caller = caller.f_back
    space = caller and caller.f_globals
    while caller and not caller.f_code.co_name.startswith("<module"):
        caller = caller.f_back  # out of the reader's own functions
    if not caller or caller.f_globals is not space:
        return ""
    at = inspect.getframeinfo(caller).positions
    lines = linecache.getlines(caller.f_code.co_filename)[at.lineno - 1 : at.end_lineno]
    if lines:  # columns count bytes
        lines[-1] = lines[-1].encode()[: at.end_col_offset].decode()
        lines[0] = lines[0].encode()[at.col_offset :].decode()
    return "".join(lines)


def again(call):
    """The code that shows the panel of a call once more, as a function of the values of its
    controls; None without a call."""
    return (lambda x: f"panel = {call}\npanel.set(**{plain(x)!r})\npanel") if call else None


def plain(values):
    """The values as they are read on the sliders: 0.15, not 0.15000000000000002."""
    return {k: float(f"{x:.12g}") if isinstance(x, float) else x for k, x in values.items()}
