import { once } from 'node:events';
import type { InstanceRef } from '@headgate/domain-contracts';
import { describeOnIncus, PrivateIncusd, readUntil, TINY_ALIAS } from '@headgate/testing';
import type { IncusEngine } from '../engine/incus-engine.js';
import { connectTo } from '../testing/connect-to.js';
import type { IncusConsoles } from './incus-consoles.js';
import { openConsoles } from './open-consoles.js';

const TYPING_INTERVAL_MS = 100;
/** Output of before this may be lost. */
const CONSOLE_READY = 'until [ -e /run/console-ready ]; do usleep 10000; done';
const SIZE = { columns: 101, rows: 33 };
const refOf = (name: string, kind: InstanceRef['kind'] = 'ct'): InstanceRef => ({
  kind,
  context: 'local',
  namespace: 'default',
  name,
});

describeOnIncus('consoles', (flavor) => {
  let daemon: PrivateIncusd;
  let engine: IncusEngine;
  let consoles: IncusConsoles;
  beforeAll(async () => {
    daemon = await PrivateIncusd.start(flavor);
    engine = connectTo(daemon);
    consoles = openConsoles(engine);
    await daemon.run('launch', TINY_ALIAS, 'web');
    await daemon.run('init', TINY_ALIAS, 'off');
  });
  afterAll(async () => {
    engine?.api.close();
    await daemon?.close();
  });

  test('the output that the server has kept of a console is gone once it was read, so it is no log', async () => {
    await daemon.run('launch', TINY_ALIAS, 'talks');
    const say = `${CONSOLE_READY}; echo one for the first reader > /dev/console`;
    await daemon.run('exec', 'talks', '--', 'sh', '-c', say);
    const kept = async (): Promise<string> =>
      daemon.run('console', 'talks', '--show-log').catch((error: unknown) => String(error));
    // The server takes over the output of a container a moment after it was written.
    let first = '';
    while (!first.includes('one for the first reader')) first += await kept();
    expect(await kept()).not.toContain('one for the first reader');
    await daemon.run('delete', '--force', 'talks');
  });

  test('a shell has a terminal of the given size, which can be resized', async () => {
    const { stream, resize } = await consoles.openShell(refOf('web'), SIZE);
    stream.write('stty size; echo $TERM; pwd\r');
    expect(await readUntil(stream, /33 101\r\n.*\/root\r\n/s)).toContain('xterm-256color');
    resize({ columns: 60, rows: 20 });
    // The resizing has a socket of its own.
    stream.write('until [ "$(stty size)" = "20 60" ]; do usleep 10000; done; echo re"sized"\r');
    await readUntil(stream, /resized/);
    stream.destroy();
  });

  test('a shell passes any bytes, and its stream ends with it', async () => {
    const { stream } = await consoles.openShell(refOf('web'), SIZE);
    stream.write('printf "\\303\\244\\001\\377|\\n" | od -An -tx1; printf "%s" "käse" | wc -c\r');
    await readUntil(stream, /c3 a4 01 ff 7c 0a\s+5\r\n/);
    const ended = once(stream.resume(), 'end');
    stream.write('exit\r');
    await ended;
  });

  test('closing a shell ends its programs', async () => {
    const { stream } = await consoles.openShell(refOf('web'), SIZE);
    stream.write('sleep 54321\r');
    await inContainer('until ps | grep -q "sleep 5432[1]"; do usleep 10000; done');
    stream.destroy();
    await inContainer('while ps | grep -q "sleep 5432[1]"; do usleep 10000; done');
  });

  test('two shells of one container are separate', async () => {
    const [one, other] = await Promise.all([
      consoles.openShell(refOf('web'), SIZE),
      consoles.openShell(refOf('web'), SIZE),
    ]);
    one.stream.write('VALUE=first\r');
    other.stream.write('VALUE=second\r');
    one.stream.write('echo "<$VALUE>"\r');
    other.stream.write('echo "<$VALUE>"\r');
    await Promise.all([readUntil(one.stream, /<first>/), readUntil(other.stream, /<second>/)]);
    one.stream.destroy();
    other.stream.destroy();
  });

  test('the console has the earlier output, and accepts input', async () => {
    await inContainer(CONSOLE_READY);
    const { stream, backlog } = await consoles.openSerial(refOf('web'));
    expect(backlog.toString()).toContain('Headgate tiny container: ready');
    // The server discards input from before it has set up the terminal.
    const answered = readUntil(stream, /input/);
    const stopTyping = engine.clock.every(TYPING_INTERVAL_MS, () => void stream.write('echo in"put"\r'));
    await answered.finally(stopTyping);
    stream.destroy();
  });

  test('refuses a container that is not running, one that does not exist, and a VM', async () => {
    await expect(consoles.openShell(refOf('off'), SIZE)).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: 'off is not running. Start it first.',
    });
    await expect(consoles.openSerial(refOf('off'))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await expect(consoles.openShell(refOf('none'), SIZE)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    await expect(consoles.openShell(refOf('web', 'vm'), SIZE)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    await expect(consoles.openVnc(refOf('web'))).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('SPICE only'),
    });
  });

  test('a shell ends when the daemon is killed, and another one opens when it is back', async () => {
    const { stream } = await consoles.openShell(refOf('web'), SIZE);
    const closed = once(stream.resume(), 'close');
    await daemon.kill();
    await closed;
    await expect(consoles.openShell(refOf('web'), SIZE)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    await daemon.resume();
    const { stream: again } = await consoles.openShell(refOf('web'), SIZE);
    again.write('echo ba"ck"\r');
    await readUntil(again, /back/);
    again.destroy();
  });

  const inContainer = (script: string): Promise<string> => daemon.run('exec', 'web', '--', 'sh', '-c', script);
});
