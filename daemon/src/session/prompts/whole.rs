//! Whole files: for models that cannot keep to any finer form.

use super::Lesson;

pub(super) const LESSON: Lesson = Lesson {
    how: "\
For every file that changes write its path alone on a line, then its whole new text in a fence:

path/of/the/file
```
every line of the file as it shall be
```",
    rules: "\
Rules for whole files:
- The path is relative to the top of the repository, exactly as shown above the file's text, with nothing else on its line.
- Write every line of the file, changed or not. Never write \"...\" or \"rest of the code\" in place of lines.
- Leave out files that do not change.
- Fences with a path above them are written to disk; show other code without one.
- Only change files whose text you have been shown, or new ones. If you need to see another file, name it and stop.",
    example: "\
I replace the line that prints, and keep the rest.

show.py
```
def show(numbers):
    print(sum(numbers))
```",
};
