import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { GuestFreezer } from './guest-freezer.js';

const WEB = { uuid: '00000000-0000-4000-8000-000000000001', name: 'web' };
const unreachable = new DomainError('GUEST_AGENT_UNREACHABLE', 'The agent is not responding.');

/** A freezer over an agent that gives these answers in turn, and then the last one again. */
function over(...answers: readonly (string | Error)[]) {
  const asked: string[] = [];
  const warnings: string[] = [];
  const guests = {
    command: async (_uuid: string, command: string) => {
      asked.push((JSON.parse(command) as { execute: string }).execute);
      const answer = answers[Math.min(asked.length, answers.length) - 1] ?? '';
      if (typeof answer === 'string') return answer;
      throw answer;
    },
  } as unknown as LibvirtConnection['guests'];
  const log = { warn: (_fields: unknown, text: string) => void warnings.push(text) };
  const clock = new FixedClock();
  clock.delay = async () => undefined;
  const freezer = new GuestFreezer({ connection: { guests }, clock, log: log as never });
  return { freezer, asked, warnings };
}

describe('the file systems of a guest', () => {
  test('are frozen when its agent reports at least one', async () => {
    expect(await over('{"return":2}').freezer.freeze(WEB)).toBe(true);
  });

  test.each([
    ['{"return":0}', /no file system/],
    ['{"return":"all"}', /no file system/],
    ['null', /no file system/],
    ['not JSON', /did not freeze/],
    [unreachable, /did not freeze the file systems \(The agent is not responding\)\.$/],
  ])('are not frozen after the answer %s', async (answer, reason) => {
    expect(await over(answer).freezer.freeze(WEB)).toMatch(reason);
  });

  test('are thawed by a later attempt while the agent does not answer', async () => {
    const { freezer, asked, warnings } = over(unreachable, unreachable, '{"return":2}');
    expect(await freezer.thaw(WEB)).toBe(true);
    expect([asked, warnings]).toEqual([Array(3).fill('guest-fsfreeze-thaw'), []]);
  });

  test('are reported when no attempt thaws them, without an error', async () => {
    const { freezer, asked, warnings } = over(unreachable);
    expect(await freezer.thaw(WEB)).toBe(false);
    expect([asked.length, warnings.length]).toEqual([6, 1]);
  });
});
