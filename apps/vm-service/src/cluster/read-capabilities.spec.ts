import { BackendDirectory, DomainError } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { FixedClock, MemoryBackend } from '@headgate/testing';
import { ReadCapabilities } from './read-capabilities.js';

describe('ReadCapabilities', () => {
  const [lab, prod] = [new MemoryBackend('lab'), new MemoryBackend('prod')];
  let fleet: Fleet;
  let capabilities: ReadCapabilities;

  beforeEach(() => {
    fleet = new Fleet({ clock: new FixedClock(0), present: ({ instance }) => instance });
    capabilities = new ReadCapabilities(new BackendDirectory([lab, prod]), fleet, new Set());
    fleet.attach(lab);
    fleet.attach(prod);
  });
  afterEach(() => fleet.close());

  test('wait until each context was heard of', async () => {
    expect(fleet.states().map(({ state }) => state)).toEqual(['connecting', 'connecting']);
    expect((await capabilities.read()).contexts).toMatchObject([{ up: true }, { up: true }]);
  });

  test('name every reason when no context can be reached', async () => {
    await fleet.heardOf();
    for (const backend of [lab, prod])
      backend.fleet.lose(new DomainError('BACKEND_UNREACHABLE', `${backend.context} does not answer.`));
    await expect(capabilities.read()).rejects.toThrow('lab: lab does not answer. prod: prod does not answer.');
  });
});
