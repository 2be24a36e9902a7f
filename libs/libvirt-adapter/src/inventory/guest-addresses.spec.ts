import { FixedClock } from '@headgate/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { parseAddresses } from '../virsh/virsh-domains.js';
import { VirshConnection } from '../virsh/virsh-connection.js';
import { GuestAddresses, pickAddress } from './guest-addresses.js';

const TABLE = ' eth0       52:54:00:22:e5:72    ipv4         10.0.2.15/24\n';
const withAgent = describeDomain(
  ownDomainXml().replace('name="org.qemu.guest_agent.0"', 'name="org.qemu.guest_agent.0" state="connected"'),
);
const withoutAgent = describeDomain(ownDomainXml());

describe('GuestAddresses', () => {
  let clock: FixedClock;
  let asked: number;
  let answers: string[];
  let found: string[];
  let addresses: GuestAddresses;

  beforeEach(() => {
    clock = new FixedClock();
    [asked, answers, found] = [0, [], []];
    const connection = new VirshConnection({
      uri: 'qemu:///system',
      run: () => {
        asked++;
        return Promise.resolve({ code: 0, stdout: answers.shift() ?? '', stderr: '' });
      },
    });
    addresses = new GuestAddresses(connection, clock, (uuid) => void found.push(uuid));
  });

  /** Advances the clock and lets pending lookups finish. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };

  test('queries the agent until it reports an address, and then stops', async () => {
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

  test('stops after a limited number of lookups when a guest has no address', async () => {
    addresses.observe(withAgent, true);
    for (let i = 0; i < 20; i++) await pass(60_000);
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(12);
    expect(clock.pending).toBe(0);
  });

  test('does not look up guests that have neither an agent nor a libvirt network', async () => {
    addresses.observe(withoutAgent, true);
    await pass(60_000);
    expect(asked).toBe(0);
  });

  test('discards the address when the guest stops', async () => {
    answers = [TABLE];
    addresses.observe(withAgent, true);
    await pass(0);
    addresses.observe(withAgent, false);
    expect(addresses.of(UUID)).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});

describe('pickAddress', () => {
  test('picks the first IPv4 address that is reachable from outside', () => {
    expect(
      pickAddress(
        parseAddresses(` lo         00:00:00:00:00:00    ipv4         127.0.0.1/8
 -          -                    ipv6         ::1/128
 eth0       52:54:00:22:e5:72    ipv6         fe80::5054:ff:fe22:e572/64
 -          -                    ipv4         10.0.2.15/24
`),
      ),
    ).toBe('10.0.2.15');
  });

  test('falls back to a global IPv6 address', () => {
    expect(pickAddress(parseAddresses(' eth0  52:54:00:22:e5:72  ipv6  2001:db8::7/64\n'))).toBe('2001:db8::7');
  });

  test('returns undefined when there is no address yet', () =>
    expect(pickAddress(parseAddresses('\n eth0       52:54:00:22:e5:72    N/A          N/A\n'))).toBeUndefined());
});
