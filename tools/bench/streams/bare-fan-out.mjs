// bare-fan-out.mjs INTERVAL_MS BYTES: sends the same bytes to every connection at an interval, with plain node:http.
// Prints its port.
import { createServer } from 'node:http';

const [intervalMs, bytes] = process.argv.slice(2).map(Number);
const batch = Buffer.alloc(bytes, 'x');
const open = new Set();

const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('event: snapshot\ndata: []\nid: 0\n\n');
  open.add(response);
  request.once('close', () => open.delete(response));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
setInterval(() => {
  for (const response of open) response.write(batch);
}, intervalMs);
process.stdin.resume().once('end', () => process.exit(0));
