// A Unix socket that sends a number of bytes to each client as fast as possible. The number is limited so that a
// console session that outlives its viewer costs nothing. `pouring-socket SOCKET BYTES`. Exits when its standard input
// closes.
import { createServer } from 'node:net';

const chunk = Buffer.alloc(65_536, 'x');
const server = createServer((client) => {
  let left = Number(process.argv[3]);
  const pour = () => {
    while (left > 0 && !client.destroyed) {
      left -= chunk.length;
      if (!client.write(chunk)) return;
    }
  };
  client.on('drain', pour);
  client.on('error', () => undefined);
  pour();
});
server.listen(process.argv[2], () => process.stdout.write('0\n'));
process.stdin.resume().once('end', () => process.exit(0));
