// Measures how much lameduck/register delays the first response of a program, and how long each turn of its event loop
// takes during the start. Starts with and without lameduck/register take turns.
//
//   node bench/start/main.ts [RUNS]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';

const runs = Number(process.argv[2] ?? 20);
const server = join(import.meta.dirname, 'server.cjs');
const register = join(import.meta.dirname, '..', '..', 'dist', 'register.cjs');

interface Turn {
  readonly at: number;
  readonly wallMs: number;
  readonly cpuMs: number;
}

const kinds = { bare: [], registered: ['--require', register] } as const;
type Kind = keyof typeof kinds;

function start(kind: Kind, env: Readonly<Record<string, string>>): ReturnType<typeof spawn> {
  const variables = { ...process.env, LAMEDUCK_PROBE_PORT: String(20_000 + (process.pid % 10_000)), ...env };
  return spawn(process.execPath, [...kinds[kind], server], { env: variables, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** firstLine resolves with the first line that the program itself prints. */
function firstLine(child: ReturnType<typeof spawn>): Promise<unknown> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      const line = text.split('\n').find((one, index, all) => index < all.length - 1 && !one.startsWith('{'));
      if (line !== undefined) resolve(JSON.parse(line));
    });
  });
}

async function firstResponse(kind: Kind): Promise<number> {
  const since = performance.now();
  const child = start(kind, {});
  const exit = once(child, 'exit');
  const socket = connect(Number(await firstLine(child)), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await once(socket, 'data');
  const took = performance.now() - since;
  child.kill('SIGKILL');
  socket.destroy();
  await exit;
  return took;
}

async function turns(kind: Kind): Promise<readonly Turn[]> {
  const child = start(kind, { TURNS: 'yes' });
  const exit = once(child, 'exit');
  const measured = (await firstLine(child)) as Turn[];
  await exit;
  return measured;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

const responses: Record<Kind, number[]> = { bare: [], registered: [] };
const longest: Record<Kind, { cpu: number[]; wall: number[] }> = {
  bare: { cpu: [], wall: [] },
  registered: { cpu: [], wall: [] },
};
let last: readonly Turn[] = [];
for (let run = 0; run < runs; run++) {
  for (const kind of run % 2 === 0 ? (['bare', 'registered'] as const) : (['registered', 'bare'] as const)) {
    responses[kind].push(await firstResponse(kind));
    const measured = await turns(kind);
    longest[kind].cpu.push(Math.max(...measured.map(({ cpuMs }) => cpuMs)));
    longest[kind].wall.push(Math.max(...measured.map(({ wallMs }) => wallMs)));
    if (kind === 'registered') last = measured;
  }
}
for (const kind of ['bare', 'registered'] as const) {
  const { cpu, wall } = longest[kind];
  console.log(
    `${kind}: first response after ${median(responses[kind]).toFixed(1)} ms;` +
      ` longest turn ${median(cpu).toFixed(1)} ms of the thread's CPU time, ${median(wall).toFixed(1)} ms`,
  );
}
console.log(`first response: ${(median(responses.registered) / median(responses.bare)).toFixed(3)} of bare`);
console.log('longest turns of the last run:');
for (const { at, wallMs, cpuMs } of last)
  console.log(`  after ${at.toFixed(0)} ms: ${cpuMs.toFixed(1)} ms CPU, ${wallMs.toFixed(1)} ms`);
