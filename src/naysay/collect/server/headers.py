"""What every response tells the browser: load nothing from elsewhere, run only what was published, tell no one."""

from __future__ import annotations

import base64
import hashlib
import re

__all__ = ["ASSETS", "POLICY", "SECURITY", "policy_of"]

_DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}

_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "compute-pressure", "display-capture",
    "encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope", "hid", "identity-credentials-get",
    "idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "otp-credentials", "payment",
    "picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "serial", "storage-access", "usb",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip

_IMPORT_MAP = re.compile(rb'<script type="importmap">(.*?)</script>', re.DOTALL)


def policy_of(page: bytes) -> str:
    """The Content-Security-Policy of a page: its own files, and the import map that is written in it.

    Examples
    --------
    >>> policy_of(b'<script type="importmap">{}</script>').split("; ")[1]
    "script-src 'self' 'sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='"
    """
    hashes = [base64.b64encode(hashlib.sha256(found).digest()).decode() for found in _IMPORT_MAP.findall(page)]
    scripts = " ".join(["'self'", *(f"'sha256-{each}'" for each in hashes)])
    return "; ".join(f"{name} {value}" for name, value in (_DIRECTIVES | {"script-src": scripts}).items())


POLICY = policy_of(b"")
"""The Content-Security-Policy of whatever has none of its own."""

SECURITY = {
    "content-security-policy": POLICY,
    "integrity-policy": "blocked-destinations=(script)",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "permissions-policy": ", ".join(f"{feature}=()" for feature in _FEATURES),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-dns-prefetch-control": "off",
    "cache-control": "no-store",
}
"""Headers of every response but files of the client; one that sets its own keeps it."""

ASSETS = {"cross-origin-resource-policy": "same-origin", "x-content-type-options": "nosniff"}
"""Headers of the client's files, which do nothing but be loaded: a page has thirty, and the policy is the page's."""
