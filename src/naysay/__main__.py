"""``python -m naysay`` is the command line."""

import sys

from naysay.cli import main

sys.exit(main())
