import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DomainError, isRunningStatus, type InstanceRef } from '@headgate/domain-contracts';
import { MEMORY_TRAITS, MemoryBackend } from '@headgate/testing';
import { pino } from 'pino';
import { parseCommandLine } from '../../config/command-line.js';
import { loadSettings } from '../../config/load-config.js';
import { createService, type Service } from '../../create-app.js';
import { devContainer, devVm } from './dev-fleet.js';
import { DevScreen } from './dev-screen.js';

export const USAGE = `The real VM service over instances in memory, to develop, photograph and measure the web console.

  --port N              where to listen on 127.0.0.1; default 8007, 0 takes a free port
  --count N             number of VMs; default 40
  --changes N           changes of random VMs per second; default 2
  --page DIR            folder of the built console
  --as admin|viewer     who the caller is; default admin
  --state STATE         ok, simulated, partial (one context is lost) or unreachable (all are); default ok
  --help                this text
`;

const CONTAINERS = 4;
const NODES = 12;
/** Failed checks of the doctor. */
const FAULTS = { namespace: 'The namespace tailvm does not exist.' };
/** Every seventh VM is in the context lab. */
const LAB_SHARE = 7;
const SECOND_MS = 1000;

const CLUSTER_TRAITS = {
  ...MEMORY_TRAITS,
  kind: 'kubevirt',
  label: 'KubeVirt',
  namespaces: { default: 'tailvm', isOnlyOne: false },
};
const HOST_TRAITS = {
  ...MEMORY_TRAITS,
  kind: 'libvirt',
  label: 'libvirt',
  namespaces: { default: 'local', isOnlyOne: true },
  placementFields: [],
};

export interface DevService {
  readonly service: Service;
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the service with the options of `USAGE`. @returns undefined after it printed the usage */
export async function startDevService(args: readonly string[]): Promise<DevService | undefined> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '8007' },
      count: { type: 'string', default: '40' },
      changes: { type: 'string', default: '2' },
      page: { type: 'string', default: join(process.cwd(), 'apps/web-console/dist') },
      as: { type: 'string', default: 'admin' },
      state: { type: 'string', default: 'ok' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const [count, changes] = [wholeNumber('--count', values.count), wholeNumber('--changes', values.changes)];
  const openScreen = (): DevScreen => new DevScreen();
  const prod = new MemoryBackend('prod', { traits: CLUSTER_TRAITS, nodeCount: NODES, openScreen });
  const lab = new MemoryBackend('lab', {
    traits: HOST_TRAITS,
    nodeCount: 1,
    openScreen,
    unavailable: { migration: 'A single host has no other node.', containers: 'libvirt has no containers.' },
  });
  for (const [name, message] of Object.entries(FAULTS)) prod.engine.faults.set(name, message);
  const lost = { ok: [], simulated: [], partial: [lab], unreachable: [lab, prod] }[values.state] as
    MemoryBackend[] | undefined;
  if (!lost) throw new Error('--state must be ok, simulated, partial or unreachable.');
  const vms: DevVm[] = [];
  for (let index = 1; index <= count; index++) {
    const backend = index % LAB_SHARE === 3 ? lab : prod;
    const { kind, namespaces } = backend.traits;
    const vm = { ...devVm(index, backend.context, namespaces), backend: kind };
    backend.engine.put(vm);
    vms.push({ backend, ref: vm.ref });
  }
  for (let index = 1; index <= CONTAINERS; index++)
    prod.engine.put({ ...devContainer(index, 'prod'), backend: CLUSTER_TRAITS.kind });

  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-dev-'));
  const service = await createService({
    settings: loadSettings(
      parseCommandLine(['--data-dir', dataDir, '--listen', `127.0.0.1:${wholeNumber('--port', values.port)}`]),
      values.as === 'viewer' ? { SVC_ADMINS: 'ada@example.org' } : {},
    ),
    contexts: {
      backends: [prod, lab],
      simulated: new Set(values.state === 'simulated' ? ['prod'] : []),
      hasTinyGuest: true,
      notes: [],
      close: async () => undefined,
    },
    log: pino({ level: process.env['LOG_LEVEL'] ?? 'warn' }, pino.destination(2)),
    pageDir: values.page,
  });
  await service.start();
  for (const backend of lost)
    backend.engine.disconnect(
      new DomainError('BACKEND_UNREACHABLE', `${backend.context}.example.org does not answer.`),
    );
  const stopChanges = churn(
    vms.filter(({ backend }) => !lost.includes(backend)),
    changes,
  );
  return {
    service,
    url: `http://127.0.0.1:${service.port()}`,
    close: async () => {
      stopChanges();
      await service.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

interface DevVm {
  readonly backend: MemoryBackend;
  readonly ref: InstanceRef;
}

/** Pauses random running VMs, and starts or unpauses the others. */
function churn(vms: readonly DevVm[], changesPerSecond: number): () => void {
  if (changesPerSecond === 0) return () => undefined;
  const timer = setInterval(() => {
    const { backend, ref } = vms[Math.floor(Math.random() * vms.length)] ?? {};
    if (!backend || !ref || !backend.engine.has(ref)) return;
    const vm = backend.engine.vm(ref);
    const isPausable = isRunningStatus(vm.status) && vm.status !== 'Paused';
    backend.engine.setStatus(vm, isPausable ? 'Paused' : 'Running');
  }, SECOND_MS / changesPerSecond);
  return () => clearInterval(timer);
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${option} must be a whole number.`);
  return Number(text);
}
