import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WebSocketServer, type WebSocket } from 'ws';
import { FakeService } from './testing/fake-service.js';
import { containerView, vmView } from './testing/instances.js';
import { Recorder } from './testing/run-cli.js';

const project = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** Runs a program on a terminal of its own, whose input and output are those of this one. */
const ON_TERMINAL = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0;

describe('the built program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-built-'));
  const program = join(folder, 'dist/headgate.js');
  let service: FakeService;
  let children: ChildProcess[] = [];

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env['PATH'],
    HOME: folder,
    HEADGATE_SERVER: service.url,
    ...more,
  });

  beforeAll(async () => {
    const vite = join(project, '../../node_modules/vite/bin/vite.js');
    await run(process.execPath, [vite, 'build', '--outDir', join(folder, 'dist')], {
      cwd: project,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeEach(async () => {
    service = await FakeService.open();
    service.json('GET /api/vms', [vmView()]).json('GET /api/cts', [containerView()]);
  });
  afterEach(async () => {
    for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    children = [];
    await service.close();
  });

  /** Starts the program, on a terminal if that is asked for, and records its output. */
  function start(args: readonly string[], { onTerminal = false, env = {} } = {}) {
    const [command, ...first] = onTerminal
      ? ['python3', '-c', ON_TERMINAL, process.execPath, program]
      : [process.execPath, program];
    const child = spawn(command!, [...first, ...args], { env: environment(env), stdio: 'pipe' });
    children.push(child);
    const output = new Recorder();
    child.stdout.on('data', (data: Buffer) => output.write(data));
    child.stderr.on('data', (data: Buffer) => output.write(data));
    const ended = once(child, 'close').then(([code]) => Number(code));
    return { child, output, ended };
  }

  test('is one file that loads nothing but Node', () => {
    const code = readFileSync(program, 'utf8');
    expect(code).toMatch(/^#!\/usr\/bin\/env node\n/);
    const imported = [...code.matchAll(/^import .*? from "(.+?)";$/gm)].map(([, name]) => name);
    expect(imported.filter((name) => !name?.startsWith('node:') && !BUILTIN.includes(name ?? ''))).toEqual([]);
  });
  const BUILTIN = ['events', 'https', 'http', 'net', 'tls', 'crypto', 'stream', 'url', 'zlib', 'buffer', 'process'];

  test('ends quietly when the reader of its output has seen enough', async () => {
    service.json(
      'GET /api/vms',
      Array.from({ length: 10_000 }, (_, index) => vmView({ name: `web-${index}` })),
    );
    const line = `"${process.execPath}" "${program}" list | head -1; echo "code \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await run('bash', ['-c', line], { env: environment() });
    expect({ stdout: stdout.split('\n')[1], stderr }).toEqual({ stdout: 'code 0', stderr: '' });
    expect(stdout).toMatch(/^NAME/);
  });

  test('prints all of a long list into a pipe', async () => {
    service.json(
      'GET /api/vms',
      Array.from({ length: 10_000 }, (_, index) => vmView({ name: `web-${index}` })),
    );
    const { stdout } = await run(process.execPath, [program, 'list', '-o', 'json'], {
      env: environment(),
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(JSON.parse(stdout)).toHaveLength(10_001);
  });

  test('changes the configuration in several processes at the same time without losing one', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const env = { HEADGATE_CONFIG: join(folder, 'many/config.yaml') };
    await Promise.all(
      names.map((name) => start(['context', 'add', name, '--server', `https://${name}.example.org`], { env }).ended),
    );
    const { stdout } = await run(process.execPath, [program, 'context', 'list', '-o', 'json'], {
      env: environment(env),
    });
    expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).sort()).toEqual(names);
    expect(statSync(env.HEADGATE_CONFIG).mode & 0o777).toBe(0o600);
  });

  test('ends with 130 when Ctrl-C meets a request, and a request of a task does not end the task', async () => {
    const task = {
      id: 'move-1',
      kind: 'move',
      status: 'running',
      log: 'Copying\n',
      error: '',
      progress: 0.4,
      steps: [],
    };
    service.on('GET /api/tasks/move-1', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: snapshot\ndata: ${JSON.stringify(task)}\n\n`);
    });
    const { child, output, ended } = start(['task', '-f', 'move-1']);
    await output.until(/Copying/);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(output.text).toMatch(/The task goes on: follow it with "headgate task -f move-1"/);
    expect(service.lines).toEqual(['GET /api/tasks/move-1']);

    service.on('GET /api/vms', () => second.child.kill('SIGINT'));
    const second = start(['list', '-k', 'vm']);
    expect(await second.ended).toBe(130);
    expect(second.output.text).toMatch(/Interrupted/);
  });

  test('completes commands, options and names in bash, and expands nothing in a name', async () => {
    service.json('GET /api/vms', [
      vmView(),
      vmView({ name: 'web-2' }),
      vmView({ name: 'web-$(touch pwned)' }),
      vmView({ name: 'web-`touch pwned`' }),
    ]);
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'headgate'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, { mode: 0o755 });
    const script = `source <(headgate completion bash)
      ask() { COMP_WORDS=(headgate "$@"); COMP_CWORD=$#; _headgate headgate; echo "\${COMPREPLY[*]}"; }
      ask snap; ask list --fol; ask -o y; ask stop web; ask snapshot re; ask completion f; ls pwned 2>/dev/null`;
    const { stdout } = await run('bash', ['-c', script], {
      cwd: folder,
      env: environment({ PATH: `${bin}:${process.env['PATH']}` }),
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('snapshot\n--folder\nyaml\nweb-1 web-2\nrestore\nfish\n');
  });

  (hasPython ? describe : describe.skip)(`on a terminal${hasPython ? '' : ': skipped, no python3'}`, () => {
    const plan = { steps: [{ name: 'stop', detail: 'web-1' }], warnings: [], refusals: [] };
    const changes = () => service.requests.filter(({ method, url }) => method !== 'GET' && !url.includes('dryRun'));

    beforeEach(() => {
      service.on('POST /api/vms/default/web-1/stop', (response, { url }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(url.includes('dryRun') ? plan : { status: 'ok' }));
      });
    });

    test.each([
      ['y\r', 0, 1],
      ['n\r', 1, 0],
      ['\r', 1, 0],
      ['\x03', 130, 0],
      ['\x04', 130, 0],
    ])('asks before it interrupts something: %j ends with %d', async (answer, code, count) => {
      const { child, output, ended } = start(['stop', 'web-1'], { onTerminal: true });
      await output.until(/Go ahead\? \[y\/N\] /);
      expect(output.text).toContain('- stop: web-1');
      child.stdin.write(answer);
      expect(await ended).toBe(code);
      expect(changes()).toHaveLength(count);
    });

    describe('with a console', () => {
      let sockets: WebSocketServer;
      let typed: Recorder;
      let opened: Promise<WebSocket>;

      beforeEach(() => {
        sockets = new WebSocketServer({ server: service.server });
        typed = new Recorder();
        opened = once(sockets, 'connection').then(([socket]) => {
          (socket as WebSocket).on('message', (data: Buffer, isBinary) =>
            typed.write(isBinary ? data : Buffer.from(`text:${String(data)}`)),
          );
          (socket as WebSocket).send(Buffer.from('login: '));
          return socket as WebSocket;
        });
      });
      afterEach(() => sockets.close());

      /** The settings of the terminal before, during and after a console, as its shell sees them. */
      const inShell = (end: string) => {
        const script = `stty -a | grep -o -- '-\\?icanon'; sh -c 'echo "pid $$"; exec "${process.execPath}" "${program}" console ${end}'; echo "code $?"; stty -a | grep -o -- '-\\?icanon'`;
        const child = spawn('python3', ['-c', ON_TERMINAL, 'bash', '-c', script], {
          env: environment(),
          stdio: 'pipe',
        });
        children.push(child);
        const output = new Recorder();
        child.stdout.on('data', (data: Buffer) => output.write(data));
        return { child, output, ended: once(child, 'close') };
      };

      test('sends each key, also Ctrl-C, until Ctrl-], and restores the terminal', async () => {
        const { child, output, ended } = inShell('web-1');
        await output.until(/login: /);
        child.stdin.write('root\r\x03');
        await typed.until(/root\r\x03/);
        child.stdin.write('x\x1dnot sent');
        await ended;
        expect(typed.text).toBe('root\r\x03x');
        expect(output.text).toMatch(/^icanon\r\n[^]*code 0\r\n(.*\r\n)*icanon\r\n$/);
        expect(output.text).toContain('\x1b[?1049l');
      });

      test('restores the terminal when the service goes away, and says why', async () => {
        const { output, ended } = inShell('web-1');
        await output.until(/login: /);
        (await opened).close(1011, 'The VM was deleted.\x1b[2J'.slice(0, 30));
        await ended;
        expect(output.text).toMatch(/The VM was deleted\.\\x1b\[2J/);
        expect(output.text).toMatch(/code 1\r\n(.*\r\n)*icanon\r\n$/);
      });

      test('restores the terminal when it is ended by a signal', async () => {
        const { output, ended } = inShell('web-1');
        await output.until(/login: /);
        process.kill(Number(/pid (\d+)/.exec(output.text)?.[1]), 'SIGTERM');
        await ended;
        expect(output.text).toMatch(/code 143\r\n(.*\r\n)*icanon\r\n$/);
      });

      test('sends the size of the window to the shell of a container', async () => {
        const { child, output, ended } = inShell('box-1');
        await output.until(/login: /);
        await typed.until(/text:\{"resize":\{"columns":\d+,"rows":\d+\}\}/);
        child.stdin.write('\x1d');
        await ended;
      });
    });
  });
});
