"""The pytest plugin that is loaded before all others, and spares each process three seconds of its processor's time.

nbformat imports jsonschema, which builds a grammar of internationalised web addresses wherever rfc3987_syntax is
installed. No schema of a notebook asks for one, and without that module jsonschema leaves the grammar out.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # importing it raises ImportError
