import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import type { GuestOperations } from '../connection/guest-operations.js';
import { waitForBoot, type BootWatch } from './wait-for-boot.js';

const never = new AbortController().signal;

describe('the wait for a guest', () => {
  let clock: FixedClock;
  let answer: (command: string) => Promise<string>;
  beforeEach(() => {
    clock = new FixedClock();
    answer = () => Promise.reject(new DomainError('GUEST_AGENT_UNREACHABLE', 'The agent is not connected.'));
  });

  async function* printing(...parts: string[]): AsyncGenerator<Buffer> {
    for (const part of parts) yield Buffer.from(part, 'latin1');
    await new Promise(() => undefined);
  }
  const wait = (more: Partial<BootWatch> = {}) =>
    waitForBoot({
      uuid: 'uuid-1',
      guests: { command: (_uuid: string, command: string) => answer(command) } as unknown as GuestOperations,
      clock,
      serial: printing(),
      timeLimitMs: 60_000,
      signal: never,
      ...more,
    });

  test.each([
    [['web login: '], 'web login:'],
    [['\r\nDebian GNU/Linux 12 web ttyS0\r\n\r\nweb lo', 'gin: '], 'web login:'],
    [['[    1.0] random: crng init\r\n\u001b[2J\u001b[1;1Hlogin: '], 'login:'],
    [['Welcome\nlocalhost.example login: \u001b[6n'], 'localhost.example login:'],
    [[`${'x'.repeat(100_000)}\n`, 'db-1 login: '], 'db-1 login:'],
  ])('ends with the prompt of %j', async (parts, text) => {
    expect(await wait({ serial: printing(...parts) })).toEqual({ kind: 'prompt', text });
  });

  test.each([
    ['Last login: Mon Nov 30 on ttyS0\r\n'],
    ['systemd-logind[1]: Watching system buttons\r\n'],
    ['Starting getty on ttyS0, login follows\r\n'],
    ['a program without a prompt'],
  ])('goes on after %j, until its time is over', async (text) => {
    const waiting = wait({ serial: printing(text) });
    const late = expect(waiting).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    clock.advance(60_000);
    await late;
  });

  test('ends with the agent', async () => {
    answer = async () => '{"return":{}}';
    expect(await wait()).toEqual({ kind: 'agent' });
  });

  test.each([
    [0, 'ok'],
    [3, 'broken'],
  ])('ends with the exit code %i of a command, whatever the prompt is', async (exitCode, output) => {
    answer = async (command) => {
      if (command.includes('guest-ping')) return '{"return":{}}';
      if (command.includes('guest-exec-status'))
        return JSON.stringify({
          return: {
            exited: true,
            exitcode: exitCode,
            'out-data': Buffer.from(`\u001b[1m${output}\n`).toString('base64'),
          },
        });
      expect(JSON.parse(command)).toMatchObject({ arguments: { path: '/bin/check', arg: ['-a'] } });
      return '{"return":{"pid":7}}';
    };
    const sign = await wait({ command: { path: '/bin/check', args: ['-a'] }, serial: printing('web login: ') });
    expect(sign).toMatchObject({ kind: 'command', exitCode, output: expect.stringContaining(output) });
    expect(JSON.stringify(sign)).not.toContain('\\u001b');
  });

  test('fails when the guest has powered off, or a disk is damaged', async () => {
    answer = () => Promise.reject(new DomainError('INSTANCE_NOT_FOUND', 'There is no such domain.'));
    await expect(wait()).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringContaining('powered off'),
    });
    const damaged = new DomainError('BACKEND_FAILED', 'blob 1234 is damaged');
    await expect(wait({ signal: AbortSignal.abort(damaged) })).rejects.toBe(damaged);
  });
});
