// The server in one worker of throng, which disconnects when its own listener of SIGTERM is called.
import throng from 'throng';

await throng({
  count: 1,
  grace: 30_000,
  worker: async (_id, disconnect) => {
    process.on('SIGTERM', () => {
      console.log(JSON.stringify({ msg: 'disconnecting' }));
      disconnect();
    });
    await import('./server.js');
  },
});
