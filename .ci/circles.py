#!/usr/bin/env python3
"""Fails if source files of a crate import one another in a circle, and prints the imports of each circle."""
import pathlib, re, sys


def paths(tree):
    """The paths of a use tree, such as a::b and a::c of a::{b, c}."""
    before, brace, rest = tree.strip().partition("{")
    if not brace:
        return [before.split(" as ")[0].strip()]
    parts = re.findall(r"(?:[^,{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})+", rest.rpartition("}")[0])
    return [before + path for part in parts if part.strip() for path in paths(part)]


class Crate:
    def __init__(self, root):
        self.uses, self.exports = {}, {}
        for file in root.rglob("*.rs"):
            module = file.relative_to(root).with_suffix("").parts
            module = module[:-1] if module[-1] in ("mod", "lib", "main") else module
            self.uses[module] = []
            text = re.sub(r"//.*", "", re.split(r"#\[cfg\((?:all\()?test", file.read_text())[0])
            for public, tree in re.findall(r"^\s*(pub(?:\(.*?\))? )?use ([^;]+);", text, re.M):
                self.uses[module] += [(bool(public), path) for path in paths(re.sub(r"\s+", " ", tree))]
        for module, uses in self.uses.items():
            self.exports[module] = {path.split("::")[-1]: path for public, path in uses if public}

    def target(self, module, path, depth=9):
        """The module that defines what a path names from a module; None outside of the crate."""
        at, parts = module, path.split("::")
        if parts[0] == "crate":
            at, parts = (), parts[1:]
        elif parts[0] not in ("self", "super") and at + (parts[0],) not in self.uses:
            return None
        while parts and parts[0] in ("self", "super"):
            at, parts = (at if parts[0] == "self" else at[:-1]), parts[1:]
        while parts and at + (parts[0],) in self.uses:
            at, parts = at + (parts[0],), parts[1:]
        export = self.exports[at].get(parts[0]) if parts and depth else None
        return (export and self.target(at, export, depth - 1)) or at

    def imports(self):
        """What each module imports, except for what it exports again."""
        found = {}
        for module, uses in self.uses.items():
            targets = {self.target(module, path) for public, path in uses if not public}
            found[module] = targets - {module, None}
        return found


def main():
    failed = False
    for root in map(pathlib.Path, sys.argv[1:]):
        imports = Crate(root).imports()
        reached = {module: set(targets) for module, targets in imports.items()}
        for via in reached:
            for module in reached:
                reached[module] |= reached[via] if via in reached[module] else set()
        for module, targets in sorted(imports.items()):
            for target in sorted(target for target in targets if module in reached[target]):
                print(f"{root}: {'::'.join(module)} and {'::'.join(target) or 'the root'} import each other in a circle")
                failed = True
    sys.exit(failed)


main()
