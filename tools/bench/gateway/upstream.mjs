// A fake homeserver: answers every request immediately, except for syncs, which it never answers.
import { createServer } from 'node:http';

const BODY = Buffer.from('{"event_id":"$abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"}');
const server = createServer((request, response) => {
  request.resume();
  if (request.url.includes('/sync')) return;
  request.once('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': BODY.length });
    response.end(BODY);
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`),
);
