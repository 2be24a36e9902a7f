import 'reflect-metadata';
import { ADMINISTRATOR, AuditLog, TaskStore, type TaskReporter } from '@headgate/domain-contracts';
import { RegistryDatabase } from '@headgate/registry-store';
import { TaskBoard } from '@headgate/tasks';
import { Edge } from '../testing/edge.js';

const ref = { kind: 'vm', context: 'lab', namespace: 'default', name: 'web' } as const;
const PATIENCE = { stallMs: 60_000, waitsFor: 'the gate', ifStalled: 'It may still open.' };
const ann = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

describe('/api/tasks', () => {
  let edge: Edge;
  let gate: PromiseWithResolvers<void>;

  beforeEach(async () => {
    gate = Promise.withResolvers();
    edge = await new Edge().open();
  });

  afterEach(async () => {
    gate.resolve();
    await edge.close();
  });

  /** A running task that waits at the gate. */
  const begin = async (): Promise<{ id: string; report: TaskReporter }> => {
    const begun = Promise.withResolvers<TaskReporter>();
    const id = await edge.service.app.get(TaskBoard).start('create', ref, ann, (report) => {
      begun.resolve(report);
      return gate.promise;
    });
    return { id, report: await begun.promise };
  };

  /** A task of two steps: the first can be canceled and waits for that, the second can't and waits at the gate. */
  const beginMove = (skipsFirst: boolean): Promise<string> => {
    const moves = edge.service.app.get(TaskBoard).define({
      kind: 'create',
      steps: () => [
        {
          ...PATIENCE,
          name: 'copy',
          isCancelable: true,
          run: ({ signal }) =>
            skipsFirst ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', resolve)),
        },
        { ...PATIENCE, name: 'switch', run: () => gate.promise },
      ],
    });
    return moves.start({ name: 'web', ref: 'vm/lab/default/web', input: {} }, ann);
  };

  const statusOf = async (id: string): Promise<Record<string, unknown>> =>
    (await edge.send('GET', `/api/tasks/${id}`)).json;

  const until = async (id: string, isReached: (task: Record<string, unknown>) => boolean) => {
    for (;;) {
      const task = await statusOf(id);
      if (isReached(task)) return task;
      // Requests alone would leave timers no turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const stream = async (id: string, headers: Record<string, string> = {}, query = '') => {
    const response = await fetch(`http://${edge.base}/api/tasks/${id}${query}`, {
      headers: { accept: 'text/event-stream', ...headers },
    });
    return { response, text: response.text() };
  };

  const eventsOf = (text: string): StreamEvent[] =>
    [...text.matchAll(/event: (\w+)\nid: (\S+)\ndata: (.*)\n\n/g)].map(([, event = '', id = '', data = '']) => ({
      event,
      id,
      data: JSON.parse(data) as Record<string, unknown>,
    }));

  test('answers a running task with its log, and the list without logs', async () => {
    const { id, report } = await begin();
    report.step('Write the disk');
    report.log('half of it');
    report.progress(0.5);
    expect(await statusOf(id)).toMatchObject({
      id,
      kind: 'create',
      status: 'running',
      error: '',
      ref: 'vm/lab/default/web',
      caller: 'ann',
      finishedAt: null,
      progress: 0.5,
      log: 'Write the disk\nhalf of it',
      steps: [{ name: 'Write the disk' }],
      cancelable: false,
    });
    const listed = (await edge.send('GET', '/api/tasks')).json as unknown as Record<string, unknown>[];
    expect(listed).toMatchObject([{ id, progress: 0.5, log: '' }]);
    const unknown = await edge.send('GET', '/api/tasks/none');
    expect([unknown.status, unknown.json.code]).toEqual([404, 'TASK_NOT_FOUND']);
  });

  test('streams a snapshot, then the changes, and ends with the task', async () => {
    const { id, report } = await begin();
    report.log('first');
    const { response, text } = await stream(id);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    report.log('second');
    gate.resolve();
    const events = eventsOf(await text);
    expect(events[0]).toMatchObject({ event: 'snapshot', data: { id, log: expect.stringMatching(/^first/) } });
    expect(events.at(-1)).toMatchObject({ event: 'changed', data: { status: 'done' } });
  });

  test.each(['header', 'query'])('continues after the last event, whose ID is in the %s', async (place) => {
    const { id, report } = await begin();
    report.log('first');
    const reader = (await fetch(`http://${edge.base}/api/tasks/${id}`, { headers: { accept: 'text/event-stream' } }))
      .body!.pipeThrough(new TextDecoderStream())
      .getReader();
    const [snapshot] = eventsOf((await reader.read()).value ?? '');
    await reader.cancel();
    report.log('second');
    const last = snapshot?.id ?? '';
    const { text } = await (place === 'header'
      ? stream(id, { 'last-event-id': last })
      : stream(id, {}, `?lastEventId=${last}`));
    gate.resolve();
    const events = eventsOf(await text);
    expect(events[0]).toMatchObject({ event: 'log', data: { offset: 6, text: 'second\n' } });
    expect(events.filter(({ event }) => event === 'snapshot')).toEqual([]);
  });

  test.each(['AAAAAAAA-5-0', 'nonsense', '9'.repeat(64)])(
    'sends a snapshot to a client with the position %s',
    async (position) => {
      const { id } = await begin();
      const { text } = await stream(id, { 'last-event-id': position });
      gate.resolve();
      expect(eventsOf(await text)[0]?.event).toBe('snapshot');
    },
  );

  test('streams one snapshot of a task that has ended, and refuses one that it does not know', async () => {
    const { id, report } = await begin();
    report.log('all of it');
    gate.resolve();
    await until(id, ({ status }) => status === 'done');
    const events = eventsOf(await (await stream(id)).text);
    expect(events).toMatchObject([{ event: 'snapshot', data: { status: 'done', log: 'all of it' } }]);
    const { response, text } = await stream('none');
    expect([response.status, JSON.parse(await text)]).toMatchObject([404, { code: 'TASK_NOT_FOUND' }]);
  });

  test('ends its streams when the service stops, after the outcome of the task', async () => {
    const { id, report } = await begin();
    report.signal.addEventListener('abort', () => gate.resolve());
    const { text } = await stream(id);
    await edge.reopen();
    expect(eventsOf(await text).at(-1)).toMatchObject({ event: 'changed', data: { status: 'done' } });
  });

  test('cancels a task as often as it is asked, and records the caller', async () => {
    const id = await beginMove(false);
    await until(id, ({ cancelable, steps }) => cancelable === true && (steps as object[]).length === 1);
    const first = await edge.send('DELETE', `/api/tasks/${id}`);
    expect([first.status, first.json['status']]).toEqual([200, 'canceling']);
    const task = await until(id, ({ status }) => status === 'error');
    expect(task).toMatchObject({ error: expect.stringMatching(/^Canceled by /), caller: 'ann' });
    const again = await edge.send('DELETE', `/api/tasks/${id}`);
    expect([again.status, again.json['status']]).toEqual([200, 'canceled']);
    expect(
      edge.service.app
        .get(AuditLog)
        .recent(10)
        .map(({ action, ref, outcome }) => [action, ref, outcome]),
    ).toEqual([['cancel task', `task/${id}`, 'ok']]);
  });

  test('refuses to cancel a step that must not be interrupted, an ended task and an unknown one', async () => {
    const id = await beginMove(true);
    await until(id, ({ steps }) => (steps as object[]).length === 2);
    const unsafe = await edge.send('DELETE', `/api/tasks/${id}`);
    expect([unsafe.status, unsafe.json.code]).toEqual([409, 'WRONG_STATE']);
    expect(unsafe.json.error).toMatch(/"switch"/);
    gate.resolve();
    await until(id, ({ status }) => status === 'done');
    expect((await edge.send('DELETE', `/api/tasks/${id}`)).status).toBe(409);
    expect((await edge.send('DELETE', '/api/tasks/none')).status).toBe(404);
    expect((await edge.send('DELETE', `/api/tasks/${'x'.repeat(5000)}`)).status).toBe(404);
    expect((await edge.send('DELETE', '/api/tasks/none', { force: true })).status).toBe(400);
  });

  test('lets only administrators cancel, also the tasks of others', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann carl' });
    const id = await beginMove(false);
    await until(id, ({ steps }) => (steps as object[]).length === 1);
    expect((await edge.send('DELETE', `/api/tasks/${id}`, undefined, { 'tailscale-user-login': 'bob' })).status).toBe(
      403,
    );
    expect(await statusOf(id)).toMatchObject({ status: 'running' });
    expect((await edge.send('DELETE', `/api/tasks/${id}`, undefined, { 'tailscale-user-login': 'carl' })).status).toBe(
      200,
    );
    expect(await until(id, ({ status }) => status === 'error')).toMatchObject({ canceledBy: 'carl', caller: 'ann' });
  });

  test('keeps secrets and control characters out of the log', async () => {
    const { id, report } = await begin();
    report.log('\u001b[31mGET https://ann:hunter22@example.org/a?token=abc\u0000\u001b[0m');
    expect((await statusOf(id))['log']).toBe('GET https://***@example.org/a?token=***');
  });

  test.each([
    ['read-only', 'NOT_READY', 'PRAGMA query_only = ON', 'PRAGMA query_only = OFF'],
    ['full', 'REGISTRY_FULL', 'PRAGMA max_page_count = 1', 'PRAGMA max_page_count = 1000000'],
  ])('begins nothing while the store is %s', async (_title, code, close, open) => {
    const store = edge.service.app.get(RegistryDatabase);
    const refs = Array.from({ length: 2000 }, (_none, index) => `vm/lab/default/v${index}`);
    const body = { action: 'start', refs: ['vm/lab/default/web', ...refs] };
    store.get(close);
    try {
      const refused = await edge.send('POST', '/api/ext/bulk', body);
      expect([refused.status, refused.json.code]).toEqual([503, code]);
      expect(refused.json.error).toMatch(/readonly|is full/);
    } finally {
      store.get(open);
    }
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
    const vms = (await edge.send('GET', '/api/vms')).json as unknown as { name: string; status: string }[];
    expect(vms.find(({ name }) => name === 'web')?.status).toBe('Stopped');
    const { json } = await edge.send('POST', '/api/ext/bulk', { ...body, refs: ['vm/lab/default/web'] });
    expect(await until(String(json['task']), ({ status }) => status !== 'running')).toMatchObject({ status: 'done' });
  });

  test('ends a task of an earlier process that can not continue', async () => {
    const { id } = await begin();
    const store = edge.service.app.get(TaskStore);
    const running = store.get(id)!;
    gate.resolve();
    await until(id, ({ status }) => status === 'done');
    await store.put(running);
    await edge.reopen();
    expect(await statusOf(id)).toMatchObject({ status: 'error', error: 'interrupted by a restart' });
  });
});
