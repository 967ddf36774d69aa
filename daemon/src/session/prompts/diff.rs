//! SEARCH/REPLACE blocks, the path above the fence or inside it.

use super::Lesson;

pub(super) const ABOVE_THE_FENCE: Lesson = Lesson {
    how: "\
Every change is a SEARCH/REPLACE block: the file's path alone on a line, then

```
<<<<<<< SEARCH
the lines as they are in the file now
=======
the lines that shall stand in their place
>>>>>>> REPLACE
```",
    rules: RULES,
    example: "\
I replace the line that prints, and keep the rest.

show.py
```python
<<<<<<< SEARCH
    print(numbers)
=======
    print(sum(numbers))
>>>>>>> REPLACE
```",
};

pub(super) const INSIDE_THE_FENCE: Lesson = Lesson {
    how: "\
Every change is a SEARCH/REPLACE block in a fence of its own, the file's path on the first line inside the fence:

```
path/of/the/file
<<<<<<< SEARCH
the lines as they are in the file now
=======
the lines that shall stand in their place
>>>>>>> REPLACE
```",
    rules: RULES,
    example: "\
I replace the line that prints, and keep the rest.

```python
show.py
<<<<<<< SEARCH
    print(numbers)
=======
    print(sum(numbers))
>>>>>>> REPLACE
```",
};

const RULES: &str = "\
Rules for SEARCH/REPLACE blocks:
- The path is relative to the top of the repository, exactly as shown above the file's text.
- SEARCH holds whole lines, copied letter for letter from the file, with their indentation, comments and blank lines.
- SEARCH must be found exactly once in the file: take in enough lines to make it unique, and no more than you need.
- A new file has an empty SEARCH part.
- Never write \"...\" or \"rest of the code\" in place of lines. To move code, delete it in one block and insert it in another.
- Several changes to one file are several blocks, in any order.
- Only edit files whose text you have been shown, or new ones. If you need to see another file, name it and stop.";
