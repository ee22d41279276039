"""The theory questions: a page for each lesson, and what reads and asks them, in reading order.

arithmetic      numbers as people write them
reading         what a learner typed, as letters, a number, a shape or a text
kinds           the five kinds of question, and their verdicts
clicked         a question's card that can be clicked or filled in
question_pages  a lesson's page, read into questions
lookup          all questions, and the one that is meant
verdict         `answer`
"""
