import 'reflect-metadata';
import { ConsoleBroker } from '@headgate/consoles';
import { Fleet } from '@headgate/fleet';
import { RegistryDatabase } from '@headgate/registry-store';
import { TaskBoard } from '@headgate/tasks';
import { MetricsSnapshot } from './exposition/metrics-snapshot.js';
import { EventStreams } from './fleet/event-streams.js';
import { HttpListener } from './platform/http-listener.js';
import { StoreModule } from './store/store.module.js';
import { Edge } from './testing/edge.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

describe('the service', () => {
  let edge: Edge;
  let calls: string[];
  let restore: (() => void)[];

  /** Runs something before each call of a method, for every instance of a class or for one object. */
  const before = (target: object, method: string, hook: () => unknown): void => {
    const methods = target as Record<string, Method>;
    const original = methods[method] as Method;
    methods[method] = function (...args) {
      const waited = hook();
      return waited instanceof Promise ? waited.then(() => original.apply(this, args)) : original.apply(this, args);
    };
    restore.push(() => void (methods[method] = original));
  };
  const record = (target: object, method: string, name: string): void =>
    before(target, method, () => void calls.push(name));

  beforeEach(() => {
    edge = new Edge();
    calls = [];
    restore = [];
  });

  afterEach(async () => {
    for (const undo of restore) undo();
    await edge.close();
  });

  test('answers probes before it opens the registry, and refuses changes until then', async () => {
    const answers: [string, number][] = [];
    before(StoreModule.prototype, 'onApplicationBootstrap', async () => {
      for (const [method, path] of [
        ['GET', '/healthz'],
        ['GET', '/readyz'],
        ['POST', '/api/vms/default/web/start'],
      ] as const) {
        const { status } = await fetch(`http://${edge.base}${path}`, { method });
        answers.push([path, status]);
      }
    });
    await edge.open();
    expect(answers).toEqual([
      ['/healthz', 200],
      ['/readyz', 503],
      ['/api/vms/default/web/start', 503],
    ]);
    expect((await edge.send('GET', '/readyz')).status).toBe(200);
  });

  test('starts in the order of its dependencies', async () => {
    record(HttpListener.prototype, 'onApplicationBootstrap', 'listen');
    record(RegistryDatabase.prototype, 'open', 'open the registry');
    record(TaskBoard.prototype, 'recover', 'recover tasks');
    record(Fleet.prototype, 'attach', 'watch a backend');
    record(MetricsSnapshot.prototype, 'onApplicationBootstrap', 'collect metrics');
    await edge.open();
    expect(calls).toEqual([
      'listen',
      'open the registry',
      'recover tasks',
      'watch a backend',
      'watch a backend',
      'collect metrics',
    ]);
  });

  test('stops its readers, then its work, then its listener, and closes the registry last', async () => {
    await edge.open();
    record(MetricsSnapshot.prototype, 'beforeApplicationShutdown', 'metrics');
    record(EventStreams.prototype, 'beforeApplicationShutdown', 'streams');
    record(ConsoleBroker.prototype, 'close', 'consoles');
    record(TaskBoard.prototype, 'close', 'tasks');
    record(Fleet.prototype, 'close', 'fleet');
    record(edge.lab, 'close', 'backend');
    record(RegistryDatabase.prototype, 'close', 'registry');
    edge.service.app.getHttpServer().once('close', () => calls.push('listener'));
    await edge.service.close();
    expect(calls).toEqual(['metrics', 'consoles', 'streams', 'tasks', 'listener', 'fleet', 'backend', 'registry']);
    await edge.open();
  });
});
