#!/usr/bin/env python3
"""A to-do list for one directory: todo.py [list] | todo.py add TEXT"""

import sys

import store


def show():
    items = store.load()
    if not items:
        print("nothing to do")
    for number, item in enumerate(items, start=1):
        print(f"{number:3} {item['text']}")


def main(arguments):
    match arguments:
        case ["add", *words] if words:
            print(f"added as {store.add(' '.join(words))}")
        case [] | ["list"]:
            show()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
