// The rules of leader election on a Lease. Some rules describe client-go and the API server. The other rules say what
// lameduck's elector must do.

export const leaseRules: Readonly<Record<string, string>> = {
  'L-010':
    "All fields of a Lease's spec are optional: holder, duration, `acquireTime`, `renewTime`, `leaseTransitions`, strategy and preferred holder. The API server does not enforce the end of a Lease.",
  'L-011':
    'The API server writes a time of a Lease in UTC, with exactly six fractional digits and `Z`. A time that is not set is null.',
  'L-012':
    'The API server accepts a time of a Lease only with exactly six fractional digits, and answers 400 to every other form. An elector writes six digits and `Z`, and accepts any form.',
  'L-013':
    "A renewal sends the Lease's `acquireTime` back exactly as it was received, because a `Date` in JavaScript loses microseconds.",
  'L-014':
    'A Lease whose holder is missing or null has no holder. If the duration or `leaseTransitions` is missing, it counts as 0. The times may be missing.',
  'L-015':
    'Each write of a Lease contains holder, duration, `acquireTime`, `renewTime` and `leaseTransitions`, even if a value is 0. The strategy and the preferred holder are written only if they are set.',
  'L-016':
    'A candidate that uses client-go takes over a Lease without a duration when it first sees the Lease. It also takes over any Lease whose `renewTime` stays the same. If a Lease has no duration, an elector of lameduck waits for its own lease duration.',
  'L-017':
    'A Lease counts as changed only if its spec has changed, not if only its labels or its resourceVersion have. client-go compares times in whole seconds, and an elector compares all digits.',
  'L-019':
    'An update of a Lease sends all metadata back that was received. The elector sets its configured labels one by one, and keeps all other labels.',
  'L-021':
    'A new Lease is created with holder, duration, `acquireTime`, `renewTime` and `leaseTransitions`. Both times are equal, and `leaseTransitions` is 0.',
  'L-032':
    "A PUT without a uid to a deleted Lease creates a new Lease, and the answer is 201. A PUT with the old uid gets a 409. Every PUT of lameduck's elector has the uid and the resourceVersion, so the elector treats a 201 as an error.",
  'L-036':
    'A resourceVersion is a string, never a number. The longer of two resourceVersions is the greater one. If both have the same length, the digits decide.',
  'L-038':
    "client-go itself repeats a request that got a 429 or 5xx with a `Retry-After`. After such a response, lameduck's elector waits for the time in `Retry-After`, and then makes its next regular attempt.",
  'L-039':
    'The elector waits for the time in a `Retry-After` only if its term of leadership lasts long enough. It never waits beyond the end of the term.',
  'L-050':
    'A candidate for a Lease makes its first attempt at once. After the end of each failed attempt, it waits a random time from the retry period to 2.2 times the retry period. Each wait is drawn again and does not grow.',
  'L-053':
    'A follower may watch the Lease, and may make an attempt exactly when the Lease expires. Even then, it never takes a Lease of another process before the Lease has expired.',
  'L-062':
    'A candidate creates a Lease only if the Lease does not exist, and only the answer 201 makes the candidate the leader. Every failure ends the attempt. The candidate keeps what it has last observed of the Lease.',
  'L-063':
    'A candidate counts the lease duration from the moment when it first received the current version of the Lease. A later read of the same version does not change this moment.',
  'L-064':
    'A candidate cannot lead until it has known the current version of the Lease for the lease duration. At each attempt, the candidate measures this time when the attempt starts. If the time equals the lease duration exactly, the Lease has expired.',
  'L-065':
    'A candidate waits for the duration in the Lease, not for the duration in its own configuration. It takes a Lease without a holder at once.',
  'L-066':
    'When a candidate first sees a Lease, it waits for the full lease duration, even if the times in the Lease are old. A restart of all candidates therefore costs one lease duration.',
  'L-067':
    'A candidate takes over a Lease by a PUT of the object that it has just read, and increases `leaseTransitions` by one. If it was the holder itself, it keeps `leaseTransitions` and `acquireTime`. After an error, it waits for its next attempt.',
  'L-068':
    'A process becomes the leader only after the API server has acknowledged a write of this process to the Lease.',
  'L-080':
    'A leader renews the Lease at once after it has acquired the Lease. It then starts one renewal per retry period. After a slow request, it sends the next one at once. No request outlasts the renew deadline.',
  'L-084':
    "The timeout of an elector's request is a third of the renew deadline and at least 1 s, but never longer than the rest of the term. After a timeout, the elector repeats the PUT on a new connection. The elector sends a GET only after a conflict.",
  'L-091':
    'To release a Lease, the elector sends a GET, and then a PUT without a holder and with `leaseDurationSeconds: 1`. In this PUT, `acquireTime` and `renewTime` are the current time, and `leaseTransitions` is unchanged. After a conflict, the elector repeats the GET and the PUT. The elector never deletes the Lease.',
  'L-092':
    'The elector releases a Lease only if the holder, the uid, `leaseTransitions` and `acquireTime` that it has read are those of its term.',
  'L-093':
    'A term of leadership is valid for the renew deadline, counted from the moment when its last acknowledged write was sent. Writes without an acknowledgement do not extend the term. At its end, the `AbortSignal` of the work is aborted, and the work must stop within the lease duration.',
  'L-094':
    'A term of leadership ends at once if the Lease was deleted, or if it has another uid, another holder or no holder. It also ends if `leaseTransitions` or `acquireTime` has changed. If the program stops the elector, the `AbortSignal` of the work is aborted, and renewals continue until the work settles.',
  'L-095':
    '`isLeader()` of an elector reads the clock on each call, so after a blocked event loop it returns false before any timer fires. A term also has `remainingMs()`, an `AbortSignal` and a token.',
  'L-096':
    'A monotonic clock measures all intervals of leader election. If the wall clock advances more than 2 s further than the monotonic clock, `isLeader()` is false. The leader then renews the Lease at once. If the Lease has not changed since its own last write, this write succeeds, and the leader leads again.',
  'L-096a':
    "If a leader's PUT succeeds on the version of its own last write, no other process has held the Lease between the two writes. After a conflict, a GET must show the leader's own `leaseTransitions` and `acquireTime`.",
  'L-125':
    "R is the renew deadline, s the time that the leader's work takes to stop, and D the lease duration. The leader's clock runs at the rate a, and the candidate's clock at the rate b. If R + s ≤ D · a / b, the old leader's work has stopped before the candidate leads.",
  'L-130':
    'The field `leaseTransitions` of a Lease counts changes of the holder, also if one identity leads twice in a row. Renewals do not change the field. It is an int32, and starts at 0 again when the Lease is deleted.',
  'L-131':
    'The fencing token of a term is the resourceVersion of the write that acquired the Lease. Renewals do not change the token. Each term has a greater token, even after the Lease was deleted.',
  'L-160':
    'Coordinated leader election uses the fields `strategy` and `preferredHolder` of a Lease. Kubernetes has had coordinated leader election since 1.31. It is off by default.',
  'L-163':
    'An elector does not try to acquire a Lease that has `spec.strategy` or `spec.preferredHolder`, and logs this as a problem. If one of the two fields is set during a term, the elector ends the term without another write.',
  'L-001':
    'The components of Kubernetes use a lease duration of 15 s, a renew deadline of 10 s, a retry period of 2 s, and a fixed jitter of 1.2. The elector has the same defaults.',
  'L-002':
    'In client-go, the lease duration must exceed the renew deadline, and the renew deadline must exceed 1.2 times the retry period. All three must be greater than zero. The callbacks that do the work are required, and so is the identity. client-go reports only the first problem.',
  'L-003':
    'The lease duration must be longer than the renew deadline, not equal to it. The renew deadline must be longer than 1.2 times the retry period, not equal to it.',
  'L-004':
    'A Lease can store whole seconds only, so client-go cuts off a fraction. The lease duration of an elector is a whole number of seconds, at least one.',
  'L-008':
    "An elector needs the name of a Lease and a namespace: the configured namespace, or the pod's own. Without a namespace, it reports an error.",
  'L-018':
    'Each renewal of a Lease must change the whole second of `renewTime`, so the retry period is at least one second. `renewTime` is never compared with a clock.',
  'L-037':
    "The API server's answers 429, 503 and ServerTimeout contain the time after which to retry, in a header or in the Status. A 429 may be plain text.",
  'L-041':
    "The elector's Role needs `create` on leases without a name, and `get` and `update` on the one Lease. The verbs `list` and `watch`, and the permission to create Events, are optional. The Role has no `delete` and no `patch` on leases.",
  'L-051': 'A candidate for a Lease repeats its attempts until it leads or is stopped. No error stops the attempts.',
  'L-070':
    "A takeover of a Lease is a compare-and-swap. If the leader renews the Lease between the candidate's GET and PUT, the takeover ends in a conflict.",
  'L-097': 'A term of leadership ends when the work of the leader ends. An error of the work is never ignored.',
  'L-100': 'An elector reports a change of the leader once for each new leader, without delaying a renewal.',
  'L-110':
    'The default identity of an elector is the host name and a fresh UUID. An empty identity is invalid. If two processes have the same identity, both lead.',
  'L-111':
    'The elector creates two Events with the reason `LeaderElection` for each term: one at its start and one at its end. The Events are about the Lease, and their type is Normal.',
  'L-112':
    'The creation of Events does not delay the renewals of an elector. A failed creation has no effect. A term has at most two Events. After a 403, the elector creates no more Events.',
  'L-120':
    'In a cluster, the elector reads the address of the API server from two environment variables, and both are required. An IPv6 address is in brackets. The token and the CA are required, too.',
  'L-121':
    'The elector reads its service account token again every 50 s and after a 401. If the file is unreadable, the elector keeps the last token. Each new connection uses the current CA.',
  'L-123':
    'Leader election has its own connections to the API server, over HTTP/1.1, and a user agent that ends with `leader-election`. If a request times out, its socket is destroyed.',
  'L-141':
    'At a shutdown, the elector aborts the work while it continues to renew the Lease. It releases the Lease after the work has ended. If the work does not end in time, the elector does not release the Lease.',
  'L-142':
    'After a loss of leadership, the `AbortSignal` of the work is aborted at once. The work has until the end of the lease duration to stop. If the work still runs at that time, the process exits.',
  'L-143':
    'The process of a leader stays alive until the release of the Lease has settled. A second process signal ends the process without a release. An elector without a lifecycle has no listener for process signals.',
  'LT-01':
    'An elector finds no Lease. It sends a GET, a POST, a PUT at once, and then a PUT every 2 s, without another GET. The work of the leader begins once, after the 201.',
  'LT-02':
    'A renewal of a leader gets a conflict, but the elector is still the holder in the Lease. The elector sends a GET and a PUT in the same attempt, and the term continues.',
  'LT-03':
    'A candidate finds a Lease that another leader renews. The candidate sends only GETs, each 2 to 4.4 s after the end of its last attempt. The pauses never grow.',
  'LT-04':
    'Another leader stops renewing its Lease. A candidate takes over the Lease 15 s after it first saw the current version. It writes the current time as `acquireTime` and `renewTime`, and increases `leaseTransitions` by one.',
  'LT-05':
    'A candidate finds a Lease whose `renewTime` is an hour old. The candidate still takes the Lease only 15 s after it first saw this Lease.',
  'LT-06':
    'A candidate finds a Lease whose `renewTime` is an hour in the future. The candidate takes the Lease 15 s after it first saw this Lease.',
  'LT-07':
    'A candidate finds a Lease with another lease duration than its own. It waits for the duration in the Lease, whether that is shorter or longer.',
  'LT-08': 'A candidate takes a released Lease at once, and increases `leaseTransitions` by one.',
  'LT-09':
    'A candidate takes a Lease without a holder at once. After the takeover of a Lease with an empty spec, `leaseTransitions` is 1.',
  'LT-10':
    'A candidate finds a Lease without a duration, or with a duration of 0. It waits for its own lease duration. A missing field causes no error.',
  'LT-11':
    'Two candidates create the Lease at the same time. One gets a 201 and leads. The other gets a 409 and begins no work. It reads the Lease after a random pause, and then waits for the lease duration.',
  'LT-12':
    'Two candidates take an expired Lease at the same time. One leads. The other gets a 409 and begins no work. From its next read of the Lease on, it waits for a whole lease duration.',
  'LT-13':
    'While a candidate takes over a Lease, the leader renews it between the GET and the PUT of the candidate. The takeover gets a 409 and starts no term. The candidate then waits for a whole lease duration again.',
  'LT-14':
    'The GETs of a candidate fail, with an error, a reset, a timeout, invalid JSON or an object of another kind. The candidate never writes and never leads. It continues to send GETs.',
  'LT-15':
    'The API server creates the Lease, but its reply to the candidate is lost. The next attempt sends a GET, and a PUT that keeps `acquireTime`. The term that then begins counts from the moment when this PUT was sent.',
  'LT-16':
    'The API server accepts a renewal, but its reply to the leader is lost. This renewal does not extend the term. A later GET and PUT continue the term, with unchanged `leaseTransitions`.',
  'LT-17':
    'A leader cannot reach the API server. At its renew deadline, the `AbortSignal` of its work is aborted and `isLeader()` is false. Another process writes the Lease at least 5 s later.',
  'LT-18':
    'Replies to a leader arrive late, and after some time no replies arrive. The term ends at the renew deadline, counted from the sending of the last acknowledged write.',
  'LT-19':
    'Three renewals of a leader fail, but the fourth succeeds within the renew deadline. The term continues, and nothing is reported.',
  'LT-20':
    'A renewal of a leader gets a conflict, and the next GET shows another holder. The term ends at once. The elector does not write to the Lease again.',
  'LT-21':
    'During a term, another client removes the holder from the Lease. The term ends. The next term has another token, and `leaseTransitions` is increased by one.',
  'LT-22':
    'During a term, another client deletes the Lease. The term ends. For its next term, the elector creates a Lease with another uid, a `leaseTransitions` of 0 and a greater token.',
  'LT-23':
    'During a term, another client deletes the Lease and creates it again. The term ends, because the Lease has another uid.',
  'LT-24':
    'Each PUT of the elector to its Lease has the uid and the resourceVersion of the last response. A 201 as the answer to a PUT is reported as an error, and starts no term.',
  'LT-25':
    'Labels, annotations, owners and finalizers that other clients have set on a Lease survive 100 renewals. Only configured labels are replaced. If `metadata.labels` is null, no error occurs.',
  'LT-26':
    'The elector writes the times of a Lease with six fractional digits and `Z`. It sends `acquireTime` back exactly as received, and accepts times in any form of RFC 3339.',
  'LT-27':
    'A candidate finds a Lease whose holder is its own identity. It takes the Lease at once and keeps `leaseTransitions`. By default, each elector has a different identity.',
  'LT-28':
    'An elector is stopped while its work needs 3 s to end. The `AbortSignal` of the work is aborted at once, and renewals continue. When the work has ended, the Lease is released, and another elector leads within 4.4 s.',
  'LT-29': 'An elector is stopped while its work ignores its `AbortSignal`. The elector does not release the Lease.',
  'LT-30': 'An elector that wants to release its Lease finds another holder in the Lease. It writes nothing.',
  'LT-31':
    'The release of a Lease gets conflicts. The elector repeats the release while it is still the holder, and gives up when it finds another holder.',
  'LT-32':
    'An elector that wants to release its Lease finds that the Lease does not exist, or cannot read it. It writes nothing, and `stop()` resolves with false.',
  'LT-33':
    'An elector cannot reach the API server to release its Lease. The `AbortSignal` of its work is aborted without delay. The release gives up after the renew deadline.',
  'LT-34':
    'The process of a leader is suspended, and another process takes over the Lease. When the first process continues, the program stops its elector. This elector reads the Lease and does not change it.',
  'LT-35': 'An elector is stopped before it has ever led. It writes nothing to the Lease.',
  'LT-36':
    'An elector is stopped while its request for a takeover is in flight, and the takeover succeeds. The elector releases the Lease, and no work begins.',
  'LT-37':
    'The work of a leader returns or throws. The elector releases the Lease and does not contend again. If the work throws, `run` rejects with this error.',
  'LT-38':
    'Each change of the leader is reported once. A Lease without a holder is not reported. If the listener for changes of the leader throws, the error is logged and has no other effect.',
  'LT-39':
    'The liveness check of a leader passes for 35 s after the last renewal of the Lease, and fails after that. It never fails for a follower, or for an elector that was not started.',
  'LT-40':
    'The gauge `leader_election_master_status` is 1 during a term, and 0 before and after it. The counter of slow renewals increases only for a renewal that needed a GET.',
  'LT-41':
    'The elector creates Events for the start and the end of a term. A 403 or a missing response to an Event does not affect renewals.',
  'LT-42':
    'The API server answers an elector with a 429 in plain text, a 503 or a 500. The elector waits for a short `Retry-After` within the term. A longer one does not delay the end of the term.',
  'LT-43':
    'The token of the service account is replaced during a term. After a 401, the next request has the new token. If the file has no token, the elector keeps the last one. New connections trust a replaced CA.',
  'LT-44': "The API server answers renewals with 403. The leader's term ends at its renew deadline and not before.",
  'LT-45':
    'The namespace of the Lease is missing or terminating. The elector continues its attempts and never leads. The log has a different text for each of the two problems.',
  'LT-46':
    'The event loop of a leader is blocked for 20 s. The first `isLeader()` after the block is false, even before a timer fires. The `AbortSignal` of the work is aborted, and the elector continues with a GET.',
  'LT-47':
    "If the wall clock of a leader is set back, nothing changes. If it is set forward, `isLeader()` is false until a PUT with the resourceVersion of the elector's last write succeeds. After a suspension, this PUT fails if another process leads, and the term ends.",
  'LT-48':
    'Durations of an elector that are not strictly ordered, not positive, not finite or without a unit are rejected. A lease duration with a fraction of a second is also rejected.',
  'LT-49':
    'During a term, other clients edit the labels or the duration of the Lease. The elector reads and corrects the Lease, and the term continues. If `leaseTransitions` or `acquireTime` changes, the term ends.',
  'LT-50':
    'An elector reports a Lease with a `strategy`, and does not contend for it. If the Lease gets a preferred holder during a term, the term ends without another write.',
  'LT-51':
    'The tokens of terms increase over 20 changes of the holder, also if one identity leads twice in a row or the Lease is deleted. Each change increases `leaseTransitions` by one. Only a deletion resets it to 0.',
  'LT-52':
    'One of ten electors cannot reach the API server. The `AbortSignal`s and the gauges of the other nine are not affected.',
  'LT-53':
    'The API server shuts down: it answers 429 and closes the connection. The leader waits for the time in `Retry-After`, opens a new connection, and its term continues.',
  'LT-54':
    '100 followers of one Lease start at the same time. Their second attempts spread over 2 to 4.4 s. Each follower draws a new random pause for each attempt.',
  'LT-55':
    'Programs in Go and Node that contend for one Lease are stopped in every way. The audit log shows one holder at a time, and `leaseTransitions` increases by one at each change. A store that checks fencing tokens rejects late writes.',
  'LT-56':
    "Programs in Node, and programs in Go with client-go, read each other's Leases. Node also waits for Leases of a kubelet and of fabric8, which have other fields.",
  'LT-57':
    'Over thousands of renewals, an elector opens no additional handles, sockets, timers and listeners. A process without other work exits when its elector is stopped.',
  'L-005':
    'client-go has further options for leader election: the release of the Lease when client-go is cancelled, a name, a watchdog, coordinated election, and labels.',
  'L-006':
    'The components of Kubernetes set the lease duration, renew deadline, retry period, name and namespace of the Lease by flags that begin with `--leader-elect-`. The name and the namespace are required.',
  'L-007':
    'OpenShift uses a lease duration of 137 s, a renew deadline of 107 s and a retry period of 26 s. It thus tolerates a longer outage of the API server.',
  'L-020':
    'A takeover of a Lease writes the new holder, `acquireTime` and `renewTime`, and increases `leaseTransitions` by one. A renewal changes only `renewTime`. A release writes an empty holder, a lease duration of 1 s, and the current time as `acquireTime` and `renewTime`.',
  'L-030': 'An elector reads, creates and replaces Leases. It never patches or deletes them.',
  'L-031': 'The API server rejects a PUT to a Lease without a resourceVersion.',
  'L-033':
    'If a client creates a Lease that exists, the API server answers 409 with the reason `AlreadyExists`. If a client updates a Lease with an old resourceVersion, the API server answers 409 with the reason `Conflict`.',
  'L-034':
    'For a Lease, the API server rejects a duration of 0, a negative `leaseTransitions`, and a preferred holder without a strategy. The name is a DNS subdomain, and the holder may be any text.',
  'L-035':
    'The API server drops unknown fields of a Lease without an error, so a test must detect misspelt field names.',
  'L-040':
    'On the API server, leader election has a separate priority level only for components and service accounts of `kube-system`. Other service accounts share the level `workload-low`, unless a FlowSchema moves their requests to this level.',
  'L-052':
    'A new leader sends its first renewal right after the acquisition, while its work begins. The requests are a GET, a POST or PUT, a PUT, and then one PUT per retry period.',
  'L-054':
    'A candidate that polls takes a released Lease within 4.4 s. After a crash of the leader, client-go takes the Lease up to 8.8 s after the end of its duration. An elector is faster, because it makes an attempt exactly when the Lease expires.',
  'L-060': 'client-go writes the time at which the attempt started as the time of an acquisition or renewal.',
  'L-061':
    'As long as its renewals succeed, a leader renews without a GET. After any error, client-go sends a GET. An elector sends a GET only after a conflict.',
  'L-069':
    'If a candidate finds its own identity as the holder of the Lease, it takes the Lease without a wait and keeps `leaseTransitions`.',
  'L-071':
    'If another process has led since the last renewal, a leader of client-go may continue its term. An elector of lameduck ends its term.',
  'L-072':
    'If the Lease is deleted, a leader of client-go still leads, and each candidate may create the Lease at once. A leader of lameduck ends its term at its next renewal. A candidate creates the Lease only when the record that it saw last has expired. The Role of an elector does not permit it to delete a Lease.',
  'L-081':
    "By default, a client-go leader leads for up to 12 s after the API server's last reply. A leader of lameduck leads for 10 s after it sent the last write that the API server acknowledged.",
  'L-082':
    'An elector counts the renew deadline from the moment when it sent the write. client-go counts it from the reply of the API server, so a late reply extends the leadership.',
  'L-083':
    'If a leader that uses client-go sees another holder in the Lease, it still leads until its renew deadline. An elector ends its term at once.',
  'L-085':
    "When client-go's leader election is cancelled, its gauge `leader_election_master_status` may stay at 1. When lameduck's elector stops, its gauge of this name becomes 0.",
  'L-086': 'An elector has at most one request to the API server in flight.',
  'L-087':
    'If the API server becomes unreachable, a leader of client-go stops after 12 s. If it is configured to release the Lease, it stops after 17 s.',
  'L-090':
    'An elector releases its Lease only after its renewals have ended, also after a loss of leadership. It tries to release for at most the renew deadline. If it has never claimed the Lease, it sends nothing.',
  'L-092a':
    'client-go releases the Lease before its work has stopped. An elector of lameduck releases it after the work has stopped.',
  'L-101':
    "client-go's `Run` returns after one term of leadership. kube-scheduler then exits, with 0 if it was requested to stop and with 1 otherwise.",
  'L-102': 'Each start of a term of leadership is followed by exactly one end, before the next term starts.',
  'L-103':
    'The health check of a leader fails when the last renewal is older than the lease duration plus a tolerance. It never fails for a follower. Readiness does not depend on leadership.',
  'L-104':
    "client-go's `IsLeader` compares only the last observed holder, whatever time has passed. `isLeader()` of an elector is false from the renew deadline on.",
  'L-113':
    'The metrics `leader_election_master_status` and `leader_election_slowpath_total` have the same names as in client-go. Two further metrics show the duration of an attempt and the age of the last renewal.',
  'L-122': 'The JavaScript client for Kubernetes reads the token file synchronously and has no timeout for a request.',
  'L-124':
    'A leader that cannot reach the API server stops its work on its own. After an outage, a follower that already knew the Lease takes it over after its first GET, and a new process waits for the lease duration. If only responses are lost, a follower counts this duration from the last write that the API server stored.',
  'L-126':
    'Leader election is safe only if identities are unique and nobody edits or deletes the Lease. The clocks may show different times of day, but must run at nearly the same rate. A pause beyond the safety margin, or an etcd that was restored from a backup, can cause two leaders.',
  'L-127':
    "client-go's documentation does not promise that only one leader acts at a time. lameduck's page says the same, and shows how a store checks a token.",
  'L-132': 'A fencing token protects data only if the store of the data checks the token.',
  'L-133':
    '`assertLeader()` of a term shortens the time in which a former leader can make a late write, but such a write is still possible.',
  'L-140':
    'At a shutdown, controller-runtime stops its work, then its servers, and then releases the Lease. After a loss of leadership, it exits at once.',
  'L-144': 'An apiserver removes its own endpoint in a pre-shutdown hook, while it still serves.',
  'L-150': 'Older versions of client-go store the leader in Endpoints and ConfigMaps instead of a Lease.',
  'L-151': "client-go's `MultiLock` stores the leader in two objects. If the two disagree, the holder is unknown.",
  'L-161':
    'In coordinated leader election, a controller of the apiserver writes the holder into the Lease. A preferred holder in the Lease tells the current holder to end its term.',
  'L-162':
    'In coordinated leader election, a candidate never creates or takes over a Lease itself. It renews only while it is the holder and no other holder is preferred.',
  'L-170': 'A process may have several electors, each for a different Lease.',
  'L-171': 'The work of a program can be divided into parts, with one Lease for each part.',
  'L-172':
    'The work of a program can be distributed over several processes, if each process has a Lease that shows that the process is alive.',
  'L-173':
    'N Leases make a semaphore: at most N processes hold a Lease at a time. Two applications must not use a Lease of the same name.',
  'L-174':
    'A leader writes its Lease once per retry period. A follower that polls reads the Lease less often. The load on the API server grows with the number of Leases.',
  'L-180':
    'An elector never compares the times in a Lease with its wall clock. Some other leader election libraries do this to decide whether a Lease has expired.',
  'L-181':
    'An elector writes the times of a Lease with six fractional digits. Some other leader election libraries write three digits.',
  'L-182':
    'A candidate waits for the duration in the Lease. Some other leader election libraries wait for their own configured duration.',
  'L-183':
    'An elector increases `leaseTransitions` at each change of the holder, and never at a renewal. Some other leader election libraries set it back to 0, or count renewals with it.',
  'L-184':
    'An elector leads only after its write has succeeded. It reports the start and the end of each term once. Some other leader election libraries lead earlier, report a start twice, or never report an end.',
  'L-185':
    'A term ends at once if the elector finds another holder in the Lease, also after a conflict. Some other leader election libraries ignore a conflict or a lost watch, and continue to lead.',
  'L-186': 'An elector continues to contend for the Lease after an error. Some other leader election libraries stop.',
  'L-187':
    'An elector continues its term after a failed renewal, until the renew deadline. Some other leader election libraries end their term after one failed renewal, or never end it.',
  'L-188':
    'To release a Lease, an elector checks that it is still the holder, and then clears the holder field with a PUT. Some other leader election libraries delete the Lease without checking its holder, and some never release it.',
  'L-189':
    'An elector writes only fields that a Lease has, and always writes `leaseTransitions`. Some other leader election libraries misspell fields, or never write `leaseTransitions`.',
  'L-190':
    'The renew deadline of a term counts from the moment at which a write of the leader was sent. `isLeader()` compares this deadline with the clock.',
  'L-191':
    'A term of leadership ends at once if the Lease has another holder or no holder, or was deleted or replaced. A leader of client-go continues to poll the Lease.',
  'L-192':
    'When an elector stops, it aborts the work and waits until the work has ended. Only then does it release the Lease. If the work does not end, the elector does not release the Lease.',
  'L-193':
    'The lease duration of an elector is a whole number of seconds. If a Lease has no duration, a candidate waits for its own lease duration. An empty holder is not reported as a leader.',
  'L-194':
    'With a watch, or with an attempt exactly when the Lease expires, a follower takes over faster, but never before the Lease has expired.',
  'L-195':
    'The work of a leader receives the token of its term. The elector detects a suspension of the process, reads its token file again after a 401, and reports a missing CA as an error.',
};
