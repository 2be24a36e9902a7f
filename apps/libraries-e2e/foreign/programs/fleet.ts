import { SystemClock } from '@headgate/domain-contracts';
import { Fleet, type FleetEvent } from '@headgate/fleet';
import { buildVm, MemoryBackend } from '@headgate/testing';

async function main(): Promise<void> {
  const backend = new MemoryBackend('lab');
  const fleet = new Fleet({ clock: new SystemClock(), present: ({ instance }) => instance.ref.name });
  const events: FleetEvent['type'][] = [];
  fleet.subscribe(({ type }) => events.push(type));
  fleet.attach(backend);
  await fleet.whenSynced();
  backend.engine.put(buildVm({ ref: { name: 'web' } }));
  backend.engine.put(buildVm({ ref: { name: 'db' }, uid: 'uid-db' }));
  const names: unknown = JSON.parse(Buffer.concat(fleet.list('vm').json).toString());
  await fleet.close();
  console.log(JSON.stringify({ names, changes: events.filter((type) => type === 'changed').length }));
}

void main();
