import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackendDeps, BackendKind } from '@headgate/domain-contracts';
import { buildVm, MEMORY_TRAITS, MemoryBackend } from '@headgate/testing';
import { IsInt, IsOptional } from 'class-validator';
import { pino } from 'pino';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings } from '../config/load-config.js';
import { createService, type Service } from '../create-app.js';
import { BACKEND_KINDS, type BackendKinds } from '../engines/backend-kinds.js';
import { chooseContexts } from './choose-contexts.js';

const TRAITS = {
  ...MEMORY_TRAITS,
  kind: 'hypervisor-nine',
  label: 'Hypervisor Nine',
  namespaces: { default: 'lobby', isOnlyOne: true },
  instanceNames: { pattern: '[a-z]+', maxLength: 8, description: 'be letters' },
  imageKinds: [],
  placementFields: [],
};

function createBackend(context: string): MemoryBackend {
  const backend = new MemoryBackend(context, { traits: TRAITS, nodeCount: 1 });
  backend.engine.put(buildVm({ ref: { context, namespace: 'lobby', name: 'web' }, backend: TRAITS.kind }));
  return backend;
}

class NineSettings {
  @IsOptional() @IsInt() rooms = 1;
}

const opened: BackendDeps<NineSettings>[] = [];

/** The door of an adapter. */
const nineKind: BackendKind<NineSettings> = {
  traits: TRAITS,
  settings: NineSettings,
  open: async (deps) => {
    opened.push(deps);
    return { backend: createBackend(deps.context) };
  },
};

/** The one line that registers a kind of backend. */
const kinds: BackendKinds = { ...BACKEND_KINDS, [TRAITS.kind]: nineKind };

describe('a registered kind of backend', () => {
  let folder: string;
  let service: Service;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-kind-'));
    const config = join(folder, 'headgate.yaml');
    writeFileSync(config, `contexts: [{ name: nine, kind: ${TRAITS.kind}, rooms: 9 }]\nmetrics: true`);
    const options = parseCommandLine(['--config', config, '--data-dir', folder, '--listen', '127.0.0.1:0']);
    const settings = loadSettings(options, {}, kinds);
    const log = pino({ level: 'silent' });
    const contexts = await chooseContexts({ options, settings, log, kinds });
    service = await createService({ settings, contexts, log, pageDir: folder });
    await service.start();
  });

  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  const send = async (path: string, body?: object): Promise<{ status: number; json: unknown }> => {
    const response = await fetch(`http://127.0.0.1:${service.port()}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: body ? { 'content-type': 'application/json' } : {},
      body: body && JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  };

  test('is opened with its settings, and a folder of its own', () => {
    expect(opened).toMatchObject([{ context: 'nine', settings: { rooms: 9 }, dataDir: join(folder, 'fetch/nine') }]);
    expect(opened[0]?.settings).toBeInstanceOf(NineSettings);
  });

  test('appears in the lists', async () => {
    expect((await send('/api/vms')).json).toMatchObject([
      { name: 'web', context: 'nine', backend: 'hypervisor-nine', namespace: 'lobby' },
    ]);
    const nodes = (await send('/api/nodes')).json as { context: string }[];
    expect(new Set(nodes.map(({ context }) => context))).toEqual(new Set(['nine']));
  });

  test('appears in the capabilities, with everything that the page needs to know of it', async () => {
    const { json } = await send('/api/capabilities');
    expect((json as { contexts: unknown[] }).contexts).toMatchObject([
      {
        context: 'nine',
        backend: 'hypervisor-nine',
        label: 'Hypervisor Nine',
        namespaces: { default: 'lobby', isOnlyOne: true },
        instanceNames: { pattern: '[a-z]+', maxLength: 8, description: 'be letters' },
        imageKinds: [],
        isSingleHost: false,
        placementFields: [],
        abilities: { power: true },
        sources: { pvc: true },
      },
    ]);
    expect((await send('/api/images')).json).toEqual([]);
  });

  test('takes new instances by its own rules', async () => {
    expect(await send('/api/vms', { name: 'db', namespace: 'default', pvc: 'volume-1' })).toMatchObject({
      status: 400,
      json: { error: 'namespace must be "lobby" on nine, which has no other.' },
    });
    expect(await send('/api/vms', { name: 'db', pvc: 'volume-1' })).toMatchObject({
      status: 201,
      json: { ref: 'vm/nine/lobby/db' },
    });
  });

  test('appears in the metrics with its checks', async () => {
    const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${service.port()}/metrics`)).text();
    let text = await metrics();
    while (!text.includes('context="nine",severity')) text = await metrics();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'svc_backend_up{context="nine",backend="hypervisor-nine"} 1',
        'svc_check{name="memory",context="nine",severity="ok"} 1',
      ]),
    );
  });
});
