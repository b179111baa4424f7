// Clients that send requests without a pause, in their own process, until they are killed.
import { newAccount, runClient } from '../../test/support/closed-loop-client.ts';

const [port, clients] = process.argv.slice(2).map(Number);

const account = newAccount();
const stop = new AbortController().signal;
const running = Array.from({ length: clients as number }, () => runClient({ port: port as number, account, stop }));
const telling = setInterval(() => {
  if (account.answered === 0) return;
  clearInterval(telling);
  process.send?.('flows');
}, 10);
await Promise.all(running);
