"""`python -m course_lib.command` does what `course` does, wherever the folder has been moved to."""

import sys

from course_lib.command import main

sys.exit(main())
