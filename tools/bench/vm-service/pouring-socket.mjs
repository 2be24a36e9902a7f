// A Unix socket that pours bytes into whoever connects, as fast as they are taken: so many, and then no more, so that a line
// that is held a while after its viewer left costs nothing. `pouring-socket SOCKET BYTES`. Ends with its standard input.
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
