import 'reflect-metadata';
import type { VirtualMachine, VmStatus } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { ShutdownEstimates } from '@headgate/moves';
import { PastTimes } from '@headgate/tasks';
import { buildVm, FixedClock, MemoryBackend, MemoryShutdownTimes, withStatus } from '@headgate/testing';
import { ObservedShutdowns } from './observed-shutdowns.js';

const WEB = buildVm({ uid: 'uid-web', status: 'Running' });
const DB = buildVm({ uid: 'uid-db', status: 'Running', ref: { name: 'db' } });

describe('the shutdowns that users request', () => {
  let clock: FixedClock;
  let lab: MemoryBackend;
  let fleet: Fleet;
  let shutdowns: ObservedShutdowns;
  let times: MemoryShutdownTimes;

  beforeEach(() => {
    clock = new FixedClock(0);
    lab = new MemoryBackend('lab');
    lab.engine.put(WEB);
    lab.engine.put(DB);
    fleet = new Fleet({ clock, present: () => ({}) });
    fleet.attach(lab);
    times = new MemoryShutdownTimes();
    shutdowns = new ObservedShutdowns(fleet, new ShutdownEstimates(times), clock, new PastTimes(clock));
    shutdowns.onApplicationBootstrap();
  });
  afterEach(async () => {
    shutdowns.beforeApplicationShutdown();
    await fleet.close();
  });

  const request = (vm: VirtualMachine, run = async (): Promise<void> => undefined) =>
    shutdowns.observe(vm, 'stop', {}, run);
  const shows = (vm: VirtualMachine, status: VmStatus): void => {
    lab.engine.put(withStatus(lab.engine.vm(vm.ref), status));
    expect(fleet.get(vm.ref)).toMatchObject({ status });
  };
  const measured = ({ uid }: VirtualMachine) => times.of(`vm/${uid}`);

  test('are measured until the list shows the guest as stopped, each on its own', async () => {
    await request(WEB);
    clock.advance(1000);
    await request(DB);
    shows(WEB, 'Stopping');
    clock.advance(1700);
    shows(WEB, 'Stopped');
    clock.advance(300);
    shows(DB, 'Stopped');
    expect([measured(WEB), measured(DB)]).toEqual([2700, 2000]);
    // Stopped by its guest, so that it is not known when that began.
    shows(WEB, 'Running');
    clock.advance(60_000);
    shows(WEB, 'Stopped');
    expect(measured(WEB)).toBe(2700);
  });

  test('begin with the first request', async () => {
    await request(WEB);
    clock.advance(4000);
    await request(WEB);
    await request({ ...WEB, status: 'Stopping' });
    clock.advance(1000);
    shows(WEB, 'Stopped');
    expect(measured(WEB)).toBe(5000);
  });

  test('end before the backend has answered, if the guest is fast', async () => {
    await request(WEB, async () => {
      clock.advance(20);
      shows(WEB, 'Stopped');
    });
    expect(measured(WEB)).toBe(20);
  });

  test.each<[string, () => Promise<void>]>([
    ['forced', () => shutdowns.observe(WEB, 'stop', { force: true }, async () => undefined)],
    ['restarted', () => shutdowns.observe(WEB, 'restart', {}, async () => undefined)],
  ])('are not measured when the guest is %s meanwhile', async (_how, interrupt) => {
    await request(WEB);
    clock.advance(30_000);
    await interrupt();
    shows(WEB, 'Stopped');
    expect(measured(WEB)).toBeUndefined();
  });

  test('are not measured when the backend refuses them, or the guest ignores them', async () => {
    const refusal = new Error('It is busy.');
    await expect(request(WEB, () => Promise.reject(refusal))).rejects.toBe(refusal);
    await request(DB);
    shows(WEB, 'Stopped');
    clock.advance(180_001);
    shows(DB, 'Stopped');
    expect([measured(WEB), measured(DB)]).toEqual([undefined, undefined]);
  });

  test('are not measured when the context is lost meanwhile, or the VM is deleted', async () => {
    await request(WEB);
    lab.engine.disconnect();
    lab.engine.reconnect();
    await request(DB);
    lab.engine.remove(DB.ref);
    lab.engine.put(DB);
    clock.advance(5000);
    shows(WEB, 'Stopped');
    shows(DB, 'Stopped');
    expect([measured(WEB), measured(DB)]).toEqual([undefined, undefined]);
  });

  test('of VMs that were stopped already are not measured', async () => {
    await request({ ...WEB, status: 'Stopped' });
    await request({ ...DB, status: 'Paused' });
    shows(WEB, 'Stopped');
    shows(DB, 'Stopped');
    expect([measured(WEB), measured(DB)]).toEqual([undefined, undefined]);
  });
});
