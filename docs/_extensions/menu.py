"""The menu of all pages, made for each page from their titles alone: the theme copies all that stands in them first."""

from sphinx import addnodes


def titles(toc):
    """What a page gives to the menu: its title, and the pages below it."""
    toc = toc.deepcopy()
    for item in toc.children:
        if len(item) > 1:
            below = list(item.findall(addnodes.toctree))
            item[1:] = [type(item[1])("", *below)] if below else []
    return toc


def shorten(app, _page, _template, context, _tree):
    """Let the theme ask for the menu while the pages consist of their titles."""
    env, whole = app.env, context["toctree"]

    def menu(**asked):
        if not hasattr(app, "titles"):
            app.titles = {page: titles(toc) for page, toc in env.tocs.items()}
        tocs, env.tocs = env.tocs, app.titles
        try:
            return whole(**asked)
        finally:
            env.tocs = tocs

    context["toctree"] = menu


def setup(app):
    app.connect("html-page-context", shorten, priority=400)  # before the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
