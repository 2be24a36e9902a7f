import { createInterface } from 'node:readline';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '../kubevirt-simulation.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

// A simulated cluster with a fleet, for tools/bench: `changing-cluster.bench COUNT LABEL`. Says `{port, kubeconfig}` in one
// line, then answers commands, a line of JSON for each, and ends with its standard input. LABEL begins the label that each
// change moves on: after change 7 the changed VM bears `LABEL7=true`, and a line `{changed: 7, at}` says when it left for
// those who watch, in milliseconds of the machine's monotonic clock.

const [count = '0', label = ''] = process.argv.slice(2);

const simulation = new KubevirtSimulation();
const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
simulation.seedFleet(Number(count));

const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

let serials = 0;

/** Moves the label on, so that a VM never bears more than one. */
function edit({ metadata }: VirtualMachine): void {
  const others = Object.entries(metadata.labels ?? {}).filter(([key]) => !key.startsWith(label));
  const serial = ++serials;
  metadata.labels = { ...Object.fromEntries(others), [`${label}${serial}`]: 'true' };
  // What is written to the watches in one turn leaves at its end. After a pause of this process, for a collection of
  // garbage say, the turn makes up for all that was due: a second between its first change and its end is the cluster's.
  process.nextTick(() => say({ changed: serial, at: now() }));
}

let stop = (): void => undefined;

const commands: Readonly<Record<string, (argument: string) => unknown>> = {
  /** What clients have asked since the last time. */
  requests: () => {
    const requests = sandbox.requests.summary();
    sandbox.requests.reset();
    return requests;
  },
  /** Changes so many VMs a second from now on. */
  churn: (rate) => {
    stop = simulation.churn(Number(rate), { edit });
    return {};
  },
  /** Ends that, and tells how many changes there were in all. */
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
