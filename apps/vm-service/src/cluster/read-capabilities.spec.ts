import { DomainError } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { FixedClock, MemoryBackend } from '@headgate/testing';
import { Backends } from '../composition/backends.js';
import { ReadCapabilities } from './read-capabilities.js';

describe('ReadCapabilities', () => {
  const [lab, prod] = [new MemoryBackend('lab'), new MemoryBackend('prod')];
  let fleet: Fleet;
  let capabilities: ReadCapabilities;

  beforeEach(() => {
    fleet = new Fleet({ clock: new FixedClock(0), present: ({ instance }) => instance });
    capabilities = new ReadCapabilities(new Backends([lab, prod]), fleet, { simulated: new Set() });
    fleet.attach(lab);
    fleet.attach(prod);
  });
  afterEach(() => fleet.close());

  test('wait until each context was listed or lost', async () => {
    const late = new MemoryBackend('late');
    fleet.attach(late);
    expect(fleet.states().map(({ state }) => state)).toContain('connecting');
    await capabilities.read();
    expect(fleet.states().map(({ state }) => state)).toEqual(['up', 'up', 'up']);
  });

  test('name every reason when no context can be reached', async () => {
    await fleet.whenSynced();
    for (const backend of [lab, prod])
      backend.engine.disconnect(new DomainError('BACKEND_UNREACHABLE', `${backend.context} does not answer.`));
    await expect(capabilities.read()).rejects.toThrow('lab: lab does not answer. prod: prod does not answer.');
  });
});
