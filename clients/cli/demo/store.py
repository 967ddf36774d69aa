"""The items of the list, kept as JSON in the current directory."""

import json
from pathlib import Path

FILE = Path("todo.json")


def load():
    """The items, oldest first; none if nothing was ever saved."""
    if not FILE.exists():
        return []
    return json.loads(FILE.read_text(encoding="utf-8"))


def save(items):
    FILE.write_text(json.dumps(items, indent=2) + "\n", encoding="utf-8")


def add(text):
    """Adds an item and gives its number."""
    items = load()
    items.append({"text": text})
    save(items)
    return len(items)
