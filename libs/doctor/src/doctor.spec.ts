import {
  ADMINISTRATOR,
  type Abilities,
  type AbilityName,
  Audit,
  type BackendDirectory,
  type Caller,
  type DiagnosticCheck,
  Diagnostics,
  DomainError,
  type UnavailableAbility,
} from '@headgate/domain-contracts';
import { FixedClock, MemoryAuditLog, MemoryBackend } from '@headgate/testing';
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

/** A backend with the given problems. */
class FaultyBackend extends MemoryBackend {
  fixed = 0;
  failure: Error | undefined;

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
      fix: async () => {
        if (this.failure) throw this.failure;
        return [`fixed ${++this.fixed}`];
      },
    };
    return diagnostics as Abilities[K];
  }
}

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

const withoutDiagnostics = (): MemoryBackend =>
  new MemoryBackend('plain', { unavailable: { diagnostics: 'There is nothing to check.' } });

const doctor = (...all: MemoryBackend[]) => {
  const backends = { all: () => all } as unknown as BackendDirectory;
  const checks = new CheckBackends(backends);
  const audit = new MemoryAuditLog();
  return { checks, audit, fix: new FixBackends(backends, checks, new Audit(audit, new FixedClock())) };
};

describe('CheckBackends', () => {
  test('checks each backend that has diagnostics, and one whose diagnostics throw does not hide the others', async () => {
    const broken = new FaultyBackend('lab', () => {
      throw new Error('out of order');
    });
    const { checks } = doctor(broken, withoutDiagnostics(), new FaultyBackend('local', () => [check('network')]));
    expect(await checks.run()).toMatchObject([
      { context: 'lab', name: 'diagnostics', status: 'error', message: 'out of order' },
      { context: 'local', name: 'network', status: 'ok' },
    ]);
  });
});

describe('checks that never end', () => {
  test('are a failed check after a while, and the others are there', async () => {
    const hanging = new FaultyBackend('lab', () => []);
    const never: Diagnostics = { checks: () => new Promise(() => undefined), fix: async () => [] };
    hanging.ability = <K extends AbilityName>() => never as unknown as Abilities[K];
    const backends = {
      all: () => [hanging, new FaultyBackend('local', () => [check('network')])],
    } as unknown as BackendDirectory;
    expect(await new CheckBackends(backends, 10).run()).toMatchObject([
      { context: 'lab', status: 'error', message: 'The checks have not ended within 0.01 seconds.', fixable: false },
      { context: 'local', name: 'network', status: 'ok' },
    ]);
  });
});

describe('the texts of checks', () => {
  test('are plain text', async () => {
    const hostile = new FaultyBackend('lab', () => [check('a\u001b]0;b', { message: 'c\u202ed', remedy: 'e\u0007' })]);
    expect(await doctor(hostile).checks.run()).toMatchObject([{ name: 'a ]0;b', message: 'cd', remedy: 'e' }]);
  });
});

describe('FixBackends', () => {
  test('plans a step for each problem that can be fixed, and changes nothing until it runs', async () => {
    const backend = new FaultyBackend('lab', () => [
      check('fine', { fixable: true }),
      check('namespace', { status: 'error', fixable: true, remedy: 'Create it.' }),
      check('kvm', { status: 'warning' }),
    ]);
    const { fix } = doctor(backend);
    expect((await fix.plan()).steps).toEqual([{ name: 'namespace', detail: 'Create it.' }]);
    expect(backend.fixed).toBe(0);
    expect(await fix.run(ann)).toEqual({ fixed: ['fixed 1'] });
  });

  test('asks no context that is known to be lost, and fixes the others', async () => {
    const lost = new FaultyBackend('lost', () => []);
    const unreachable = new DomainError('BACKEND_UNREACHABLE', 'lost does not answer.');
    lost.require = () => {
      throw unreachable;
    };
    const { fix, audit } = doctor(lost, new FaultyBackend('lab', () => []));
    await expect(fix.run(ann)).rejects.toBe(unreachable);
    expect(lost.fixed).toBe(0);
    expect(audit.entries).toMatchObject([
      { ref: 'context/lost', outcome: 'error', message: 'lost does not answer.' },
      { ref: 'context/lab', outcome: 'ok', message: 'fixed 1' },
    ]);
  });

  test('records each fix with its author, and a failed one with its cause', async () => {
    const broken = new FaultyBackend('broken', () => []);
    const { fix, audit } = doctor(new FaultyBackend('lab', () => []), broken, withoutDiagnostics());
    await fix.run(ann);
    expect(audit.entries).toEqual([
      { time: expect.any(String), caller: 'ann', action: 'fix', ref: 'context/lab', outcome: 'ok', message: 'fixed 1' },
      {
        time: expect.any(String),
        caller: 'ann',
        action: 'fix',
        ref: 'context/broken',
        outcome: 'ok',
        message: 'fixed 1',
      },
    ]);
    broken.failure = new Error('out of order');
    await expect(fix.run(ann)).rejects.toThrow('out of order');
    expect(audit.entries.at(-1)).toMatchObject({ ref: 'context/broken', outcome: 'error', message: 'out of order' });
  });
});
