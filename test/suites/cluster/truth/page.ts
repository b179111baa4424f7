// Renders docs/rehearsal-truth.md, which compares a real kubelet with a rehearsal, pod by pod. The functions of this
// module have no side effects.
import type { Row } from './account.ts';
import { hasAgreed, type ComparedLoss } from './losses/compare.ts';
import type { Loss } from './losses/on-cluster.ts';

/**
 * Comparison is the comparison of one pod under a real kubelet with the same pod in a rehearsal: one row for each
 * property.
 */
export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** The properties of this pod that differed between cluster and rehearsal in an earlier comparison. */
  readonly earlier: readonly Row[];
}

// The behaviours of the simulated kubelet that are known only from the source code of the kubelet. No pod on the
// cluster has shown how a real kubelet behaves in these cases.
const fromSource: readonly (readonly [what: string, why: string])[] = [
  ['graceful node shutdown', 'the nodes have no systemd, whose inhibitor lock the kubelet needs'],
  ['soft eviction, and eviction for memory', 'the nodes share the memory of one machine'],
  ['`lifecycle.stopSignal`', 'the feature gate `ContainerStopSignals` is off by default'],
  ['`OOMKilled`', 'a rehearsal limits no memory'],
  [
    'a back-off beyond 20 s, and its reset after 600 s',
    'the script ends within minutes, and unit tests check this arithmetic',
  ],
];

/** `page()` returns the text of docs/rehearsal-truth.md. */
export function page(comparisons: readonly Comparison[], losses: readonly ComparedLoss[], versions: string): string {
  const agreeing = comparisons.filter(({ rows }) => rows.every(({ agrees }) => agrees)).length;
  const atOnce = comparisons.filter(
    ({ rows, earlier }) => rows.every(({ agrees }) => agrees) && earlier.length === 0,
  ).length;
  return [
    '# The rehearsal beside a real kubelet',
    '',
    `\`lameduck rehearse\` predicts what a kubelet does. This page compares a rehearsal with a real kubelet: ${String(comparisons.length)} pods ran under a real`,
    `kubelet, and the same programs and manifests ran in a rehearsal. Kubelet and rehearsal agree for ${String(agreeing)} of the pods, and agreed for ${String(atOnce)} of these pods at the`,
    'first attempt.',
    '',
    `The kubelet had the version ${versions}. \`npm run truth\` writes this page, and needs a cluster.`,
    '',
    '## How it is compared',
    '',
    '- The answers to probes are read from the log of the server, because the kubelet logs no successful probe.',
    '- Times after SIGTERM agree if they differ by at most 0.1 s. All other times agree within 1.5 s, and counts within 1.',
    '- Exit codes, reasons and the reported events must be equal. The order of two events must be equal if more than 0.1 s is',
    '  between them, in the cluster and in the rehearsal.',
    '- The times of probe responses and of readiness count from the start of the program. A pod without a readiness probe is ready',
    '  before its program has started, so the time of its readiness is negative.',
    "- The time of a sidecar's SIGTERM may differ by 1.5 s, because containerd takes up to half a second to report the end of a container.",
    '- In the cluster and in the rehearsal, a pod is deleted equally long after its start. The rehearsal has no clients.',
    '- A killed process cannot log its end. The table has the time of its last log line instead. Each process logs a line every 20 ms.',
    '- The kubelet makes each wait of a back-off longer, by a random part of up to one half. The rehearsal waits without this part,',
    '  and the column of the rehearsal shows the range of the times that are possible for a kubelet.',
    '- If cluster and rehearsal differ, the pod is compared again, up to three times, because a busy machine starts and ends',
    '  processes late. A list after the table of the pod shows the earlier differences.',
    '- The reported events do not include failed probes that found no listener, because these depend on milliseconds.',
    '',
    ...lossesSection(losses),
    ...comparisons.flatMap(section),
    '## From source',
    '',
    'These parts of a rehearsal follow the source code of the kubelet, because no pod of this page shows the behavior of a real kubelet.',
    '',
    ...table([['part of a rehearsal', 'why no pod of this page shows the part'], ...fromSource]),
    '',
  ].join('\n');
}

const lossesHeading = '## What a rolling update loses';

/**
 * withLosses returns the text of docs/rehearsal-truth.md, in which a new table of lost requests replaces the old table.
 */
export function withLosses(text: string, losses: readonly ComparedLoss[]): string {
  const [head = '', ...sections] = text.split(/^(?=## )/m);
  const isHowTo = (one: string): boolean => one.startsWith('## How it is compared');
  const others = sections.filter((one) => !one.startsWith(lossesHeading));
  const own = `${lossesSection(losses).join('\n')}\n`;
  return [head, ...others.filter(isHowTo), own, ...others.filter((one) => !isHowTo(one))].join('');
}

function lossesSection(losses: readonly ComparedLoss[]): string[] {
  return [
    lossesHeading,
    '',
    'Each server ran in a Deployment with two pods and a Service. The Deployment was updated once, pod by pod.',
    'During the update, sixteen clients sent requests to the Service through kube-proxy. Ten of the clients kept their connection, and none retried.',
    'Each kube-proxy learned of changed endpoints of the Service up to 2 s late.',
    '`lameduck rehearse --manifest` then rehearsed the same Deployment with `--propagation 2s`. The cluster and the rehearsal send',
    'different numbers of requests, so the counts differ. Cluster and rehearsal agree if requests were lost or refused in both, and the',
    'server had served before. For a server with lameduck, they agree if both sent requests, and neither lost or refused a request.',
    '',
    'Exit codes may differ: a server that waits for its kept-alive connections ends only when its clients happen to be idle. A server',
    'that ignores SIGTERM as PID 1 is killed, and its requests in flight are lost.',
    '',
    ...table([
      ['server', 'cluster', 'rehearsal', 'first cause that the rehearsal names', 'agrees'],
      ...losses.map((one) => [
        one.server.title,
        countsOf(one.cluster),
        countsOf(one.rehearsal),
        one.rehearsal.causes[0]?.text ?? '',
        hasAgreed(one) ? 'yes' : '**no**',
      ]),
    ]),
    '',
  ];
}

function countsOf({ requests, lost, refused, exitCode }: Loss): string {
  return `of ${String(requests)} requests: ${String(lost)} lost and ${String(refused)} refused, exit code ${String(exitCode)}`;
}

function section({ name, title, rows, earlier }: Comparison): string[] {
  return [
    `## ${name}`,
    '',
    `This pod runs a server that ${title}.`,
    '',
    ...table([
      ['property', 'under a real kubelet', 'in the rehearsal', 'agrees'],
      ...rows.map((row) => [
        row.what,
        row.onCluster || 'none',
        row.inRehearsal || 'none',
        row.agrees ? 'yes' : '**no**',
      ]),
    ]),
    '',
    ...(earlier.length === 0
      ? []
      : [
          'In an earlier attempt, the kubelet and the rehearsal differed in these properties of the pod:',
          '',
          ...earlier.flatMap(differenceOf),
          '',
        ]),
  ];
}

function differenceOf({ what, onCluster, inRehearsal }: Row): string[] {
  return [`- ${what}`, `  - kubelet: ${onCluster || 'none'}`, `  - rehearsal: ${inRehearsal || 'none'}`];
}

// Formats a Markdown table as Prettier does.
function table(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(3, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, index) => text.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}
