"""The field guide: a page for each exercise and each family of mistakes, and modules with what needs an algorithm."""
