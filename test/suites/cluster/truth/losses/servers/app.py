"""An ASGI application, which uvicorn shuts down in its own way."""

import asyncio
import os
from urllib.parse import parse_qs

NAME = os.uname().nodename.encode()


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    query = parse_qs(scope["query_string"].decode())
    await asyncio.sleep(float(query["ms"][0]) / 1000 if scope["path"] == "/slow" else 0.005)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-served-by", NAME)]})
    await send({"type": "http.response.body", "body": b"done\n"})
