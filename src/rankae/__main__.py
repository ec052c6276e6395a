"""`python -m rankae` is the command `rankae`."""

from rankae.cli import main

if __name__ == "__main__":
    main()
