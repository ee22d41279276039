"""The teacher's kit: marks a class, and takes nothing but numbers from a student's process.

TEACHING.md says how to use it. A student's code runs in `child`, confined by `confinement`; the verdict is made in
another process, by the checker itself: `remote` gives it the answer as something that can be called, and `process`
keeps the student's within its limits. `messages` names all that passes between the two.
"""
