# tries: the marks of the run, written by the student
# source: THREATS 52, 148
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    write(folder, b'{"submissions": []}', "results.json")
    write(folder, b"student,score\nada,99\n", "grades.csv")
    write(folder / ".graded", b"12345", "seed")
