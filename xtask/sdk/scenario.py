"""What the programs in Python have in common: what there is in the sandbox, and what it is asked for."""

import os
import uuid

BASE = os.environ["LENDPAY_BASE"]
KEY = os.environ["LENDPAY_KEY"]
OFFER = uuid.UUID(os.environ["LENDPAY_OFFER"])
APPLICATION = uuid.UUID(os.environ["LENDPAY_APPLICATION"])
INDICATIVE = uuid.UUID(os.environ["LENDPAY_INDICATIVE"])
DECLINED = uuid.UUID(os.environ["LENDPAY_DECLINED"])

# What the sandbox is asked for, and what AcceptOffer answers then.
PROVOKED = [
    ("bad-request", 400, "BadRequest"),
    ("timeout", 408, "Timeout"),
    ("request-too-large", 413, "RequestTooLarge"),
    ("rate-limited", 429, "RateLimited"),
    ("internal-error", 500, "InternalError"),
    ("unavailable", 503, "Unavailable"),
]
