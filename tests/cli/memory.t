# A program beyond what may be taken is refused before anything of it is taken, with exit code 6.
