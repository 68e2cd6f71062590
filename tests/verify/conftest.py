# Started in a process of its own, with this folder on its path; looking for doctests would import it without.
collect_ignore = ["on_deepspeed.py"]
