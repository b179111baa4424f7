// The rules of leader election on a Lease: what client-go and the API server do, and what an elector must do beside them.

export const leaseRules: Readonly<Record<string, string>> = {
  'L-010':
    'All fields of a Lease’s spec are optional: holder, duration, the two times, transitions, strategy and preferred holder. The API server never ends a Lease by time.',
  'L-011': 'The API server writes a time in UTC with exactly six digits of a second and `Z`.',
  'L-012': 'The API server accepts a time only with exactly six digits of a second; an elector writes them and `Z`.',
  'L-013': 'A renewal sends `acquireTime` back exactly as it was received, since a `Date` loses microseconds.',
  'L-014': 'A missing or null holder is no holder; a missing duration and missing transitions are 0.',
  'L-015': 'Each write has holder, duration, both times and transitions, also where they are 0.',
  'L-016':
    'A Go candidate takes a Lease without a duration at its first sight. An elector waits for its own duration instead.',
  'L-017': 'A record has changed if its spec has changed. Labels and the resourceVersion do not count.',
  'L-019': 'An update sends all received metadata back. Configured labels are set one by one, and others are kept.',
  'L-021': 'A Lease is created with all five fields, both times equal and 0 transitions.',
  'L-032':
    'A PUT without a uid to a deleted Lease creates a new one with 201. Every PUT has the uid and the resourceVersion, and a 201 is an error.',
  'L-036': 'A resourceVersion is a string: the longer one is greater, then the digits decide. It is never a number.',
  'L-038': 'A `Retry-After` of 429 or 5xx is followed.',
  'L-039': 'A `Retry-After` is followed only if the term leaves time for it.',
  'L-050':
    'The first attempt is made at once. After each failed attempt a candidate waits from the retry period to 2.2 times that, drawn afresh each time.',
  'L-053':
    'A follower may watch the Lease and may make an attempt at the exact expiry. Neither shortens the wait for a held Lease.',
  'L-062':
    'Only a Lease that does not exist is created, and only the 201 makes a leader. Every failure ends the attempt.',
  'L-063': 'A record counts from the moment at which this version of it was first received.',
  'L-064':
    'A candidate fails while the record’s duration has not passed since its first sight, judged at the start of the attempt.',
  'L-065': 'The duration in the record counts, not the candidate’s own. A Lease without a holder is taken at once.',
  'L-066': 'A record that is seen for the first time is waited out in full, however old its times are.',
  'L-067': 'A takeover is a PUT on the object just read, with one more transition.',
  'L-068': 'Nobody leads before a write of his own was acknowledged in this process.',
  'L-080': 'A leader renews at once after its acquisition and then once per retry period.',
  'L-084': 'A request waits for about a third of the renew deadline, and a conflict alone is followed by a GET.',
  'L-091':
    'A release is a GET, then a PUT with no holder and a duration of 1. A conflict repeats both. It never deletes the Lease.',
  'L-092': 'A release writes only if holder, uid, transitions and acquireTime read are those of the term.',
  'L-093':
    'A term is valid until the renew deadline after the sending of its last acknowledged write. Other writes extend nothing.',
  'L-094':
    'A term ends at once on another holder, no holder, another uid, a deleted Lease, other transitions or another acquireTime.',
  'L-095': '`isLeader()` reads the clock on each call.',
  'L-096':
    'All intervals are measured by the monotonic clock. If the wall clock runs ahead of it by more than 2 s, the leader is in doubt until a write on its own version succeeds.',
  'L-096a':
    'A PUT that succeeds on the version of the last write proves that nobody else has held the Lease in between.',
  'L-125':
    'Two processes never act at once if the renew deadline and the time to stop fit into the lease duration, times the ratio of their clocks.',
  'L-130': 'Transitions count changes of the holder. They are an int32 and begin again when the Lease is deleted.',
  'L-131':
    'The token of a term is the resourceVersion of its acquiring write. It increases with each term, also when the Lease is deleted.',
  'L-160': 'Coordinated leader election uses the fields strategy and preferredHolder.',
  'L-163': 'An elector does not contend for a Lease with a strategy, and ends its term if one is set.',
};
