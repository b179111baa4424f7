import type { Values } from './chart.ts';
import { refusal, refused } from './refusal.ts';

const on = (more: Values = {}): Values => ({ leaderElection: { enabled: true, ...more } });

refused('leader election', [
  refusal(
    'H-078 the chart rejects leader election with the default ServiceAccount, which other pods also have',
    { ...on(), serviceAccount: { create: false } },
    /^serviceAccount\.name \(\): every pod without its own ServiceAccount uses default, .*; name another ServiceAccount/,
  ),
  refusal(
    'H-113 the chart rejects leader election with a NetworkPolicy that does not name the API server',
    { ...on(), networkPolicy: { enabled: true } },
    /^networkPolicy\.egress \(\[\]\): must allow connections to the API server: without them, no pod can become the leader; add /,
  ),
  refusal(
    'L-002 the chart rejects a lease duration that is not longer than the renew deadline',
    on({ leaseDuration: '10s' }),
    /^leaderElection\.leaseDuration \(10s\): must be greater than leaderElection\.renewDeadline \(10s\)/,
  ),
  refusal(
    'L-002 the chart rejects a renew deadline that is not longer than 1.2 retry periods',
    on({ renewDeadline: '2400ms' }),
    /^leaderElection\.renewDeadline \(2400ms\): must be greater than 1\.2 times leaderElection\.retryPeriod \(2s\)/,
  ),
  refusal(
    'L-008 the chart rejects an invalid name of a Lease',
    on({ leaseName: 'Shop_Worker' }),
    /^leaderElection\.leaseName \(Shop_Worker\): must be the name of a Lease: at most 253 lower-case letters/,
  ),
  refusal(
    'H-075 the chart rejects a variable LEASE_NAME in the values, because the chart sets it',
    { ...on(), env: { LEASE_NAME: 'mine' } },
    /^env, extraEnv \(LEASE_NAME\): the chart sets this variable; set leaderElection\.leaseName instead/,
  ),
]);
