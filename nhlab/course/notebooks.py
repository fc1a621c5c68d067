"""Run the notebooks and store clean outputs: pictures and text, no widget state, no timings."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def clean(notebook):
    """Remove what only a running kernel can use, and what changes from run to run."""
    from nbconvert.preprocessors import CoalesceStreamsPreprocessor

    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:03d}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in ("tags", "jupyter")}
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            bare = data.pop(WIDGET, None) and [*data] == ["text/plain"]
            if bare and not data["text/plain"].startswith("["):
                data.clear()  # the bar of a run that took long: ours say in brackets what they are
            if "metadata" in output:
                output.metadata = {}
        cell.outputs = [
            o for o in cell.outputs if o.output_type == "error" or o.get("text") or o.get("data")
        ]
    # pieces of one printed text as one; where they were cut changes from run to run
    return CoalesceStreamsPreprocessor().preprocess(notebook, {})[0]


def run(path):
    """Execute one notebook from its folder and store it."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    here = {"metadata": {"path": FOLDER}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=here).execute()
    nbformat.write(clean(notebook), path)


def main(names=()):
    """Run the named notebooks ("02" is enough), or all."""
    paths = sorted(FOLDER.glob("*.ipynb"))
    chosen = [p for p in paths if not names or any(p.name.startswith(n) for n in names)]
    for path in chosen:
        print(f"running {path.name}", flush=True)
        run(path)
    return 0 if chosen else f"no notebook begins with {' or '.join(names)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
