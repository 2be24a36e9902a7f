import type { InstanceRef, PowerAction } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { NO_METADATA } from '../domain-xml/instance-metadata.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { ourDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { KeyedLock } from '../virsh/keyed-lock.js';
import { LibvirtPower } from './libvirt-power.js';
import { StopRequests } from './stop-requests.js';

const REF: InstanceRef = { kind: 'vm', context: 'local', namespace: 'local', name: 'web' };

describe('LibvirtPower', () => {
  let libvirt: FakeLibvirt;
  let clock: FixedClock;
  let stops: StopRequests;
  let power: LibvirtPower;

  beforeEach(() => {
    libvirt = new FakeLibvirt();
    clock = new FixedClock();
    stops = new StopRequests(clock);
    const virsh = libvirt.virsh();
    power = new LibvirtPower({ virsh, finder: new DomainFinder('local', virsh), stops, lock: new KeyedLock() });
  });

  test.each<[string, PowerAction, boolean, string[]]>([
    ['running (booted)', 'start', false, []],
    ['running (booted)', 'stop', false, ['shutdown']],
    ['running (booted)', 'stop', true, ['destroy']],
    ['running (booted)', 'restart', false, ['reboot']],
    ['running (booted)', 'restart', true, ['destroy', 'start']],
    ['running (booted)', 'pause', false, ['suspend']],
    ['running (booted)', 'unpause', false, []],
    ['paused (user)', 'start', false, []],
    ['paused (user)', 'pause', false, []],
    ['paused (user)', 'unpause', false, ['resume']],
    ['paused (user)', 'stop', true, ['destroy']],
    ['shut off (shutdown)', 'start', false, ['start']],
    ['shut off (shutdown)', 'stop', false, []],
    ['shut off (shutdown)', 'stop', true, []],
  ])('on a domain that is %s, %s (force: %s) does %j', async (state, action, force, commands) => {
    libvirt.add(ourDomainXml(), state);
    await power.apply(REF, action, { force });
    expect(libvirt.changes).toEqual(commands.map((command) => `${command} ${UUID}`));
    stops.close();
  });

  test.each<[string, PowerAction]>([
    ['shut off (shutdown)', 'restart'],
    ['shut off (shutdown)', 'pause'],
    ['shut off (shutdown)', 'unpause'],
    ['paused (user)', 'stop'],
    ['paused (user)', 'restart'],
  ])('on a domain that is %s, refuses to %s', async (state, action) => {
    libvirt.add(ourDomainXml(), state);
    await expect(power.apply(REF, action)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(libvirt.changes).toEqual([]);
  });

  test('leaves a machine alone whose disk is still being filled', async () => {
    libvirt.add(ourDomainXml({ metadata: { ...NO_METADATA, owner: UUID, provisioning: 'somebody' } }));
    await expect(power.apply(REF, 'start')).rejects.toMatchObject({ code: 'BUSY' });
  });

  test('presses the button again, and in the end says that the guest ignores it', async () => {
    libvirt.add(ourDomainXml(), 'running (booted)');
    await power.apply(REF, 'stop');
    expect(stops.of(UUID)?.reason).toBeUndefined();
    clock.advance(60_000);
    expect(stops.of(UUID)?.reason).toContain('stop it with force');
    await power.apply(REF, 'stop', { force: true });
    expect(stops.of(UUID)).toBeUndefined();
    expect(libvirt.changes.filter((change) => change === `shutdown ${UUID}`)).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  test.each(['default', 'Local'])('knows no domain in the namespace %s', async (namespace) => {
    libvirt.add(ourDomainXml());
    await expect(power.apply({ ...REF, namespace }, 'start')).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });
});
