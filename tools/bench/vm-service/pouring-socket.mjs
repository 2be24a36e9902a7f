// A Unix socket that pours bytes into whoever connects, as fast as they are taken. Ends with its standard input.
import { createServer } from 'node:net';

const chunk = Buffer.alloc(65_536, 'x');
const server = createServer((client) => {
  const pour = () => {
    while (!client.destroyed && client.write(chunk));
  };
  client.on('drain', pour);
  client.on('error', () => undefined);
  pour();
});
server.listen(process.argv[2], () => process.stdout.write('0\n'));
process.stdin.resume().once('end', () => process.exit(0));
