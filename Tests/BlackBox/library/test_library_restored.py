"""Cases 24 and 36 of merge.md with an app on the Swift library: the server is restored, and the app sends what it lacks."""

import pytest
import test_case_restored
from client_cases import named
from test_case_restored import restorable, restored  # noqa: F401 (fixtures)

pytestmark = pytest.mark.long

globals().update(
    named(
        test_case_restored,
        [
            "test_case_24_restored", "test_case_24_edits", "test_case_24_a_token", "test_case_36", "test_unsent_text_based_on",
            "test_a_rescue_is_restored", "test_a_damaged_write_ahead_log",
        ],
    )  # fmt: skip
)
