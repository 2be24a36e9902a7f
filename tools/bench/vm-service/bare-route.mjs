// A bare Fastify route that sends the bytes of a file, for comparison with GET /api/vms. Prints its port; exits when
// its standard input closes.
import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const body = readFileSync(process.argv[2]);
const app = fastify();
app.get('/api/vms', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(body));
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${app.server.address().port}\n`);
process.stdin.resume().once('end', () => process.exit(0));
