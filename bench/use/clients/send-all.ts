// Sends requests in a closed loop: each sender sends its next request when it has the response to the last.

/** sendAll calls the senders until `count` requests have a response. It rejects with the error of the first failure. */
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
