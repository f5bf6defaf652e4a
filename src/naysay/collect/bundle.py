"""The page's modules as one file, without comments: fewer requests, and half the bytes on the way to a phone.

Each module becomes a function that is called once and returns what it exports, by the same names, to all that come
after it. Nothing is renamed and nothing is left out, so that readers can compare the served file with its modules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain

import rjsmin

from naysay.errors import DataError

_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "(?:\./)?([\w./]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def bundle(modules: Mapping[str, str], entry: str) -> tuple[str, tuple[str, ...]]:
    r"""One module that does what `entry` does with all that it imports, and the names of the modules in it.

    Parameters
    ----------
    modules : {name: code}
        Each import is a line ``import { a, b } from "./name.js";``; each export is a declaration behind ``export``.
        A module that stands elsewhere is named as it is imported, such as ``../folder/name.js``.
    entry : str
        The module with which the page begins; it exports nothing.

    Raises
    ------
    DataError
        A module is missing, is in a circle of imports, or writes imports or exports in another form; or two modules
        export one name.

    Examples
    --------
    >>> modules = {"a.js": 'import { b } from "./b.js";\nb();', "b.js": "// two\nexport const b = () => 2;"}
    >>> bundle(modules, "a.js")
    ('const{b}=(()=>{const b=()=>2;return{b};})();b();', ('b.js', 'a.js'))
    """
    module_order: dict[str, None] = {}
    _visit(modules, entry, module_order, ())
    module_exports = {
        module_name: tuple(declaration[2] for declaration in _EXPORT.finditer(modules[module_name]))
        for module_name in module_order
    }
    export_counts = Counter(chain.from_iterable(module_exports.values()))
    if repeated_names := [export_name for export_name, count in export_counts.items() if count > 1]:
        modules_text = " and ".join(module for module in module_order if repeated_names[0] in module_exports[module])
        raise DataError(f"{repeated_names[0]!r} is exported by {modules_text}; in one file each name has one meaning")
    module_functions = [
        _as_function(modules[module_name], () if module_name == entry else module_exports[module_name])
        for module_name in module_order
    ]
    return without_comments("".join(module_functions)), tuple(module_order)


def without_comments(code: str) -> str:
    """A script without comments, and without blanks that have no meaning.

    Examples
    --------
    >>> without_comments("export default { next: 'Next' }; // the page")
    "export default{next:'Next'};"
    """
    return str(rjsmin.jsmin(code))


def _visit(modules: Mapping[str, str], name: str, order: dict[str, None], around: tuple[str, ...]) -> None:
    """Put a module after those that it imports."""
    if name in order:
        return
    if name in around or name not in modules:
        problem_text = "imports itself through others" if name in around else "is missing"
        raise DataError(f"the module {name!r} {problem_text}; it is imported by {around[-1] if around else 'the page'}")
    for import_line in _IMPORT.finditer(modules[name]):
        _visit(modules, import_line[2], order, (*around, name))
    order[name] = None


def _as_function(code: str, exports: tuple[str, ...]) -> str:
    code = _EXPORT.sub(r"\1", _IMPORT.sub("", code))
    if leftover_line := re.search(r"^(?:import|export)\b.*", code, re.MULTILINE):
        raise DataError(f"a module must import and export as naysay's own do; got {leftover_line[0]!r}")
    names_text = ", ".join(exports)
    return f"const {{ {names_text} }} = (() => {{\n{code}\nreturn {{ {names_text} }};\n}})();\n" if exports else code
