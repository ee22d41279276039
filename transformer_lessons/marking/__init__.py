"""The teacher's kit: marks a class, and takes nothing but numbers from a student's process.

TEACHING.md says how to use it. A student's code runs in `child`, confined by `confinement`; the verdict is made in
another process, by the checker itself: `remote` gives it the answer as something that can be called, and `process`
keeps the student's within its limits. `messages` names all that passes between the two. The modules, in reading order:

What is handed in:

naming          names and texts that strangers chose, made harmless
files           what a download holds, and what is not read
submissions     whose each file is
sheets          tables in CSV files: our own, and those that come back from a teacher
rosters         class lists

How an answer runs:

messages        what passes between a student's process and ours
notebook        a notebook's lesson and answers, read without running it
wire            values as JSON; nothing is ever unpickled
confinement     what a student's process may do
lending         calls from one side to the other, with gradients
child           the process that runs a student's code
process         the same process, started, watched and ended from outside
remote          an answer there, called from here

What it is worth:

results         what is known of a notebook and of a student, in rows
verdicts        what `check` and `answer` say of a notebook's answers
workers         several notebooks at a time
policy          how many points there are for what
marks           a whole class, each notebook once

What a teacher reads and hands out:

tables          the marks as tables
mistakes        which mistakes a class has made, and how often
halves          an experiment: half of a class is not told the names of its mistakes
report          the report on a class
projector       the report that a class may see
feedback        each student's own pages
review          what a person has to read
release         a version for students, and the answer key
variants        a variant of one exercise of each lesson, to copy and change
sample          a made-up class to practise on
commands        mark, release and key, as typed in a terminal
"""
