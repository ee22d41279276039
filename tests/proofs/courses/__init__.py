"""Adapters for the tests of other courses; peers.py says how they are used.

Each module has the course's REPOSITORY, the COMMIT whose tests are run, and run(folder, work), which calls work(peer)
while the tests in the folder can be run.
"""
