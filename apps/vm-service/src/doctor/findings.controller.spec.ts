import 'reflect-metadata';
import type { FindingView } from '@headgate/api-contracts';
import { DomainError, FleetAuditLog, type Diagnostics } from '@headgate/domain-contracts';
import { buildVm, MemoryBackend } from '@headgate/testing';
import { Edge, unreachable } from '../testing/edge.js';
import { until } from '../testing/replicas/until.js';

const PATH = '/api/ext/doctor';
const FIX = `${PATH}/fix`;
const PLAN = `${FIX}?dryRun=true`;

describe('the findings of the doctor', () => {
  let edge: Edge;
  let diagnostics: Diagnostics;

  beforeEach(async () => {
    edge = await new Edge(new MemoryBackend('lab')).open();
    diagnostics = edge.lab.require('diagnostics');
  });
  afterEach(() => edge.close());

  const finding = async (name: string): Promise<FindingView | undefined> => {
    const { json } = await edge.send('GET', PATH);
    return (json as unknown as FindingView[]).find((one) => one.name === name);
  };
  const fix = (name: string, path = FIX) => edge.send('POST', path, { context: 'lab', name });
  const fault = (name: string): unknown => edge.lab.engine.faults.set(name, `${name} is missing.`);

  test('have a title, the instances and the time since when; GET /api/doctor keeps its fields', async () => {
    await edge.send('GET', PATH);
    const checks = diagnostics.checks.bind(diagnostics);
    const { ref } = buildVm({ ref: { context: 'lab', name: 'web' } });
    diagnostics.checks = async () =>
      (await checks()).map((check) =>
        check.status === 'ok' ? check : { ...check, title: 'No bridge', affected: [ref] },
      );
    const before = Date.now();
    fault('bridge');
    const found = await finding('bridge');
    expect(found).toEqual({
      name: 'bridge',
      context: 'lab',
      status: 'warning',
      title: 'No bridge',
      message: 'bridge is missing.',
      remedy: 'Fix it here.',
      fixable: true,
      since: expect.any(String),
      affected: ['vm/lab/default/web'],
      affectedCount: 1,
    });
    expect(Date.parse(found?.since ?? '')).toBeGreaterThanOrEqual(before);
    expect((await finding('bridge'))?.since).toBe(found?.since);
    expect((await finding('memory'))?.title).toBe('The engine answers.');
    const contract = (await edge.send('GET', '/api/doctor')).json as unknown as object[];
    for (const check of contract)
      expect(Object.keys(check).toSorted()).toEqual(['context', 'fixable', 'message', 'name', 'remedy', 'status']);
  });

  test('have no time after a restart, and a title without one of their own', async () => {
    await edge.send('GET', PATH);
    fault('bridge');
    expect((await finding('bridge'))?.since).toBeDefined();
    await edge.reopen();
    const found = await finding('bridge');
    expect([found?.since, found?.title, found?.affected]).toEqual([undefined, 'bridge', []]);
  });

  test('are planned and fixed one by one, with the author in the journal', async () => {
    fault('bridge');
    fault('pool');
    const plan = await fix('bridge', PLAN);
    expect([plan.status, plan.json['steps']]).toEqual([200, [{ name: 'bridge', detail: 'Fix it here.' }]]);
    expect((await finding('bridge'))?.status).toBe('warning');
    expect((await fix('bridge')).json).toEqual({ fixed: ['bridge'] });
    expect([(await finding('bridge'))?.status, (await finding('pool'))?.status]).toEqual(['ok', 'warning']);
    expect(edge.service.app.get(FleetAuditLog, { strict: false }).find({ limit: 1 })).toMatchObject([
      { action: 'fix', ref: 'context/lab', outcome: 'ok', message: 'bridge' },
    ]);
  });

  test.each([
    [409, 'WRONG_STATE', { context: 'lab', name: 'gone' }],
    [409, 'WRONG_STATE', { context: 'lab', name: 'memory' }],
    [404, 'CHECK_NOT_FOUND', { context: 'lab', name: 'never' }],
    [404, 'CHECK_NOT_FOUND', { context: 'other', name: 'memory' }],
    [404, 'CHECK_NOT_FOUND', { context: 'service/registry', name: 'registry-disk' }],
    [404, 'CHECK_NOT_FOUND', { context: 'nowhere', name: 'x' }],
    [400, 'INVALID_INPUT', { context: 'lab' }],
    [400, 'INVALID_INPUT', { context: 'lab', name: ['a'] }],
    [400, 'INVALID_INPUT', { context: 'lab', name: 'gone', all: true }],
  ])('%i %s refuses the fix and its plan of %j', async (status, code, body) => {
    edge.lab.engine.faults.set('gone', '');
    for (const path of [FIX, PLAN]) {
      const refused = await edge.send('POST', path, body);
      expect([refused.status, refused.json.code]).toEqual([status, code]);
    }
  });

  test('that were never fixable are refused with the remedy', async () => {
    const checks = diagnostics.checks.bind(diagnostics);
    fault('memory-size');
    diagnostics.checks = async () => (await checks()).map((check) => ({ ...check, fixable: false }));
    const refused = await fix('memory-size', PLAN);
    expect([refused.status, refused.json.error]).toEqual([409, expect.stringContaining('Fix it here.')]);
  });

  test('of diagnostics that throw are a failed check next to the others', async () => {
    diagnostics.checks = async () => {
      throw new Error('out of order');
    };
    expect(await finding('diagnostics')).toMatchObject({ status: 'error', message: 'out of order', fixable: false });
    expect((await finding('registry-disk'))?.context).toBe('service/registry');
  });

  test('report a fix that ends without success, and the journal has it', async () => {
    fault('bridge');
    diagnostics.fix = async () => [];
    const failed = await fix('bridge');
    expect([failed.status, failed.json.code]).toEqual([502, 'BACKEND_FAILED']);
    expect(failed.json.error).toContain('bridge is missing.');
    diagnostics.fix = async () => {
      throw new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.');
    };
    expect((await fix('bridge')).status).toBe(503);
    expect(edge.service.app.get(FleetAuditLog, { strict: false }).find({ limit: 2 })).toMatchObject([
      { action: 'fix', outcome: 'error', message: 'lab does not answer.' },
      { action: 'fix', outcome: 'error' },
    ]);
    expect((await finding('bridge'))?.status).toBe('warning');
  });

  test('are fixed by one of two users, and the other is refused', async () => {
    fault('bridge');
    const original = diagnostics.fix.bind(diagnostics);
    let release = (): void => undefined;
    let fixes = 0;
    const begun = new Promise<void>((begin) => {
      diagnostics.fix = async (names) => {
        fixes++;
        begin();
        await new Promise<void>((resolve) => (release = resolve));
        return original(names);
      };
    });
    const first = fix('bridge');
    await begun;
    const second = await fix('bridge');
    expect([second.status, second.json.code]).toEqual([409, 'BUSY']);
    release();
    expect((await first).json).toEqual({ fixed: ['bridge'] });
    expect([(await fix('bridge')).json.code, fixes]).toEqual(['WRONG_STATE', 1]);
  });

  test('of a context that disconnects during the fix are not reported as fixed', async () => {
    fault('bridge');
    const original = diagnostics.fix.bind(diagnostics);
    diagnostics.fix = async () => {
      edge.lab.engine.disconnect(unreachable);
      throw unreachable;
    };
    for (const path of [FIX, PLAN]) {
      const lost = await fix('bridge', path);
      expect([lost.status, lost.json.code]).toEqual([503, 'BACKEND_UNREACHABLE']);
    }
    expect(await finding('memory')).toMatchObject({ status: 'error', fixable: false });
    diagnostics.fix = original;
    edge.lab.engine.reconnect();
    await until(async () => (await fix('bridge', PLAN)).status === 200);
    expect((await fix('bridge')).json).toEqual({ fixed: ['bridge'] });
  });

  test('can be fixed by administrators only', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    fault('bridge');
    expect((await fix('bridge')).status).toBe(403);
    expect((await fix('bridge', PLAN)).status).toBe(403);
    expect((await finding('bridge'))?.status).toBe('warning');
  });
});
