import { setTimeout as sleep } from 'node:timers/promises';

export const dynamic = 'force-dynamic';

async function* words() {
  for (let index = 0; index < 20; index++) {
    yield new TextEncoder().encode(`data: word${index}\n\n`);
    await sleep(100);
  }
}

export function POST() {
  return new Response(ReadableStream.from(words()), { headers: { 'Content-Type': 'text/event-stream' } });
}
