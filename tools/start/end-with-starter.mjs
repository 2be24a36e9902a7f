// Loaded into each program that tools/start runs: ends it when its starter is gone, even if that was killed. The
// channel to the starter closes then, on every system.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// A program that has finished its work ends as it would without the channel.
process.channel?.unref();
