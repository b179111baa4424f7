import { setTimeout as sleep } from 'node:timers/promises';

export async function GET() {
  await sleep(200);
  return new Response('slow');
}
