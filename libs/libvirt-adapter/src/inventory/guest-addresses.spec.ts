import { FixedClock } from '@headgate/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { ourDomainXml, UUID } from '../testing/domain-xml.js';
import { Virsh } from '../virsh/virsh.js';
import { GuestAddresses } from './guest-addresses.js';

const TABLE = ' eth0       52:54:00:22:e5:72    ipv4         10.0.2.15/24\n';
const withAgent = describeDomain(
  ourDomainXml().replace('name="org.qemu.guest_agent.0"', 'name="org.qemu.guest_agent.0" state="connected"'),
);
const withoutAgent = describeDomain(ourDomainXml());

describe('GuestAddresses', () => {
  let clock: FixedClock;
  let asked: number;
  let answers: string[];
  let found: string[];
  let addresses: GuestAddresses;

  beforeEach(() => {
    clock = new FixedClock();
    [asked, answers, found] = [0, [], []];
    const virsh = new Virsh({
      uri: 'qemu:///system',
      run: () => {
        asked++;
        return Promise.resolve({ code: 0, stdout: answers.shift() ?? '', stderr: '' });
      },
    });
    addresses = new GuestAddresses(virsh, clock, (uuid) => void found.push(uuid));
  });

  /** Lets the time pass, and what was asked be answered. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };

  test('asks the agent until it knows, and then no more', async () => {
    answers = ['', TABLE];
    addresses.observe(withAgent, true);
    await pass(0);
    expect(addresses.of(UUID)).toBeUndefined();
    await pass(500);
    expect(addresses.of(UUID)).toBe('10.0.2.15');
    expect(found).toEqual([UUID]);
    await pass(600_000);
    expect(asked).toBe(2);
  });

  test('asks a guest that has none a bounded number of times', async () => {
    addresses.observe(withAgent, true);
    for (let i = 0; i < 20; i++) await pass(60_000);
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(12);
    expect(clock.pending).toBe(0);
  });

  test('asks nobody where there is neither an agent nor a network of libvirt', async () => {
    addresses.observe(withoutAgent, true);
    await pass(60_000);
    expect(asked).toBe(0);
  });

  test('forgets the address when the guest stops', async () => {
    answers = [TABLE];
    addresses.observe(withAgent, true);
    await pass(0);
    addresses.observe(withAgent, false);
    expect(addresses.of(UUID)).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});
