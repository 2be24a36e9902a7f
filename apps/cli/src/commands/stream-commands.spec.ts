import type { ServerResponse } from 'node:http';
import { FakeService } from '../testing/fake-service.js';
import { containerView, vmView } from '../testing/instances.js';
import { Cli, Recorder } from '../testing/run-cli.js';

describe('commands that follow', () => {
  let service: FakeService;
  let cli: Cli;
  const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

  beforeEach(async () => {
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  describe('task -f', () => {
    const task = { id: 'move-1', kind: 'move', status: 'running', error: '', progress: 0.4, steps: [], log: '' };
    const follow = (ended: object, log = 'Copying \x1b[2Jdisk\n') => {
      service.on('GET /api/tasks/move-1', (response, { headers }) => {
        if (headers.accept === 'application/json')
          return response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ ...task, ...ended, log }));
        begin(response).write(event('snapshot', { ...task, log }));
        response.write(event('log', { offset: log.length, text: 'Verifying\n' }));
        response.end(event('changed', { ...task, ...ended }));
      });
      return cli.run(['task', '-f', 'move-1']);
    };

    test('shows the log without its control characters, and ends with 0 after a success', async () => {
      expect(await follow({ status: 'done' })).toEqual({
        code: 0,
        stdout: 'move-1: done\n',
        stderr: 'Copying \\x1b[2Jdisk\nVerifying\n',
      });
    });

    test('ends with 1 and the error after a failure', async () => {
      const { code, stderr } = await follow({ status: 'error', error: 'No space.' });
      expect(code).toBe(1);
      expect(stderr).toMatch(/headgate: The task move-1 has failed: No space\. \(TASK_FAILED\)\n$/);
    });

    test('ends with 4 for a task that does not exist', async () => {
      service.json('*', { error: 'There is no task x.', code: 'TASK_NOT_FOUND' }, 404);
      expect(await cli.run(['task', '-f', 'x'])).toMatchObject({ code: 4 });
    });

    test('shows one line of progress on a terminal, and removes it', async () => {
      const stderr = new Recorder();
      stderr.isTTY = true;
      service.on('GET /api/tasks/move-1', (response, { headers }) => {
        const steps = [{ name: 'Copy the disk\x1b[2J', startedAt: '' }];
        const transfer = { doneBytes: 1, totalBytes: 2, bytesPerSecond: 1, remainingSeconds: 200 };
        if (headers.accept === 'application/json')
          return response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ ...task, status: 'done' }));
        begin(response).write(event('snapshot', { ...task, steps, transfer, waitsFor: 'the guest' }));
        response.end(event('changed', { ...task, status: 'done' }));
      });
      await cli.run(['task', 'follow', 'move-1'], { stderr });
      expect(stderr.text).toBe('\r\x1b[K40% · Copy the disk\\x1b[2J · 3 min left · waits for the guest\r\x1b[K');
    });
  });

  describe('events -f', () => {
    /** Reads until the stream has sent everything, and leaves with Ctrl-C. */
    async function follow(answers: readonly string[], last: RegExp, args: string[] = []) {
      const abortion = new AbortController();
      const stdout = new Recorder();
      let connection = 0;
      service.on('GET /api/ext/stream', (response) => {
        const text = answers[connection++] ?? '';
        begin(response);
        if (connection === answers.length) response.write(text);
        else response.end(text);
      });
      const ended = cli.run(['events', '-f', ...args], { stdout, interrupted: abortion.signal });
      await stdout.until(last);
      abortion.abort();
      return { ...(await ended), stdout: stdout.text.replace(/^\S+Z {2}/gm, '') };
    }

    test('shows changes, but not the first state, and continues behind the last event after a loss', async () => {
      const off = vmView({ name: 'web-2', status: 'Stopped' });
      const outcome = await follow(
        [
          `id: s-1\n${event('vms.snapshot', [vmView(), off])}${event('vms.changed', vmView({ status: 'Paused' }))}`,
          // A service that has forgotten the event begins with a snapshot.
          event('vms.snapshot', [vmView({ status: 'Running' })]) +
            event('tasks.changed', { id: 't-1', status: 'done' }),
        ],
        /t-1 done/,
      );
      expect(outcome).toMatchObject({ code: 130 });
      expect(outcome.stdout).toBe(
        'vm/lab/default/web-1 Running → Paused\nvm/lab/default/web-1 Paused → Running\nvm/lab/default/web-2 is gone\nt-1 done\n',
      );
      expect(outcome.stderr).toMatch(/Trying again in 1 s\./);
      expect(service.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 's-1']);
    });

    test('prints one object per line as JSON, of one instance only', async () => {
      service.json('GET /api/vms', [vmView()]).json('GET /api/cts', []);
      const text =
        event('vms.snapshot', [vmView()]) +
        event('vms.changed', vmView({ name: 'other', status: 'Paused' })) +
        event('vms.changed', vmView({ status: 'Paused', reason: '\x9b\u202e' }));
      const { stdout } = await follow([text], /\n/, ['web-1', '-o', 'json']);
      expect(stdout.split('\n')).toHaveLength(2);
      expect(stdout).toMatch(/"reason":"\\u009b\\u202e"/);
      expect(JSON.parse(stdout)).toMatchObject({ event: 'vms.changed', data: { status: 'Paused' } });
    });
  });

  test('events shows the events of an instance', async () => {
    service.json('GET /api/vms', []).json('GET /api/cts', [containerView()]);
    const entry = {
      time: '2026-11-29T00:00:00Z',
      type: 'Normal',
      reason: 'start',
      message: 'Done.',
      source: 'service',
    };
    service.json('GET /api/ext/cts/default/box-1/events', [entry]);
    expect((await cli.run(['events', 'box-1'])).stdout).toMatch(/2026-11-29T00:00:00Z +Normal +start +Done\.\n$/);
  });
});
