"""Response headers: what a browser may do with our pages, whatever a pasted log manages to say."""

from __future__ import annotations

from flask import Response

# No inline script or style anywhere: text that slipped through the escaping would still not run.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def secure(response: Response) -> Response:
    """Adds the headers to every response; an answer is never kept by a cache."""
    response.headers.update(HEADERS)
    if not response.cache_control.max_age:
        response.headers["Cache-Control"] = "no-store"
    return response
