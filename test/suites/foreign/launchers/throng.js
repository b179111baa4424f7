// Runs the server in one worker of throng. The worker disconnects when throng's own SIGTERM listener is called.
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
