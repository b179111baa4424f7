import { setTimeout as sleep } from 'node:timers/promises';

export const dynamic = 'force-dynamic';

export async function GET() {
  await sleep(200);
  return new Response('slow');
}
