"""Fails to import with a text that would end a code block and start a page of its own."""

FORBIDDEN = ("<script", "<img", "<h1", "<table", "href=", "\u202e", "\x1b", "www.evil", "a@evil", "://")

raise RuntimeError(
    "```\n# Full points\n<script>alert(1)</script><img src=x onerror=alert(1)> [here](http://evil.example)"
    " www.evil.example a@evil.example | a | b |\n|---|---|\x1b[31m\u202e\u2028\n\n```\n# Full points"
)
