"""The notebook of docs/ goes, cell by cell."""

import asyncio
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[3] / "docs" / "how-to" / "exploring.ipynb"


@pytest.mark.full
def test_the_notebook_goes(tmp_path: Path) -> None:
    """A cell that fails, or that shows no result, fails the test."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    asyncio.run(client(notebook, timeout=300,
                       resources={"metadata": {"path": str(tmp_path)}}).async_execute())
    kinds = [{kind for output in cell.outputs for kind in output.get("data", {})}
             for cell in notebook.cells if cell.cell_type == "code"]
    assert sum("text/html" in one for one in kinds) == 4
    assert sum("image/png" in one for one in kinds) == 2
    said = [output["text"] for cell in notebook.cells if cell.cell_type == "code"
            for output in cell.outputs if output.output_type == "stream"]
    assert len(said) == 1 and said[0].startswith("bus.dma_setp: no knob is called bus.dma_setp")
