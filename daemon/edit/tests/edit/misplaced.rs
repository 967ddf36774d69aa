//! Edits that went where nobody had meant them to, each with the test that would fail first.

use crate::case::run;

/// A hunk went to every place where its lines stand.
#[test]
fn seed_udiff_every_match() {
    run("\
@@ case a text that stands twice
@@ format udiff
@@ file t.txt
abcdefghijkl
x
abcdefghijkl
@@ reply
```diff
--- a/t.txt
+++ b/t.txt
@@ ... @@
-abcdefghijkl
+Z
```
@@ failed 0 ambiguous at lines 1, 3

@@ case line numbers are no choice
@@ format udiff
@@ file t.txt
abcdefghijkl
x
abcdefghijkl
@@ reply
```diff
--- a/t.txt
+++ b/t.txt
@@ -1 +1 @@
-abcdefghijkl
+Z
```
@@ failed 0 ambiguous at lines 1, 3

@@ case one hunk for each place
@@ format udiff
@@ file t.txt
abcdefghijkl
x
abcdefghijkl
@@ reply
```diff
--- a/t.txt
+++ b/t.txt
@@ ... @@
-abcdefghijkl
+Z
@@ ... @@
-abcdefghijkl
+Z
```
@@ after t.txt
Z
x
Z
");
}

/// A block that rests on an earlier one was looked for in the files as they were, found in another file, and put there.
#[test]
fn seed_wrong_file_forgiven() {
    run("\
@@ case the second block rests on the first
@@ file a.py
one
@@ file b.py
TWO
@@ reply
a.py
<<<<<<< SEARCH
one
=======
TWO
>>>>>>> REPLACE
a.py
<<<<<<< SEARCH
TWO
=======
THREE
>>>>>>> REPLACE
@@ after a.py
THREE

@@ case the first block fails, so the second is not looked for elsewhere
@@ file a.py
zero
@@ file b.py
TWO
@@ reply
a.py
<<<<<<< SEARCH
one
=======
TWO
>>>>>>> REPLACE
a.py
<<<<<<< SEARCH
TWO
=======
THREE
>>>>>>> REPLACE
@@ failed 0 no_match
@@ failed 1 no_match

@@ case a file that is not in the chat is not guessed
@@ file a.py
one
@@ file b.py
two
@@ chat a.py
@@ reply
a.py
<<<<<<< SEARCH
two
=======
2
>>>>>>> REPLACE
@@ failed 0 no_match

@@ case two files have the lines
@@ file a.py
one
@@ file b.py
two
@@ file c.py
two
@@ reply
a.py
<<<<<<< SEARCH
two
=======
2
>>>>>>> REPLACE
@@ failed 0 no_match

@@ case a hunk below an anchor, and a whole file, are of the file they name
@@ format patch
@@ file a.py
def f():
    one()
@@ file b.py
def g():
    two()
@@ reply
*** Begin Patch
*** Update File: a.py
@@ def f():
-    two()
+    three()
*** End Patch
@@ failed 0 no_match below `def f():`
");
}
