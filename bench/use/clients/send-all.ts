// Sends requests in a closed loop: each sender sends its next request when it has received the response to its last
// one.

/**
 * sendAll sends `count` requests with the functions in `senders`, and resolves when all have a response. It rejects
 * with the error of the first request that fails.
 */
export async function sendAll(senders: readonly (() => Promise<void>)[], count: number): Promise<void> {
  let toSend = count;
  const loop = async (send: () => Promise<void>): Promise<void> => {
    while (toSend > 0) {
      toSend--;
      await send();
    }
  };
  await Promise.all(senders.map(loop));
}
