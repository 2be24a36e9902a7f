import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ADMINISTRATOR } from '@headgate/domain-contracts';
import { TaskBoard } from '@headgate/tasks';
import { MemoryBackend } from '@headgate/testing';
import { unreachable, Edge } from '../testing/edge.js';
import { MetricsSnapshot } from './metrics-snapshot.js';

const MAX_ATTEMPTS = 1000;
const DEPLOY = join(import.meta.dirname, '../../../../deploy/vm-service');

describe('GET /metrics', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const metrics = async (): Promise<string> => (await edge.send('GET', '/metrics')).body;
  const until = async (pattern: RegExp): Promise<string> => {
    let text = '';
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      text = await metrics();
      if (pattern.test(text)) return text;
    }
    throw new Error(`${pattern} did not appear in: ${text}`);
  };

  test('exposes every instance with the option, and a lost context immediately', async () => {
    await edge.reopen({}, ['--metrics']);
    const text = await until(/^svc_collection_success 1$/m);
    for (const line of [
      'svc_backend_up{context="lab",backend="memory"} 1',
      'svc_instance_info{name="db",kind="vm",backend="memory",context="lab",namespace="default",pool="",node="memory-1",template="false"} 1',
      'svc_instance_running{name="db",kind="vm",backend="memory",context="lab",namespace="default",pool=""} 1',
      'svc_instance_running{name="web",kind="vm",backend="memory",context="lab",namespace="default",pool=""} 0',
      'svc_instance_memory_bytes{name="web",kind="vm",backend="memory",context="lab",namespace="default",pool=""} 4294967296',
      'svc_instance_cpu_cores{name="box",kind="ct",backend="memory",context="lab",namespace="default",pool=""} 1',
      'svc_instances{backend="memory",context="lab",state="Stopped"} 2',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toMatch(/^svc_collection_age_seconds [\d.]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    edge.lab.engine.disconnect(unreachable);
    await until(/^svc_backend_up\{context="lab",backend="memory"\} 0$/m);
  });

  test('answers without the option, and marks an answer as partial while a context is lost', async () => {
    expect((await edge.send('GET', '/metrics')).body).toMatch(/^svc_collection_success 0$/m);
    edge.lab.engine.disconnect(unreachable);
    const nodes = await edge.send('GET', '/api/nodes');
    expect([nodes.status, nodes.headers['svc-partial']]).toEqual([200, 'true']);
  });

  test('has values for checks, folders and tasks', async () => {
    await edge.close();
    const lab = new MemoryBackend('lab', { nodeCount: 1 });
    lab.engine.freeBytes = 5e8;
    edge = await new Edge(lab).open({}, ['--metrics']);
    const board = edge.service.app.get(TaskBoard);
    const ref = { kind: 'vm', context: 'lab', namespace: 'default', name: 'web' } as const;
    const caller = { login: 'ann', name: '', grant: ADMINISTRATOR };
    for (let count = 0; count < 2; count++) board.start('create', ref, caller, () => Promise.reject(new Error('No.')));
    board.start('migrate', ref, caller, () => new Promise(() => undefined));
    await edge.send('POST', '/api/folders', { path: 'prod/east' });
    await edge.send('POST', '/api/folders/members', { path: 'prod/east', ref: 'vm/lab/default/db' });
    await edge.service.app.get(MetricsSnapshot).refresh();
    const text = await until(/^svc_check\{name="\w+",context="lab"/m);
    for (const line of [
      'svc_tasks{kind="create",status="error"} 2',
      'svc_tasks{kind="migrate",status="running"} 1',
      'svc_pool_instances{pool="prod/east"} 1',
      'svc_storage_free_bytes{context="lab",storage="memory"} 500000000',
      'svc_storage_required_bytes{context="lab",storage="memory"} 1073741824',
      'svc_pool_running{pool="prod/east"} 1',
      'svc_instance_running{name="db",kind="vm",backend="memory",context="lab",namespace="default",pool="prod/east"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^svc_check\{name="\w+",context="lab",severity="ok"\} 1$/m);
  });

  test('renders once per collection, and shares the bytes among scrapes', async () => {
    await edge.reopen({}, ['--metrics']);
    await until(/^svc_collection_success 1$/m);
    const snapshot = edge.service.app.get(MetricsSnapshot);
    await snapshot.refresh();
    const [before, age, after] = snapshot.read();
    const again = snapshot.read();
    expect([again[0] === before, again[2] === after, Number(String(age)) >= 0]).toEqual([true, true, true]);
    expect(String(after)).toMatch(/^svc_instance_info\{/m);
    await snapshot.refresh();
    expect(snapshot.read()[2]).not.toBe(after);
  });

  test('compresses for scrapers that accept gzip, as Prometheus does', async () => {
    await edge.reopen({}, ['--metrics']);
    const plain = await until(/^svc_collection_success 1$/m);
    const response = await fetch(`http://${edge.base}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    const text = await response.text();
    const series = (of: string): string[] => of.split('\n').filter((line) => line.startsWith('svc_instance'));
    expect(series(text)).toEqual(series(plain));
    expect(Number(response.headers.get('content-length'))).toBeLessThan(text.length / 2);
  });

  test('has every series of the dashboard and the alert rules in deploy/vm-service', async () => {
    await edge.reopen({}, ['--metrics']);
    const help = await until(/^svc_collection_success 1$/m);
    const dashboard = JSON.parse(await readFile(join(DEPLOY, 'grafana-dashboard.json'), 'utf8')) as {
      panels: { id: number; targets: { expr: string }[] }[];
    };
    const alerts = await readFile(join(DEPLOY, 'alerts.yaml'), 'utf8');
    const expressions = [...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), alerts];
    const named = new Set(expressions.flatMap((text) => text.match(/\b(?:svc|process|nodejs)_\w+/g) ?? []));
    expect(named.size).toBeGreaterThan(14);
    for (const name of named) expect(help).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
