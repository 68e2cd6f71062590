"""``python -m gradaccum`` is the ``gradaccum`` command."""

from gradaccum.cli import main

raise SystemExit(main())
