import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { englishEnvironment } from '../programs/run-program.js';
import { spawnVirshSession } from './spawn-virsh-session.js';
import type { SessionProcess } from './virsh-session.js';
import { Virsh } from './virsh.js';

/** A driver inside of virsh, which needs no libvirtd. */
const URI = 'test:///default';
const run = promisify(execFile);
const isInstalled = await run('virsh', ['--version']).then(
  () => true,
  () => false,
);

(isInstalled ? describe : describe.skip)('commands in one virsh process', () => {
  let virsh: Virsh;
  const single = async (...args: string[]): Promise<string> =>
    (await run('virsh', ['--quiet', '--connect', URI, ...args])).stdout;
  beforeEach(() => void (virsh = new Virsh({ uri: URI })));
  afterEach(() => virsh.close());

  test('print the same as in a process each', async () => {
    for (const args of [['list', '--all'], ['dumpxml', 'test'], ['capabilities'], ['pool-list', '--name']]) {
      expect(await virsh.run(args)).toBe(await single(...args));
    }
    expect(await virsh.batch([['domuuid', 'test'], ['hostname']])).toEqual([
      await single('domuuid', 'test'),
      await single('hostname'),
    ]);
  });

  test('run on after one that fails, or that virsh does not understand', async () => {
    await expect(virsh.run(['dominfo', 'gone'])).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    await expect(virsh.run(['dominfo', '--no-such-option', 'test'])).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    await expect(virsh.run(['no-such-command'])).rejects.toMatchObject({ message: /unknown command/ });
    expect(await virsh.batch([['dominfo', 'gone'], ['domid', 'test'], ['frob']])).toEqual(['', '1\n', '']);
    const many = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? ['frob'] : ['echo', `word-${i}`]));
    expect(await virsh.batch(many)).toEqual(many.map(([, word = '']) => word));
    expect(await virsh.run(['domid', 'test'])).toBe('1\n');
  });

  test.each([
    ['two words', 'two words'],
    ['quotes', '"quoted"'],
    ['backslashes', 'back\\slash \\'],
    ['the ends of commands', "it's; list"],
    ['a comment', '# no comment'],
    ['the syntax of a shell', '$HOME `id` $(id) !! ~'],
    ['other languages', 'é € 漢字 😀'],
    ['an option', '--all'],
    ['a long word', 'x'.repeat(20_000)],
    ['a tab and a line break', 'a tab\tand a\nline'],
    ['keys of an editor', '\u0004\u0003\u001b[A'],
  ])('receive %s unchanged', async (_title, word) => {
    expect(await virsh.run(['echo', '--', word])).toBe(word);
    expect(
      await virsh.batch([
        ['echo', '--', word],
        ['domid', 'test'],
      ]),
    ).toEqual([word, '1\n']);
  });

  test('run at the same time in several processes', async () => {
    const words = Array.from({ length: 40 }, (_, i) => `word-${i}`);
    expect(await Promise.all(words.map((word) => virsh.run(['echo', word])))).toEqual(words);
  });

  test('can be canceled, and then followed by others', async () => {
    const cancel = new AbortController();
    const waiting = virsh.run(['event', '--all', '--loop'], { signal: cancel.signal });
    setImmediate(() => cancel.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await virsh.run(['domid', 'test'])).toBe('1\n');
  });

  describe('with a secret', () => {
    let home: string;
    let child: SessionProcess;
    const { HOME, XDG_CACHE_HOME } = process.env;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'headgate-home-'));
      process.env['HOME'] = home;
      delete process.env['XDG_CACHE_HOME'];
    });
    afterEach(async () => {
      process.env['HOME'] = HOME;
      if (XDG_CACHE_HOME !== undefined) process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME;
      await rm(home, { recursive: true });
    });

    const opened = (spawnSession: (options: readonly string[]) => SessionProcess): Virsh =>
      new Virsh({ uri: URI, spawnSession: () => (child = spawnSession(['--quiet', '--connect', URI])) });
    /** Virsh writes its history when it ends. */
    const untilEnded = async (ended: Virsh): Promise<void> => {
      child.ref();
      const exit = once(child, 'exit');
      ended.close();
      await exit;
    };

    test('have it in no argument, no message and no history', async () => {
      const virsh = opened(spawnVirshSession);
      await virsh.runSecretly(['echo', 'hidden']);
      const refused = virsh.runSecretly(['set-user-password', 'gone', 'root', 'hidden']);
      await expect(refused).rejects.toMatchObject({
        code: 'INSTANCE_NOT_FOUND',
        message: expect.not.stringContaining('hidden'),
      });
      expect(child.spawnargs.join(' ')).not.toContain('hidden');
      await untilEnded(virsh);
      expect(await readdir(home)).toEqual([]);
    });

    test('would have it in the history without the environment of a session', async () => {
      const virsh = opened((options) => spawn('virsh', options, { stdio: 'pipe', env: englishEnvironment() }));
      await virsh.runSecretly(['echo', 'hidden']);
      await untilEnded(virsh);
      expect(await readFile(join(home, '.cache/libvirt/virsh/history'), 'utf8')).toContain('hidden');
    });

    test.each(['hidden\tword', 'x'.repeat(1000)])('refuse one that virsh would not read as it is', async (secret) => {
      await expect(virsh.runSecretly(['echo', secret])).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });
  });
});
