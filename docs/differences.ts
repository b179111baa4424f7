// Where lameduck does on purpose something else than the rule of that number says, and why.

export const differences: Readonly<Record<string, string>> = {
  'A-009':
    'The stop of the listener has no two seconds of its own: it has what is left of the shutdown budget, so that a client that is late to read its 429 is not cut.',
  'A-013':
    '`HasBeenReady` is signaled when the readyz checks first pass, probed or not, and a probe that leaves checks out does not signal it: a process that nobody probes has to know that it was ready.',
  'A-020':
    'One deadline, the shutdown budget, stands over the whole sequence and ends ahead of SIGKILL: what the process says about its own end is lost when the kubelet ends it.',
  'A-032':
    'Each `lameduck()` adds its servers to the one end of the process: a program may have several lifecycles, and a process signal drains all of them before it exits.',
  'A-044':
    'A post-start hook that fails keeps `/readyz` red and is logged; it does not end the process, which could not serve its probes or say why.',
  'A-046':
    'A post-start hook that is still running at the shutdown is told by its `AbortSignal`, and what it then throws changes nothing about the end.',
  'A-056':
    'Pre-shutdown hooks run beside each other, each with a limit: one after another their times would add up against the budget.',
  'A-059':
    'A failed pre-shutdown hook is recorded, the drain goes on, and the exit code says it: the requests in flight are not to blame for the hook.',
  'A-060': 'A hook that throws is a hook that failed, with the same consequences.',
  'A-061': 'A hook has a limit; at its end it is recorded as timed out and the sequence goes on.',
  'A-070':
    'A trailing slash and the letter case of an endpoint do not matter (P-080): a probe that is 404 for one letter restarts or removes a pod that is well.',
  'A-095':
    'The path of a single check withholds the reason as the whole report does: it is as public as the endpoint above it, and the log has the reason.',
  'A-097': 'The answer is the same line as for any failed check, without the reason.',
  'A-120':
    'Each connection draws one moment in the first three quarters of the delay, and its next response after that says `Connection: close`: clients leave one by one while the listener is still open, and nobody meets the closed door.',
  'A-122':
    'Only connections accepted after `NotAcceptingNewRequest` are answered 429. What arrives on a kept connection is served and told to close: the client could not know, and serving it costs less than a retry.',
  'A-126':
    'The probe paths are exempt exactly, not by their first letters, and no `User-Agent` is, because every client can claim one.',
  'A-145':
    'What is left at the end of the budget is named in the log, destroyed and counted as forced, so that the end of the process is never the one that cuts it.',
  'A-150': 'No timeout of the program’s server is changed: before the first process signal nothing it answers differs.',
  'A-152': 'A connection that has not sent a request ends with the linger, after at most one second.',
  'P-018':
    'The backlog is not cut, which leaves clients half connected and resets them later. Instead requests that arrive while the listener closes are held for some 30 ms, so that no client that waits for an answer makes a new connection, and the listener closes in a quiet turn of the event loop, right behind the last accept.',
  'P-059':
    'There is no option for it: the process ends with an exit code of its own table, which says more than the number of a process signal.',
};
