import type { InstanceRef, PowerAction } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { NO_METADATA } from '../domain-xml/instance-metadata.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { KeyedLock } from '../locks/concurrency.js';
import { LibvirtPower } from './libvirt-power.js';
import { StopRequests } from '../domains/stop-requests.js';

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
    const connection = libvirt.connection();
    power = new LibvirtPower({
      connection,
      finder: new DomainFinder('local', connection),
      stops,
      lock: new KeyedLock(),
    });
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
  ])('in state %s, %s with force %s runs %j', async (state, action, force, commands) => {
    libvirt.add(ownDomainXml(), state);
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
  ])('in state %s, refuses to %s', async (state, action) => {
    libvirt.add(ownDomainXml(), state);
    await expect(power.apply(REF, action)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(libvirt.changes).toEqual([]);
  });

  test('refuses to start a VM while its disk is still being filled', async () => {
    libvirt.add(ownDomainXml({ metadata: { ...NO_METADATA, owner: UUID, provisioning: 'another-service' } }));
    await expect(power.apply(REF, 'start')).rejects.toMatchObject({ code: 'BUSY' });
  });

  test('refuses to start a VM whose disk could not be filled, with the reason', async () => {
    const failure = 'The download was interrupted.';
    libvirt.add(ownDomainXml({ metadata: { ...NO_METADATA, owner: UUID, failure } }));
    const refused = { code: 'WRONG_STATE', message: expect.stringContaining(failure) };
    await expect(power.apply(REF, 'start')).rejects.toMatchObject(refused);
    expect(libvirt.changes).toEqual([]);
  });

  test('repeats the shutdown request and finally reports that the guest ignores it', async () => {
    libvirt.add(ownDomainXml(), 'running (booted)');
    await power.apply(REF, 'stop');
    expect(stops.of(UUID)?.reason).toBeUndefined();
    clock.advance(60_000);
    expect(stops.of(UUID)?.reason).toContain('force stop it');
    // A move waits for three minutes, for guests that boot slowly.
    clock.advance(120_000);
    await power.apply(REF, 'stop', { force: true });
    expect(stops.of(UUID)).toBeUndefined();
    expect(libvirt.changes.filter((change) => change === `shutdown ${UUID}`)).toHaveLength(8);
    expect(clock.pending).toBe(0);
  });

  test('refuses to start a VM that is being stopped, unless its guest ignores that', async () => {
    libvirt.add(ownDomainXml(), 'running (booted)');
    await power.apply(REF, 'stop');
    const refused = { code: 'BUSY', message: 'web is being stopped; start it again when that is done.' };
    await expect(power.apply(REF, 'start')).rejects.toMatchObject(refused);
    clock.advance(60_000);
    await power.apply(REF, 'start');
    expect(stops.of(UUID)).toBeUndefined();
  });

  test.each(['default', 'Local'])('finds no domain in the namespace %s', async (namespace) => {
    libvirt.add(ownDomainXml());
    await expect(power.apply({ ...REF, namespace }, 'start')).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });
});
