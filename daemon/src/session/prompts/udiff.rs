//! Unified diffs, without line numbers: models count badly.

use super::Lesson;

pub(super) const LESSON: Lesson = Lesson {
    how: "\
Write the changes as a unified diff in a fence, without line numbers:

```diff
--- path/of/the/file
+++ path/of/the/file
@@ ... @@
 a line that stays
-a line that goes
+a line that comes
```",
    rules: "\
Rules for diffs:
- Each file begins with its --- and +++ lines; the path is relative to the top of the repository. A new file has --- /dev/null, one that goes has +++ /dev/null.
- Each hunk begins with a line @@ ... @@ and needs no numbers.
- Lines that stay begin with one blank, lines that go with -, lines that come with +. Copy lines that stay or go letter for letter.
- A hunk's lines must be found exactly once in the file: take in enough lines around the change to make it unique.
- To change much of a function, take all of it out and put all of it in again in one hunk.
- Never write \"...\" or \"rest of the code\" in place of lines.
- Only change files whose text you have been shown, or new ones. If you need to see another file, name it and stop.",
    example: "\
I replace the line that prints, and keep the rest.

```diff
--- show.py
+++ show.py
@@ ... @@
 def show(numbers):
-    print(numbers)
+    print(sum(numbers))
```",
};
