// The comparison for the watches of the simulated cluster: a plain server with the same commands as
// `changing-cluster.bench`, which only writes a prepared line per change. Its latency is that of Node and of the
// machine.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { monotonic } from './monotonic.mjs';

const [, , , label = ''] = process.argv;
const TICK_MS = 20;
/** As in a VM's event. */
const PADDING = 'x'.repeat(2_000);

const watches = new Set();
let serials = 0;
let timer;

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function change() {
  const serial = ++serials;
  const line = `${JSON.stringify({ type: 'MODIFIED', object: { metadata: { labels: { [label + serial]: 'true' } }, PADDING } })}\n`;
  process.nextTick(() => say({ changed: serial, at: monotonic() }));
  for (const response of watches) response.write(line);
}

const commands = {
  churn: (rate) => {
    const began = monotonic();
    const before = serials;
    timer = setInterval(() => {
      const due = before + Math.floor(((monotonic() - began) * rate) / 1000);
      while (serials < due) change();
    }, TICK_MS);
    return {};
  },
  stop: () => {
    clearInterval(timer);
    return { serials };
  },
};

const server = createServer((request, response) => {
  if (!request.url.includes('watch=true')) return response.end('{"metadata":{"resourceVersion":"1"}}');
  response.writeHead(200);
  response.flushHeaders();
  watches.add(response);
  response.on('close', () => watches.delete(response));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  say({ port, kubeconfig: `server: http://127.0.0.1:${port}\ntoken: none\n` });
});
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [command, argument] = line.split(' ');
    say({ answer: commands[command](Number(argument)) });
  })
  .once('close', () => process.exit(0));
