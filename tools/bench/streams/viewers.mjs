// viewers.mjs PORT COUNT: reads the event stream of a server with many connections. Prints a line once all of them have
// received their first event ID, which ends the snapshot, and for each line on its standard input the number of bytes
// received so far.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const [port, count] = process.argv.slice(2).map(Number);
let bytes = 0;
let connected = 0;

for (let index = 0; index < count; index++) {
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET /api/vms HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`),
  );
  let isReady = false;
  socket.on('data', (data) => {
    bytes += data.length;
    if (isReady || !data.includes('\nid: ')) return;
    isReady = true;
    if (++connected === count) process.stdout.write(`${count}\n`);
  });
  socket.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
}

createInterface({ input: process.stdin })
  .on('line', () => process.stdout.write(`${bytes}\n`))
  .once('close', () => process.exit(0));
