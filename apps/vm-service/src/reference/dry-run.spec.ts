import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlanView } from '@headgate/api-contracts';
import { MemoryBackend } from '@headgate/testing';
import { NO_DRY_RUN } from '../platform/dry-run.guard.js';
import { sshKeyId, sshKeyLine } from '../testing/ssh-key-line.js';
import { Edge, type Reply } from '../testing/edge.js';
import { openapiDocument } from './openapi-document.js';
import { previewApplication } from './preview-application.js';

interface Methods {
  readonly [method: string]: { readonly parameters?: readonly { readonly name: string }[] };
}

interface Example {
  readonly path: string;
  readonly body?: object;
  /** The code with which the request is refused, in the plan as well. */
  readonly refusal?: string;
}

/** The name that the backend in memory gives to its second volume. */
const ATTACHED = 'disk-2';
const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const vm = (name: string, path: string): string => `/api/vms/default/${name}/${path}`;
const box = (path: string): string => `/api/ext/cts/default/box/${path}`;
const extended = (name: string, path: string): string => `/api/ext/vms/default/${name}/${path}`;

/** A request for each route that changes something, which succeeds on the service that `prepared` returns. */
const REHEARSED: Readonly<Record<string, Example>> = {
  'POST /api/vms': { path: '/api/vms', body: { name: 'new', image: 'tiny' } },
  'DELETE /api/vms/{ns}/{name}': { path: '/api/vms/default/web' },
  'POST /api/vms/{ns}/{name}/{action}': { path: vm('web', 'start') },
  'POST /api/vms/{ns}/{name}/migrate': { path: vm('db', 'migrate') },
  'POST /api/vms/{ns}/{name}/tags': { path: vm('web', 'tags'), body: { tag: 'new', on: true } },
  'POST /api/vms/{ns}/{name}/scale': { path: vm('web', 'scale'), body: { cpu: 4 } },
  'POST /api/vms/{ns}/{name}/volumes': { path: vm('web', 'volumes'), body: { size: '1G' } },
  'DELETE /api/vms/{ns}/{name}/volumes/{vol}': { path: vm('web', `volumes/${ATTACHED}`) },
  'POST /api/vms/{ns}/{name}/expand': { path: vm('web', 'expand'), body: { pvc: 'root', size: '40G' } },
  'POST /api/vms/{ns}/{name}/nics': { path: vm('web', 'nics'), body: { nad: 'lan-2', iface: 'second' } },
  'POST /api/vms/{ns}/{name}/snapshots': { path: vm('web', 'snapshots'), body: { name: 'new' } },
  'POST /api/vms/{ns}/{name}/snapshots/{snap}/restore': { path: vm('web', 'snapshots/one/restore') },
  'DELETE /api/vms/{ns}/{name}/snapshots/{snap}': { path: vm('web', 'snapshots/one') },
  'POST /api/vms/{ns}/{name}/clone': { path: vm('web', 'clone'), body: { target: 'copy' } },
  'POST /api/vms/{ns}/{name}/template': { path: vm('web', 'template'), body: { on: true } },
  'POST /api/cts': { path: '/api/cts', body: { name: 'new', image: 'debian:12' } },
  'DELETE /api/cts/{ns}/{name}': { path: '/api/cts/default/box' },
  'POST /api/cts/{ns}/{name}/{action}': { path: '/api/cts/default/box/stop' },
  'POST /api/datavolumes': {
    path: '/api/datavolumes',
    body: { name: 'new', url: 'https://images.example/new.qcow2', size: '2G' },
  },
  'DELETE /api/datavolumes/{ns}/{name}': { path: '/api/datavolumes/tailvm/golden' },
  'POST /api/doctor/fix': { path: '/api/doctor/fix' },
  'POST /api/ext/doctor/fix': { path: '/api/ext/doctor/fix', body: { context: 'lab', name: 'memory-fault' } },
  'POST /api/folders': { path: '/api/folders', body: { path: 'new' } },
  'DELETE /api/folders': { path: '/api/folders?path=prod' },
  'POST /api/folders/action': { path: '/api/folders/action', body: { path: 'prod', action: 'start' } },
  'POST /api/folders/members': { path: '/api/folders/members', body: { path: 'prod', ref: DB } },
  'DELETE /api/folders/members': { path: `/api/folders/members?ref=${encodeURIComponent(WEB)}` },
  'POST /api/folders/move': { path: '/api/folders/move', body: { from: 'prod', to: 'production' } },
  'POST /api/ext/ssh-keys': { path: '/api/ext/ssh-keys', body: { key: sshKeyLine(2) } },
  'DELETE /api/ext/ssh-keys/{id}': { path: `/api/ext/ssh-keys/${sshKeyId(1)}` },
  'POST /api/sources': {
    path: '/api/sources',
    body: { name: 'new', kind: 'url', uri: 'https://images.example/new.qcow2' },
  },
  'DELETE /api/sources/{name}': { path: '/api/sources/own' },
  'POST /api/move': {
    path: '/api/move',
    body: { ref: 'vm/lab/default/twin', toBackend: 'memory', toContext: 'other', name: 'moved' },
  },
  'PATCH /api/ext/vms/{ns}/{name}': {
    path: '/api/ext/vms/default/web',
    body: { cpu: 4, tags: ['new'], protected: true },
  },
  'PATCH /api/ext/cts/{ns}/{name}': { path: '/api/ext/cts/default/box', body: { tags: ['new'] } },
  'POST /api/ext/cts/{ns}/{name}/snapshots': { path: box('snapshots'), body: { name: 'new' } },
  'POST /api/ext/cts/{ns}/{name}/snapshots/{snap}/restore': { path: box('snapshots/one/restore') },
  'DELETE /api/ext/cts/{ns}/{name}/snapshots/{snap}': { path: box('snapshots/one') },
  'POST /api/ext/cts/{ns}/{name}/hardware': { path: box('hardware'), body: { changes: [{ kind: 'scale', cpu: 4 }] } },
  'POST /api/ext/cts/{ns}/{name}/clone': { path: box('clone'), body: { target: 'copy' } },
  'POST /api/ext/bulk': { path: '/api/ext/bulk', body: { action: 'start', refs: [WEB] } },
  'POST /api/ext/nodes/{name}/cordon': { path: '/api/ext/nodes/memory-1/cordon?context=lab' },
  'POST /api/ext/nodes/{name}/uncordon': { path: '/api/ext/nodes/memory-1/uncordon?context=other' },
  'POST /api/ext/nodes/{name}/drain': { path: '/api/ext/nodes/memory-1/drain?context=lab', body: {} },
  'POST /api/ext/guest/command': { path: '/api/ext/guest/command', body: { ref: DB, path: '/bin/echo' } },
  'POST /api/ext/guest/password': {
    path: '/api/ext/guest/password',
    body: { ref: DB, user: 'root', password: 'S3cret-of-the-test' },
  },
  'POST /api/ext/vms/{ns}/{name}/volumes/{vol}/move': {
    path: extended('db', 'volumes/root/move'),
    body: { storage: 'storage-2' },
  },
  'POST /api/ext/vms/{ns}/{name}/hardware': {
    path: extended('web', 'hardware'),
    body: {
      changes: [
        { kind: 'scale', cpu: 4 },
        { kind: 'attach-volume', size: '1G' },
        { kind: 'remove-nic', iface: 'first' },
      ],
    },
  },
  'POST /api/ext/vms/{ns}/{name}/autostart': { path: extended('web', 'autostart'), body: { on: true } },
  'POST /api/ext/vms/{ns}/{name}/placement': {
    path: extended('web', 'placement'),
    body: { pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] } },
  },
  'POST /api/ext/vms/{ns}/{name}/devices': {
    path: extended('web', 'devices'),
    body: { device: 'pci_0000_02_00_0' },
  },
  'DELETE /api/ext/vms/{ns}/{name}/devices/{device}': { path: extended('web', 'devices/pci_0000_01_00_0') },
  'POST /api/ext/vms/{ns}/{name}/boot-order': {
    path: extended('web', 'boot-order'),
    body: { devices: ['first', 'vda'] },
  },
  'POST /api/ext/vms/{ns}/{name}/drives/{drive}': {
    path: extended('web', 'drives/sda'),
    body: { pvc: null },
    // The VMs in memory have no drives.
    refusal: 'DEVICE_NOT_FOUND',
  },
  'POST /api/ext/vms/{ns}/{name}/nics/{iface}': { path: extended('web', 'nics/first'), body: { nad: 'lan-2' } },
  'DELETE /api/ext/vms/{ns}/{name}/nics/{iface}': { path: extended('web', 'nics/first') },
  'DELETE /api/ext/vms/{ns}/{name}/checkpoints/{checkpoint}': { path: extended('db', 'checkpoints/one') },
};

/** Routes whose dry runs are tested in another way, with the spec that does. */
const TESTED_ELSEWHERE: Readonly<Record<string, string>> = {
  'POST /api/ext/contexts': '../contexts/contexts.spec.ts',
  'PATCH /api/ext/contexts/{name}': '../contexts/change-context.spec.ts',
  'DELETE /api/ext/contexts/{name}': '../contexts/contexts.spec.ts',
  'POST /api/ext/roles': '../roles/roles.controller.spec.ts',
  'PATCH /api/ext/roles/{id}': '../roles/roles.controller.spec.ts',
  'DELETE /api/ext/roles/{id}': '../roles/roles.controller.spec.ts',
  'POST /api/ext/agents/stop': '../agents/agents.spec.ts',
  'POST /api/ext/agents/resume': '../agents/agents.spec.ts',
  'POST /api/ext/tokens': '../tokens/tokens.controller.spec.ts',
  'PATCH /api/ext/tokens/{id}': '../tokens/change-tokens.spec.ts',
  'POST /api/ext/tokens/{id}/rotate': '../tokens/change-tokens.spec.ts',
  'DELETE /api/ext/login/devices/{id}': '../login/device-login.spec.ts',
  'DELETE /api/ext/tokens/{id}': '../tokens/tokens.controller.spec.ts',
  'POST /api/ext/messages/channels': '../messages/messages.spec.ts',
  'PATCH /api/ext/messages/channels/{id}': '../messages/messages.spec.ts',
  'DELETE /api/ext/messages/channels/{id}': '../messages/messages.spec.ts',
  'POST /api/ext/messages/rules': '../messages/messages.spec.ts',
  'PATCH /api/ext/messages/rules/{id}': '../messages/messages.spec.ts',
  'DELETE /api/ext/messages/rules/{id}': '../messages/messages.spec.ts',
  'POST /api/ext/schedules': '../schedules/schedules.controller.spec.ts',
  'PATCH /api/ext/schedules/{id}': '../schedules/schedules.controller.spec.ts',
  'DELETE /api/ext/schedules/{id}': '../schedules/schedules.controller.spec.ts',
  'POST /api/ext/schedules/{id}/run': '../schedules/schedules.controller.spec.ts',
  'POST /api/ext/views': '../views/views.spec.ts',
  'PATCH /api/ext/views/{id}': '../views/views.spec.ts',
  'DELETE /api/ext/views/{id}': '../views/views.spec.ts',
  'POST /api/ext/backups/targets': '../backups/backups.spec.ts',
  'DELETE /api/ext/backups/targets/{target}': '../backups/backups.spec.ts',
  'POST /api/ext/backups/targets/{target}/clean': '../backups/backups.spec.ts',
  'POST /api/ext/backups/targets/{target}/check': '../backups/backups.spec.ts',
  'DELETE /api/ext/backups/targets/{target}/points/{point}': '../backups/backups.spec.ts',
  'POST /api/ext/backups/targets/{target}/points/{point}/restore': '../backups/backups.spec.ts',
  'POST /api/ext/backups/targets/{target}/points/{point}/replace-disks': '../backups/backups.spec.ts',
  'POST /api/ext/backups/targets/{target}/points/{point}/add-disks': '../backups/backups.spec.ts',
  'POST /api/ext/backups/targets/{target}/points/{point}/prove': '../backups/backup-proofs.spec.ts',
  'POST /api/ext/backups/targets/{target}/points/{point}/files': '../files/files.spec.ts',
  'DELETE /api/ext/backups/targets/{target}/points/{point}/files/{session}': '../files/files.spec.ts',
  'POST /api/ext/vms/{ns}/{name}/files': '../files/files.spec.ts',
  'DELETE /api/ext/vms/{ns}/{name}/files/{session}': '../files/files.spec.ts',
  'POST /api/ext/vms/{ns}/{name}/backup': '../backups/backups.spec.ts',
  'POST /api/ext/webhooks': 'dry-run.spec.ts',
  'PATCH /api/ext/webhooks/{id}': 'dry-run.spec.ts',
  'DELETE /api/ext/webhooks/{id}': 'dry-run.spec.ts',
  'POST /api/ext/webhooks/{id}/replay': 'dry-run.spec.ts',
  'POST /api/ext/webhooks/{id}/rotate': 'dry-run.spec.ts',
  'POST /api/plugins/{name}/install': '../plugins/plugins.controller.spec.ts',
  'DELETE /api/plugins/{name}': '../plugins/plugins.controller.spec.ts',
};

/** Everything that clients can read about the state. */
const READS = [
  '/api/vms',
  '/api/cts',
  '/api/folders',
  '/api/sources',
  '/api/ext/ssh-keys',
  '/api/datavolumes',
  '/api/doctor',
  '/api/tasks',
  '/api/ext/nodes',
  ...['events', 'snapshots'].map(box),
  ...['web', 'db'].flatMap((name) => [
    vm(name, 'events'),
    vm(name, 'snapshots'),
    extended(name, 'hardware'),
    extended(name, 'checkpoints'),
  ]),
];

/** The load of nodes is measured while a test runs. */
const withoutLoad = (body: string): string => body.replace(/"load":\{[^{}]*\}/g, '"load":"measured"');

describe('dryRun', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge(new MemoryBackend('lab')).open();
  });
  afterEach(() => edge.close());

  /** A service with one of everything that can be deleted. */
  const prepared = async (): Promise<void> => {
    edge.lab.engine.faults.set('memory-fault', 'Something is wrong.');
    for (const [path, body] of [
      ['/api/folders', { path: 'prod' }],
      ['/api/folders/members', { path: 'prod', ref: WEB }],
      ['/api/ext/ssh-keys', { key: sshKeyLine(1) }],
      ['/api/sources', { name: 'own', kind: 'url', uri: 'https://images.example/own.qcow2' }],
      ['/api/datavolumes', { name: 'golden', url: 'https://images.example/golden.qcow2', size: '2G' }],
      [vm('web', 'snapshots'), { name: 'one' }],
      [box('snapshots'), { name: 'one' }],
      [vm('web', 'volumes'), { size: '1G' }],
      [vm('web', 'nics'), { nad: 'lan-1', iface: 'first' }],
      [extended('web', 'devices'), { device: 'pci_0000_01_00_0' }],
      ['/api/ext/nodes/memory-1/cordon?context=other', {}],
    ] as const)
      expect((await edge.send('POST', path, body)).status).toBeLessThan(300);
    expect((await edge.send('GET', vm('db', 'export?checkpoint=one'))).status).toBe(200);
  };
  const state = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const path of READS) found.push(`${path} ${withoutLoad((await edge.send('GET', path)).body)}`);
    return found;
  };
  const send = (route: string, { path, body }: Example, dryRun?: string): Promise<Reply> => {
    const query = dryRun === undefined ? '' : `${path.includes('?') ? '&' : '?'}dryRun=${dryRun}`;
    return edge.send(route.split(' ')[0] ?? '', `${path}${query}`, body);
  };

  test('is tested for every route that has one, and refused by all other routes that change something', async () => {
    const app = await previewApplication();
    const { paths } = JSON.parse(JSON.stringify(openapiDocument(app, '1'))) as { paths: Record<string, Methods> };
    await app.close();
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => !['get', 'head'].includes(method))
        .map(([method, { parameters = [] }]) => ({
          route: `${method.toUpperCase()} ${path}`,
          hasDryRun: parameters.some(({ name }) => name === 'dryRun'),
        })),
    );
    const tested = [...Object.keys(REHEARSED), ...Object.keys(TESTED_ELSEWHERE)];
    expect(
      routes
        .filter(({ hasDryRun }) => hasDryRun)
        .map(({ route }) => route)
        .sort(),
    ).toEqual(tested.sort());
    await prepared();
    const before = await state();
    // The messages of agents are refused to all callers of this test, whatever their query.
    const others = routes.filter(({ route, hasDryRun }) => !hasDryRun && !route.endsWith(' /api/ext/mcp'));
    expect(others.map(({ route }) => route)).toContain('POST /api/ext/bulk/{task}/cancel');
    for (const { route } of others) {
      const path = route.slice(route.indexOf(' ') + 1).replace(/\{\w+\}/g, 'none');
      for (const dryRun of ['true', 'false', '']) {
        const { status, json } = await send(route, { path }, dryRun);
        expect([route, status, json.code, json.error]).toEqual([route, 400, 'INVALID_INPUT', NO_DRY_RUN]);
      }
    }
    expect(await state()).toEqual(before);
  });

  test.each([...new Set(Object.values(TESTED_ELSEWHERE))])('is tested by %s', async (file) => {
    expect(await readFile(join(import.meta.dirname, file), 'utf8')).toContain('dryRun=true');
  });

  test.each(Object.entries(REHEARSED))(
    'of %s returns the plan and changes nothing, unlike the request',
    async (route, example) => {
      await prepared();
      const before = await state();
      const { status, json } = await send(route, example, 'true');
      const { steps, warnings, refusals } = json as unknown as PlanView;
      expect([status, warnings]).toEqual([200, expect.any(Array)]);
      expect(refusals.map(({ code }) => code)).toEqual(example.refusal === undefined ? [] : [example.refusal]);
      expect(steps.length > 0).toBe(example.refusal === undefined);
      expect(await state()).toEqual(before);
      expect((await send(route, example, 'yes')).status).toBe(400);
      expect(await state()).toEqual(before);
      const carriedOut = await send(route, example);
      if (example.refusal === undefined) expect(carriedOut.status).toBeLessThan(300);
      else expect(carriedOut.json.code).toBe(example.refusal);
      // A request that fails is audited, too.
      expect(await state()).not.toEqual(before);
    },
  );

  test('of webhooks returns the plan and changes nothing', async () => {
    const WEBHOOKS = '/api/ext/webhooks';
    const body = { name: 'chat', url: 'https://hooks.example/chat', events: ['task.ended'] };
    const ids = async (): Promise<string[]> =>
      ((await edge.send('GET', WEBHOOKS)).json as unknown as { id: string }[]).map(({ id }) => id);
    const plan = { steps: [expect.any(Object)], warnings: [], refusals: [] };
    expect((await edge.send('POST', `${WEBHOOKS}?dryRun=true`, body)).json).toEqual(plan);
    expect(await ids()).toEqual([]);
    expect((await edge.send('POST', WEBHOOKS, body)).status).toBeLessThan(300);
    const [id = ''] = await ids();
    expect((await edge.send('PATCH', `${WEBHOOKS}/${id}?dryRun=true`, { scope: { q: 'web' } })).json).toEqual(plan);
    expect((await edge.send('DELETE', `${WEBHOOKS}/${id}?dryRun=true`)).json).toEqual(plan);
    expect((await edge.send('POST', `${WEBHOOKS}/${id}/replay?dryRun=true`)).status).toBe(200);
    expect((await edge.send('POST', `${WEBHOOKS}/${id}/rotate?dryRun=true`, {})).json).toEqual(plan);
    expect(await ids()).toEqual([id]);
  });

  test('of an export that creates a checkpoint is refused, and HEAD checks the same', async () => {
    const path = vm('db', 'export?checkpoint=one');
    const refused = await edge.send('GET', `${path}&dryRun=true`);
    expect([refused.status, refused.json.error]).toEqual([400, NO_DRY_RUN]);
    expect((await edge.send('HEAD', path)).status).toBe(200);
    expect((await edge.send('GET', extended('db', 'checkpoints'))).json).toEqual([]);
  });
});
