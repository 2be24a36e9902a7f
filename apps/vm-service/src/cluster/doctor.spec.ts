import {
  type Abilities,
  type AbilityName,
  type BackendDirectory,
  type DiagnosticCheck,
  Diagnostics,
  type UnavailableAbility,
} from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { CheckBackends } from './check-backends.js';
import { FixBackends } from './fix-backends.js';

const check = (name: string, overrides: Partial<DiagnosticCheck> = {}): DiagnosticCheck => ({
  name,
  status: 'ok',
  message: '',
  fixable: false,
  remedy: '',
  ...overrides,
});

class Patient extends MemoryBackend {
  fixed = 0;

  constructor(
    context: string,
    private readonly found: () => DiagnosticCheck[],
  ) {
    super(context);
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    if (name !== 'diagnostics') return super.ability(name);
    const diagnostics: Diagnostics = {
      checks: async () => this.found(),
      fix: async () => [`mended ${++this.fixed}`],
    };
    return diagnostics as Abilities[K];
  }
}

const doctor = (...all: MemoryBackend[]) => {
  const backends = { all: () => all } as unknown as BackendDirectory;
  const checks = new CheckBackends(backends);
  return { checks, fix: new FixBackends(backends, checks) };
};

describe('CheckBackends', () => {
  test('asks each backend that has diagnostics; one whose diagnostics break hides no other', async () => {
    const broken = new Patient('lab', () => {
      throw new Error('out of order');
    });
    const { checks } = doctor(broken, new MemoryBackend('plain'), new Patient('local', () => [check('network')]));
    expect(await checks.run()).toMatchObject([
      { context: 'lab', name: 'diagnostics', status: 'error', message: 'out of order' },
      { context: 'local', name: 'network', status: 'ok' },
    ]);
  });
});

describe('FixBackends', () => {
  test('plans what is wrong and can be mended, and mends nothing meanwhile', async () => {
    const patient = new Patient('lab', () => [
      check('fine', { fixable: true }),
      check('namespace', { status: 'error', fixable: true, remedy: 'Make it.' }),
      check('kvm', { status: 'warning' }),
    ]);
    const { fix } = doctor(patient);
    expect((await fix.plan()).steps).toEqual([{ name: 'namespace', detail: 'Make it.' }]);
    expect(patient.fixed).toBe(0);
    expect(await fix.run()).toEqual({ fixed: ['mended 1'] });
  });
});
