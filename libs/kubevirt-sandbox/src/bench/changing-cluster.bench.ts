import { createInterface } from 'node:readline';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '../kubevirt-simulation.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

// A simulated cluster with a fleet, for tools/bench: `changing-cluster.bench COUNT LABEL`. Prints `{port, kubeconfig}`
// in one line, then answers each command, a line of JSON, and ends when its standard input ends. LABEL is the prefix of
// a label that each change replaces: after change 7 the changed VM has `LABEL7=true`. A line `{changed: 7, at}` reports
// when the change was sent to the watches, in milliseconds of the machine's monotonic clock.

const [count = '0', label = ''] = process.argv.slice(2);

const simulation = new KubevirtSimulation();
const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
simulation.seedFleet(Number(count));

const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

let serials = 0;

/** Replaces the label, so that a VM never has more than one. */
function edit({ metadata }: VirtualMachine): void {
  const others = Object.entries(metadata.labels ?? {}).filter(([key]) => !key.startsWith(label));
  const serial = ++serials;
  metadata.labels = { ...Object.fromEntries(others), [`${label}${serial}`]: 'true' };
  // Events are sent to the watches at the end of a turn. After a pause of this process, for example for a garbage
  // collection, one turn makes up for all due changes, and the time between its first change and its end is the
  // cluster's delay.
  process.nextTick(() => say({ changed: serial, at: now() }));
}

let stop = (): void => undefined;

const commands: Readonly<Record<string, (argument: string) => unknown>> = {
  /** Requests of clients since the last call. */
  requests: () => {
    const requests = sandbox.requests.summary();
    sandbox.requests.reset();
    return requests;
  },
  /** Starts to change this many VMs a second. */
  churn: (rate) => {
    stop = simulation.churn(Number(rate), { edit });
    return {};
  },
  /** Stops the changes, and reports their total number. */
  stop: () => {
    stop();
    return { serials };
  },
};

say({ port: sandbox.port, kubeconfig: sandbox.kubeconfig() });
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [command = '', argument = ''] = line.split(' ');
    say({ answer: commands[command]?.(argument) });
  })
  .once('close', () => process.exit(0));
