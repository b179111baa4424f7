"""The load's clients on Python's http.client.

They read the same jobs and write the same output as ../programs/client.ts, and never repeat a request.
"""

import http.client
import json
import random
import signal
import sys
import threading
import time
import uuid
from urllib.parse import urlsplit

ANSWER_LIMIT = 30
START_LIMIT = 60
OUTCOMES = ("answered", "lost", "refused", "wrong")

lock = threading.Lock()
tallies = {}
answered = {}
kept = {}
over = threading.Event()


def say(line):
    print(json.dumps(line), flush=True)


def now():
    return int(time.time() * 1000)


class Client:
    """A client that keeps one connection open, or opens a new connection for each request."""

    def __init__(self, job):
        self.job = job
        self.connection = http.client.HTTPConnection(urlsplit(job["url"]).netloc, timeout=ANSWER_LIMIT)
        self.pod = ""

    def ask(self):
        is_new = self.connection.sock is None
        if is_new:
            try:
                self.connection.connect()
            except OSError as error:
                self.connection.close()
                return {"outcome": "refused", "reason": repr(error), "is_new": True}
        order = str(uuid.uuid4()) if self.job["kind"].endswith("POST") else None
        result = {"is_new": is_new}
        try:
            if order:
                headers = {"Content-Type": "application/json"}
                self.connection.request("POST", "/orders", json.dumps({"id": order}), headers)
            else:
                self.connection.request("GET", "/")
            response = self.connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            return {**result, "outcome": "lost", "reason": repr(error)}
        result["pod"] = response.headers.get("X-Served-By", "")
        result["told"] = response.headers.get("Connection") == "close"
        if self.job["kind"].startswith("new"):
            self.connection.close()
        if response.status in (429, 503):
            return {**result, "outcome": "refused", "reason": str(response.status)}
        if response.status >= 300 or (order and order not in text):
            return {**result, "outcome": "wrong", "reason": str(response.status)}
        return {**result, "outcome": "answered"}


def add(client, result, milliseconds):
    job, outcome, pod = client.job, result["outcome"], result.get("pod", "")
    with lock:
        tally = tallies.setdefault(
            job["name"],
            dict.fromkeys(("requests", *OUTCOMES, "connections", "toldToClose", "slowestMilliseconds"), 0),
        )
        tally["requests"] += 1
        tally[outcome] += 1
        tally["connections"] += result["is_new"]
        tally["toldToClose"] += result.get("told", False)
        tally["slowestMilliseconds"] = max(tally["slowestMilliseconds"], round(milliseconds))
        if outcome != "answered":
            say(
                {
                    "type": "failure",
                    "at": now(),
                    "name": job["name"],
                    "outcome": outcome,
                    "reason": result["reason"],
                    "pod": pod or ("" if result["is_new"] else kept.get(client, "")),
                }
            )
        kept.pop(client, None)
        if pod:
            answered[pod] = answered.get(pod, 0) + 1
            if not result["told"] and not job["kind"].startswith("new"):
                kept[client] = pod


def ask_until_over(job):
    client = Client(job)
    while not over.is_set():
        began = time.monotonic()
        result = client.ask()
        add(client, result, (time.monotonic() - began) * 1000)
        over.wait(job["rest"] * (0.5 + random.random()) / 1000)


def first_answer(job):
    client = Client(job)
    deadline = time.monotonic() + START_LIMIT
    while (result := client.ask())["outcome"] != "answered":
        if time.monotonic() > deadline:
            raise RuntimeError(f"no answer to {job['name']} from {job['url']}: {result['reason']}")
        time.sleep(0.1)
    client.connection.close()


def say_second():
    with lock:
        pods = {pod: {"answered": count, "kept": 0} for pod, count in answered.items()}
        for pod in kept.values():
            pods.setdefault(pod, {"answered": 0, "kept": 0})["kept"] += 1
        answered.clear()
        say({"type": "second", "at": now(), "tallies": tallies, "pods": pods})


def main():
    jobs = json.loads(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    for job in jobs:
        first_answer(job)
    say({"type": "started"})
    threads = [threading.Thread(target=ask_until_over, args=(job,)) for job in jobs for _ in range(job["clients"])]
    for thread in threads:
        thread.start()
    while not over.wait(1):
        say_second()
    for thread in threads:
        thread.join()
    say_second()
    say({"type": "summary", "tallies": tallies})


main()
