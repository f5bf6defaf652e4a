"""Under the title of each page: for whom it is and the one thing it teaches, from the head of its file."""

from docutils import nodes


def open_page(app, tree):
    """Set the line below the title."""
    said = app.env.metadata[app.env.current_document.docname]
    if "teaches" in said:
        line = f"For {said['for']}. This page teaches {said['teaches']}."
        title = next(tree.findall(nodes.title))
        title.parent.insert(1, nodes.paragraph("", "", nodes.emphasis(line, line)))


def setup(app):
    app.connect("doctree-read", open_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
