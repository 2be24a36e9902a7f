import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SessionProcess } from './virsh-session.js';
import { VirshSessions } from './virsh-sessions.js';
import { Virsh } from './virsh.js';

const URI = 'qemu+tcp://host.example/system';
const OPTIONS = { timeoutMs: 60_000, maxLength: 1_000_000 };
/** Connects. The first line contains the random first word of the markers. */
const CONNECT = [
  `printf 'virsh # '; read -r first; id=$(echo "$first" | cut -d '"' -f 4)`,
  `printf '%s\n%s 1.virsh # ' "$first" "$id"`,
].join('; ');
/** Prints what virsh prints for one command with the output `web`. */
const ONE_COMMAND = [
  CONNECT,
  `read -r line; read -r last`,
  `printf '%s\n%s 2.web%s 3.virsh # %s\n%s 4.' "$line" "$id" "$id" "$last" "$id"; echo "error: $id 4." >&2`,
  `printf 'virsh # '`,
].join('; ');

describe('a virsh that', () => {
  let processes: SessionProcess[];
  const running = (script: string) => (): SessionProcess => {
    const child = spawn('sh', ['-c', script], { stdio: 'pipe' });
    processes.push(child);
    return child;
  };
  let all: VirshSessions[];
  const sessions = (script: string): VirshSessions => {
    const created = new VirshSessions(running(script));
    all.push(created);
    return created;
  };
  const ended = async (child: SessionProcess | undefined): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    await once(child, 'exit');
  };
  beforeEach(() => {
    processes = [];
    all = [];
  });
  afterEach(async () => {
    for (const each of all) each.close();
    await Promise.all(processes.map((child) => child.kill('SIGKILL') && ended(child)));
  });

  test('is connected runs commands, and ends when it is closed', async () => {
    const opened = sessions(`${ONE_COMMAND}; exec cat >/dev/null`);
    expect(await opened.run([['list']], OPTIONS)).toEqual({ outputs: ['web'], stderr: '' });
    opened.close();
    await ended(processes[0]);
    expect(processes).toHaveLength(1);
  });

  test('has lost its connection while it was idle is not used again', async () => {
    const lost = `${ONE_COMMAND}; read -r line; echo 'error: Disconnected due to end of file' >&2; exec cat >/dev/null`;
    const opened = sessions(lost);
    await opened.run([['list']], OPTIONS);
    const [first] = processes;
    first?.stdin.write('\n');
    await ended(first);
    expect(await opened.run([['list']], OPTIONS)).toMatchObject({ outputs: ['web'] });
    expect(processes).toHaveLength(2);
  });

  test('prints no prompt runs commands too', async () => {
    expect(await sessions(ONE_COMMAND.replaceAll('virsh # ', '')).run([['list']], OPTIONS)).toMatchObject({
      outputs: ['web'],
    });
  });

  test('can not connect is reported with its message', async () => {
    const virsh = new Virsh({
      uri: URI,
      spawnSession: running(`echo 'error: failed to connect to the hypervisor' >&2; exit 1`),
    });
    await expect(virsh.run(['list'])).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    await expect(virsh.batch([['list'], ['version']])).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test('ends in the middle of a command fails that command', async () => {
    const { ended: end, outputs } = await sessions(`${CONNECT}; read -r line; printf web`).run(
      [['list'], ['version']],
      OPTIONS,
    );
    expect([end, outputs]).toEqual(['exit', ['', '']]);
  });

  test('is not installed is reported', async () => {
    const virsh = new Virsh({ uri: URI, spawnSession: () => spawn('/no/virsh', [], { stdio: 'pipe' }) });
    await expect(virsh.run(['list'])).rejects.toMatchObject({ message: expect.stringContaining('is not installed') });
  });

  test('asks for credentials receives no command, and no secret', async () => {
    const asking = running(
      `printf 'Please enter your username: '; while read -r line; do echo "received $line" >&2; done`,
    );
    const received = await new VirshSessions(asking).run([['set-user-password', 'web', 'root', 'hidden']], OPTIONS);
    expect(received).toMatchObject({ outputs: [''], ended: 'asks' });
    expect(received.stderr).not.toMatch(/hidden|set-user-password/);
    await expect(
      new Virsh({ uri: URI, spawnSession: asking }).runSecretly(['set-user-password', 'web', 'root', 'hidden']),
    ).rejects.toMatchObject({ message: expect.not.stringContaining('hidden') });
  });

  test('prints without an end is killed', async () => {
    const { ended: end } = await sessions(`${CONNECT}; exec yes`).run([['list']], OPTIONS);
    expect(end).toBe('too-much-output');
    await ended(processes[0]);
  });

  test('does not respond is killed after the timeout, and when the operation is canceled', async () => {
    const hanging = sessions('exec cat >/dev/null');
    expect(await hanging.run([['list']], { ...OPTIONS, timeoutMs: 1 })).toMatchObject({ ended: 'timeout' });
    const cancel = new AbortController();
    const canceled = hanging.run([['list']], { ...OPTIONS, signal: cancel.signal });
    cancel.abort();
    expect(await canceled).toMatchObject({ ended: 'aborted' });
    expect(await hanging.run([['list']], { ...OPTIONS, signal: cancel.signal })).toMatchObject({ ended: 'aborted' });
    await Promise.all(processes.map(ended));
    expect(processes).toHaveLength(3);
  });
});
