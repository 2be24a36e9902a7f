// The floor of a proxy: reads the head of each request to find its end, and pipes everything else on one upstream
// connection per client connection. It checks nothing and changes nothing.
import { connect, createServer } from 'node:net';

const { hostname, port } = new URL(process.argv[2]);

/** The end of the first request in these bytes; undefined if it is incomplete. */
function endOfRequest(bytes) {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(bytes.latin1Slice(0, head + 2))?.[1] ?? 0;
  const end = head + 4 + Number(length);
  return bytes.length >= end ? end : undefined;
}

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
  let pending = Buffer.alloc(0);
  client.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const end = endOfRequest(pending);
    if (end === undefined) return;
    upstream.write(pending.subarray(0, end));
    pending = pending.subarray(end);
  });
  upstream.pipe(client);
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`),
);
