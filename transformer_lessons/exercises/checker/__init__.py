"""The engine: runs an answer by way of `running`, compares it, and names the mistake. Its modules, in reading order.

What an exercise is:

pages           a page of the catalogue, read into its parts
edits           lines as a learner would write them, put into the right answer
setup           what the module beside a page says
exercise        page and setup, joined

What an answer is compared with:

distributions   results drawn at random, compared by their distribution
drawn_tokens    an answer on a page, and the exact chances of what it draws
comparison      are a result and the expected one alike, and if not, how do they differ?
weights         the weights that modules are filled with
draws           the inputs, the expected results and those of every known mistake

Which mistake it makes:

parts           what a verdict says, part by part, and how that reads as plain text
finding         what is found out about an answer that does not pass
contract        what is asked before the numbers
beyond_numbers  what is asked when the numbers are right
agreement       does a known mistake give the answer's numbers?
slips           right or known numbers in the wrong form
steps           the first wrong step
display         numbers beside those expected
evidence        the smallest failing example
diagnosis       the strategies, from the strictest on
unknown         what is certain where no known mistake fits

What the learner sees:

card            a verdict as a card, in notebooks that show HTML
report          what is printed and returned
onward          what is solved by now, and what comes next
registry        all exercises by name
redefinition    is the answer what its last cell defines?
verdict         `check`
help            `hint` and `solution`
"""
