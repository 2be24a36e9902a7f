// The minimum for an exchange like a refused login: reads a body, parses it, and answers 429.
import { createServer } from 'node:http';

const REFUSAL = JSON.stringify({
  errcode: 'M_LIMIT_EXCEEDED',
  error: 'Too many requests: try again in 59 seconds.',
  retry_after_ms: 58839,
});
const HEADERS = { 'Content-Type': 'application/json', 'Content-Length': REFUSAL.length, 'Retry-After': '59' };

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.once('end', () => {
    JSON.parse(Buffer.concat(chunks));
    response.writeHead(429, HEADERS).end(REFUSAL);
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`),
);
