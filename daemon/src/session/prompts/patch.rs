//! Patches in an envelope, which can add, update, delete and move files.

use super::Lesson;

pub(super) const LESSON: Lesson = Lesson {
    how: "\
Write all changes as one patch, without a fence:

*** Begin Patch
*** Update File: path/of/a/file
@@ the function or class that the change is in
 a line that stays
-a line that goes
+a line that comes
*** Add File: path/of/a/new/file
+every line of the new file
*** Delete File: path/of/another/file
*** End Patch",
    rules: "\
Rules for patches:
- Paths are relative to the top of the repository, exactly as shown above the files' texts.
- In an update show about three lines before and after each change; lines that stay begin with one blank, lines that go with -, lines that come with +. Copy lines that stay or go letter for letter.
- Begin each change with @@ and the line of the function or class around it; where that is not enough to tell places apart, write several @@ lines, outermost first.
- A file that also gets a new name has *** Move to: new/path under its *** Update File line.
- Never write \"...\" or \"rest of the code\" in place of lines.
- Only change files whose text you have been shown, or new ones. If you need to see another file, name it and stop.",
    example: "\
I replace the line that prints, and keep the rest.

*** Begin Patch
*** Update File: show.py
@@ def show(numbers):
-    print(numbers)
+    print(sum(numbers))
*** End Patch",
};
