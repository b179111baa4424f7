// The rules of leader election on a Lease: what client-go and the API server do, and what an elector must do beside them.

export const leaseRules: Readonly<Record<string, string>> = {
  'L-010':
    "All fields of a Lease's spec are optional: holder, duration, the two times, transitions, strategy and preferred holder. The API server never ends a Lease on its own.",
  'L-011': 'The API server writes a time in UTC with exactly six digits of a second and `Z`.',
  'L-012': 'The API server accepts a time only with exactly six digits of a second; an elector writes them and `Z`.',
  'L-013': 'A renewal sends `acquireTime` back exactly as it was received, because a `Date` loses microseconds.',
  'L-014':
    'A Lease whose holder is missing or null has no holder. A missing duration counts as 0, and so do missing transitions.',
  'L-015': 'Each write of a Lease contains holder, duration, both times and transitions, even if their value is 0.',
  'L-016':
    'A Go candidate takes a Lease without a duration when it first sees it. An elector waits for its own duration instead.',
  'L-017':
    "A Lease's record has changed if its spec has changed. A change of labels or of the resourceVersion does not count.",
  'L-019':
    'An update of a Lease sends all received metadata back. The elector sets its configured labels one by one and keeps all others.',
  'L-021': 'A new Lease is created with all five fields. Both times are equal, and the transitions are 0.',
  'L-032':
    'A PUT without a uid to a deleted Lease creates a new one with 201. Every PUT has the uid and the resourceVersion, and a 201 is an error.',
  'L-036':
    'A resourceVersion is a string, never a number. The longer of two is greater; with equal length, the digits decide.',
  'L-038': 'The elector respects the `Retry-After` of a 429 or 5xx.',
  'L-039': 'The elector respects a `Retry-After` only if the term leaves time for it.',
  'L-050':
    'A candidate makes its first attempt at once. After each failed attempt, it waits a random time from the retry period to 2.2 times the retry period.',
  'L-053':
    'A follower may watch the Lease, and may make an attempt at the exact expiry. Neither shortens its wait for a Lease that another process holds.',
  'L-062':
    'A candidate creates a Lease only if the Lease does not exist, and only the answer 201 makes it the leader. Every failure ends the attempt.',
  'L-063':
    'The duration of a record counts from the moment when the elector first received this version of the record.',
  'L-064':
    "A candidate cannot lead until the record's duration has passed since it first saw the record. The time is measured at the start of the attempt.",
  'L-065':
    'A candidate waits for the duration in the record, not for its own configured duration. It takes a Lease without a holder at once.',
  'L-066':
    'A candidate waits the full duration of a record that it sees for the first time, however old its times are.',
  'L-067':
    'A candidate takes over a Lease by a PUT on the object that it has just read, with the transitions increased by one.',
  'L-068': 'A process leads only after the API server has acknowledged a write that this process sent.',
  'L-080': 'A leader renews the Lease at once after its acquisition, and then once per retry period.',
  'L-084':
    'A request of the elector waits for about a third of the renew deadline. Only after a conflict does the elector send a GET.',
  'L-091':
    'To release a Lease, the elector sends a GET and then a PUT with no holder and a duration of 1. After a conflict, it repeats both. It never deletes the Lease.',
  'L-092':
    'The elector releases a Lease only if the holder, uid, transitions and acquireTime that it has read are those of its term.',
  'L-093':
    'A term is valid until the renew deadline after its last acknowledged write was sent. Other writes do not extend the term.',
  'L-094':
    'A term ends at once if the Lease was deleted, or if the record has another holder, no holder, or another uid. It also ends if the record has other transitions or another acquireTime.',
  'L-095': '`isLeader()` reads the clock on each call.',
  'L-096':
    'A monotonic clock measures all intervals. If the wall clock advances more than 2 s further than the monotonic clock, the leader is in doubt until it has written successfully on its own version.',
  'L-096a':
    "If a leader's PUT succeeds on the version of its own last write, no other process has held the Lease between the two writes.",
  'L-125':
    'If R + s ≤ D · a / b, two processes never act at once. R is the renew deadline, s the time to stop, and D the lease duration. The clocks of leader and candidate run at the rates a and b.',
  'L-130':
    'The field `leaseTransitions` counts changes of the holder. It is an int32, and starts again when the Lease is deleted.',
  'L-131':
    'The token of a term is the resourceVersion of the write that acquired the Lease. Each term has a greater token, even after the Lease was deleted.',
  'L-160': 'Coordinated leader election uses the fields `strategy` and `preferredHolder` of a Lease.',
  'L-163':
    'An elector does not contend for a Lease with a `strategy`. If the Lease gets a `strategy` during a term, the elector ends the term.',
  'L-001':
    'The components of Kubernetes use a lease duration of 15 s, a renew deadline of 10 s, a retry period of 2 s, and a fixed jitter of 1.2.',
  'L-002':
    'The lease duration must be greater than the renew deadline. The renew deadline must be greater than 1.2 times the retry period. client-go reports only the first problem.',
  'L-003':
    'The lease duration must not equal the renew deadline, and the renew deadline must not equal 1.2 times the retry period.',
  'L-004': 'A Lease can store whole seconds only: the lease duration is a whole number of at least one second.',
  'L-008': "An elector needs the name of a Lease and a namespace: the configured namespace, or the pod's own.",
  'L-018': 'Each renewal must change the whole second of `renewTime`, so the retry period is at least one second.',
  'L-037':
    "The API server's answers 429, 503 and ServerTimeout contain the time after which to retry, in a header or in the Status. A 429 may be plain text.",
  'L-041':
    "The elector's Role needs `create` on leases without a name, and `get` and `update` on the one Lease. The verbs `list` and `watch`, and Events, are optional.",
  'L-051': 'A candidate repeats its attempts until it leads or is stopped.',
  'L-070':
    'A takeover is a compare-and-swap: if the leader renews the Lease in between, the takeover ends in a conflict.',
  'L-097': 'A term ends when its work ends. An error of the work is never ignored.',
  'L-100': 'A change of the leader is reported once for each new leader, without delaying a renewal.',
  'L-110': 'The default identity is the host name and a fresh UUID for each elector. An empty identity is invalid.',
  'L-111':
    'The elector creates two Events with the reason `LeaderElection` for each term: one at its start and one at its end.',
  'L-112':
    'Events of an elector do not delay renewals, and a failure to create one has no effect. After a 403, the elector creates no more Events.',
  'L-120':
    'In a cluster, the elector reads the address of the API server from two environment variables, and it requires the CA.',
  'L-121':
    'The elector reads its token again every 50 s and after a 401. If the file is unreadable, the elector keeps the last token. Each new connection uses the current CA.',
  'L-123':
    'Leader election has its own connections to the API server, over HTTP/1.1. If a request times out, its socket is destroyed.',
  'L-141':
    'At a shutdown, the elector aborts the work while it continues to renew the Lease. It releases the Lease after the work has ended.',
  'L-142':
    'After a loss of leadership, the work has until the end of the lease duration to stop. If it has not stopped then, the process exits.',
  'L-143':
    'The process stays alive until the release of the Lease has settled. A second process signal ends the process without a release.',
  'LT-01': 'There is no Lease. The elector sends a GET, a POST, a PUT at once, and then a PUT every 2 s.',
  'LT-02':
    'A renewal meets a conflict, but the record still has the elector as holder. The elector sends a GET and a PUT in the same attempt.',
  'LT-03': 'Another leader renews its Lease. A candidate sends only GETs, 2 to 4.4 s apart, forever.',
  'LT-04': 'Another leader stops renewing. A candidate takes over the Lease 15 s after it first saw the record.',
  'LT-05':
    'A candidate finds a Lease whose `renewTime` is in the past. It still waits 15 s after it first saw the record.',
  'LT-06':
    'A candidate finds a Lease whose `renewTime` is in the future. It takes the Lease over 15 s after it first saw the record.',
  'LT-07':
    'A candidate finds a record with another lease duration than its own. It waits for the duration in the record.',
  'LT-08': 'A candidate takes a released Lease at once.',
  'LT-09': 'A candidate takes a Lease without a holder at once.',
  'LT-10': 'A candidate finds a record without a duration. It waits for its own lease duration.',
  'LT-11': 'Two candidates create the Lease at the same time. One of them leads.',
  'LT-12': 'Two candidates take an expired Lease at the same time. One of them leads.',
  'LT-13': 'The leader renews the Lease between the GET and the PUT of a takeover. The takeover starts no term.',
  'LT-14': 'The GETs of a candidate fail in every possible way. The candidate never writes.',
  'LT-15': 'The API server creates the Lease, but its reply to the candidate is lost.',
  'LT-16': 'The API server accepts a renewal, but its reply to the leader is lost.',
  'LT-17':
    'A leader cannot reach the API server. It stops its work at its renew deadline, before another process leads.',
  'LT-18': 'Replies to a leader arrive late. The term counts from the sending of the request.',
  'LT-19': 'Some renewals of a leader fail, but one succeeds within the renew deadline.',
  'LT-20': 'During a term, the leader sees another holder in the record.',
  'LT-21': 'During a term, another client clears the fields of the Lease.',
  'LT-22': 'During a term, another client deletes the Lease.',
  'LT-23': 'During a term, another client deletes the Lease and creates it again.',
  'LT-24': 'Each PUT of the elector has the uid and the resourceVersion. A 201 as the answer to a PUT is an error.',
  'LT-25': 'The elector keeps labels and annotations that other clients have set on the Lease.',
  'LT-26': 'The elector writes times with six digits of a second and reads times in any form.',
  'LT-27': 'A candidate finds a Lease whose holder is its own identity.',
  'LT-28': 'An elector is stopped while its work needs 3 s to end.',
  'LT-29': 'An elector is stopped while its work ignores the abort.',
  'LT-30': 'An elector that releases its Lease finds another holder in the record.',
  'LT-31': 'The release of a Lease meets conflicts.',
  'LT-32': 'An elector that releases its Lease finds that the Lease does not exist, or cannot read it.',
  'LT-33': 'An elector cannot reach the API server to release its Lease.',
  'LT-34':
    'The process of a leader is suspended, and another process takes over the Lease. When the first process continues, its work is stopped.',
  'LT-35': 'An elector is stopped before it has ever led.',
  'LT-36': 'An elector is stopped while its request for a takeover is in flight.',
  'LT-37': 'The work of a leader returns or throws.',
  'LT-38': 'Each change of the leader is reported once.',
  'LT-39': 'The liveness check of an elector fails when its last renewal is older than the lease duration plus 20 s.',
  'LT-40': 'The metrics show the start and the end of a term.',
  'LT-41': 'The elector creates Events for the start and the end of a term.',
  'LT-42':
    'The API server answers with a 429 in plain text. Its `Retry-After` is within the term, or longer than the term allows.',
  'LT-43': 'The token of the service account is replaced during a term.',
  'LT-44': 'The API server answers renewals with 403.',
  'LT-45': 'The namespace of the Lease is missing or terminating.',
  'LT-46': 'The event loop of a leader is blocked for 20 s.',
  'LT-47': 'The wall clock of the machine jumps, and the machine is suspended.',
  'LT-48': 'Valid settings of an elector are accepted, and invalid ones are rejected.',
  'LT-49': 'During a term, other clients edit the Lease.',
  'LT-50': 'The Lease belongs to coordinated leader election, or gets a preferred holder during a term.',
  'LT-51': 'The tokens increase over 20 changes of the holder.',
  'LT-52': 'One of ten electors cannot reach the API server. The other nine are not affected.',
  'LT-53': 'The API server shuts down while electors use it.',
  'LT-54': '100 followers of one Lease start at the same time.',
  'LT-55':
    'Programs in Go and Node that contend for one Lease are stopped in every way. The audit log shows one holder at a time.',
  'LT-56':
    'Programs in Node and in Go read the Leases that the other has written. Node also reads Leases of a kubelet and of fabric8.',
  'LT-57': 'After 10 000 renewals, an elector has no more handles, sockets and timers than before.',
  'L-005':
    'client-go has further options: release at a cancellation, a name, a watchdog, coordinated election, and labels.',
  'L-006':
    'The components of Kubernetes set lease duration, renew deadline and retry period by flags that begin with `--leader-elect-`.',
  'L-007':
    'OpenShift uses a lease duration of 137 s, a renew deadline of 107 s and a retry period of 26 s. It thus tolerates a longer outage of the API server.',
  'L-020':
    'The writes for a takeover, a renewal and a release differ only in the holder, the times and the transitions.',
  'L-030': 'Leases are read, created and replaced, never patched or deleted.',
  'L-031': 'The API server rejects a PUT to a Lease without a resourceVersion.',
  'L-033': 'The API server answers 409 if a Lease that exists is created, or if an old version of a Lease is updated.',
  'L-034':
    'For a Lease, the API server rejects a duration of 0, negative transitions, and a preferred holder without a strategy.',
  'L-035':
    'The API server drops unknown fields of a Lease without an error, so a test must detect misspelt field names.',
  'L-040': 'On the API server, only components of Kubernetes have a separate priority level for leader election.',
  'L-052': 'A new leader sends its first renewal right after the acquisition, while its work begins.',
  'L-054': 'A candidate that polls takes a released Lease within 4.4 s.',
  'L-060': 'A write to a Lease sets both times to the start of the attempt.',
  'L-061': 'As long as its renewals succeed, a leader renews without a GET.',
  'L-069':
    'If a candidate finds its own identity in the record, it takes the Lease without a wait and keeps the transitions.',
  'L-071':
    'If another process has led in between, a leader of client-go may continue its term. An elector of lameduck ends its term.',
  'L-072': 'If the Lease is deleted, a leader of client-go still leads. An elector of lameduck ends its term.',
  'L-081': 'A leader of client-go leads for up to 12 s after the last reply of the API server.',
  'L-082': 'client-go counts the renew deadline from the reply of the API server, so a late reply moves the deadline.',
  'L-083': 'If client-go sees another holder in the record, it still leads until its renew deadline.',
  'L-085': 'When client-go is cancelled, its gauge `leader_election_master_status` may stay at 1.',
  'L-086': 'An elector has at most one request to the API server in flight.',
  'L-087':
    'If the API server becomes unreachable, a leader of client-go stops after 12 s, or after 17 s if it is configured to release.',
  'L-090': 'An elector releases its Lease only after its renewals have ended, also after a loss of leadership.',
  'L-092a':
    'client-go releases the Lease before its work has stopped. An elector of lameduck releases it after the work has stopped.',
  'L-101': "client-go's `Run` returns after one term.",
  'L-102': 'Each start of a term is followed by exactly one end, before the next term starts.',
  'L-103':
    'The health check of a leader fails when the last renewal is older than the lease duration plus a tolerance.',
  'L-104': "client-go's `IsLeader` compares only the last observed holder, without regard to the time.",
  'L-113':
    'The metrics `leader_election_master_status` and `leader_election_slowpath_total` have the same names as in client-go.',
  'L-122': 'The JavaScript client for Kubernetes reads the token synchronously and has no timeout for a request.',
  'L-124': 'A leader that cannot reach the API server stops its work on its own.',
  'L-126':
    'Leader election is not safe in three cases: a pause longer than the safety margin, an identity that two processes use, and an etcd restored from a backup.',
  'L-127': "client-go's documentation does not promise that only one leader acts at a time.",
  'L-132': 'A token protects data only if the store of the data checks the token.',
  'L-133': 'With `assertLeader()`, a former leader has less time for a late write, but such a write is still possible.',
  'L-140': 'At a shutdown, controller-runtime stops its work, then its servers, and then releases the Lease.',
  'L-144': 'An apiserver removes its own endpoint in a pre-shutdown hook, while it still serves.',
  'L-150': 'Older versions of client-go store the leader in Endpoints and ConfigMaps instead of a Lease.',
  'L-151': "client-go's `MultiLock` stores the leader in two objects.",
  'L-161': 'In coordinated leader election, a controller of the apiserver writes the holder into the Lease.',
  'L-162': 'In coordinated leader election, a candidate never creates or takes over a Lease itself.',
  'L-170': 'A process may have several electors, one for each of several Leases.',
  'L-171': 'Work can be divided into parts, with one Lease for each part.',
  'L-172': 'Work can be distributed over members, if each member has a Lease that shows that it is alive.',
  'L-173': 'N Leases make a semaphore: at most N processes hold one at a time.',
  'L-174': 'A leader writes its Lease once per retry period. A follower reads the Lease less often.',
  'L-180': 'Some other libraries compare the times in the Lease with the wall clock to judge whether it has expired.',
  'L-181': 'Some other libraries write times with three digits of a second.',
  'L-182': 'Some other libraries wait for their own configured duration instead of the duration in the record.',
  'L-183': 'Some other libraries set the transitions back to 0.',
  'L-184': 'Some other libraries lead before their write has succeeded.',
  'L-185': 'Some other libraries do not notice that they have lost the Lease.',
  'L-186': 'Some other libraries stop contending for the Lease after an error.',
  'L-187': 'Some other libraries lose their term after one failed renewal, or never lose it.',
  'L-188': 'Some other libraries release a Lease by deleting it, or without checking its holder.',
  'L-189': 'Some other libraries misspell fields of the Lease.',
  'L-190': 'The renew deadline counts from the moment at which a write was sent.',
  'L-191':
    'A term ends at once if the record has another holder or no holder, or if the Lease was deleted or replaced.',
  'L-192': 'The elector aborts the work and waits for its end before it releases the Lease.',
  'L-193': 'If a record has no duration, a candidate waits for its own lease duration.',
  'L-194': 'A watch may let a follower take over faster, but never before the Lease has expired.',
  'L-195': 'The work of a leader receives the token of its term.',
};
