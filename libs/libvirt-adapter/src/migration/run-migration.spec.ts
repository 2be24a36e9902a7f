import { DomainError } from '@headgate/domain-contracts';
import { MigrationSession, type MigrationPhase } from '../connection/migration-operations.js';
import { MigrationFlag, runMigration, UnknownOutcome, type MigrationRun } from './run-migration.js';

type Phase = 'begin' | 'prepare' | 'perform' | 'finish' | 'confirm';

const FLAGS = MigrationFlag.live | MigrationFlag.abortOnError | MigrationFlag.autoConverge | MigrationFlag.copyStorage;

/** Both sides. Each phase returns its own name as the cookie. */
class FakeSession extends MigrationSession {
  readonly calls: string[] = [];
  readonly phases = new Map<Phase, MigrationPhase>();
  readonly failures = new Map<Phase, Error>();

  override async begin(_uuid: string, phase: Omit<MigrationPhase, 'cookie'>) {
    return { cookie: this.answer('begin', { ...phase, cookie: Buffer.alloc(0) }), xml: '<domain/>' };
  }
  override async prepare(phase: MigrationPhase) {
    return { cookie: this.answer('prepare', phase), uri: 'tcp:beta:49152' };
  }
  override async perform(_uuid: string, phase: MigrationPhase) {
    return this.answer('perform', phase);
  }
  override async finish(phase: MigrationPhase, isCanceled: boolean) {
    return this.answer('finish', phase, isCanceled);
  }
  override async confirm(_uuid: string, phase: MigrationPhase, isCanceled: boolean) {
    this.answer('confirm', phase, isCanceled);
  }
  override async close() {}

  private answer(name: Phase, phase: MigrationPhase, isCanceled = false): Buffer {
    this.calls.push(isCanceled ? `${name} canceled` : name);
    this.phases.set(name, phase);
    const failure = this.failures.get(name);
    if (failure) throw failure;
    return Buffer.from(name);
  }
}

describe('runMigration', () => {
  let session: FakeSession;

  beforeEach(() => {
    session = new FakeSession();
  });

  const run = (options: Partial<MigrationRun> = {}): Promise<void> =>
    runMigration({
      uuid: '2c749204-8322-4dfd-b324-cb2e556e0e9a',
      name: 'web',
      source: session,
      destination: session,
      flags: FLAGS,
      channel: [{ field: 'migrate_uri', value: 'tcp://beta' }],
      persistentXml: '<domain>next</domain>',
      relocate: () => '<domain>there</domain>',
      signal: new AbortController().signal,
      hasArrived: async () => false,
      ...options,
    });
  const param = (phase: Phase, name: string): string | undefined =>
    session.phases.get(phase)?.params.find(({ field }) => field === name)?.value;

  test('hands the cookie and the parameters of each phase to the next one', async () => {
    await run();
    expect(session.calls).toEqual(['begin', 'prepare', 'perform', 'finish', 'confirm']);
    expect(
      ['prepare', 'perform', 'finish', 'confirm'].map((name) => String(session.phases.get(name as Phase)?.cookie)),
    ).toEqual(['begin', 'prepare', 'perform', 'finish']);
    expect(param('prepare', 'destination_xml')).toBe('<domain>there</domain>');
    expect(param('perform', 'persistent_xml')).toBe('<domain>next</domain>');
    expect(param('perform', 'migrate_uri')).toBe('tcp:beta:49152');
    expect(param('finish', 'destination_name')).toBe('web');
    expect(session.phases.get('prepare')?.flags).toBe(MigrationFlag.live | MigrationFlag.copyStorage);
    expect(session.phases.get('perform')?.flags).toBe(FLAGS);
  });

  test.each([
    ['begin', ['begin']],
    ['prepare', ['begin', 'prepare', 'confirm canceled']],
    // A source whose copy failed has already let the guest continue.
    ['perform', ['begin', 'prepare', 'perform', 'finish canceled']],
    ['finish', ['begin', 'prepare', 'perform', 'finish', 'confirm canceled']],
  ] as const)('announces a failure of "%s" to the sides that wait for it, and throws it', async (phase, calls) => {
    const failure = new DomainError('REJECTED_BY_BACKEND', 'No.');
    session.failures.set(phase, failure);
    await expect(run()).rejects.toBe(failure);
    expect(session.calls).toEqual(calls);
  });

  test.each([
    ['prepare', 'confirm'],
    ['perform', 'finish'],
    ['finish', 'confirm'],
  ] as const)('hands no cookie of an earlier phase on when "%s" has failed', async (phase, next) => {
    session.failures.set(phase, new DomainError('REJECTED_BY_BACKEND', 'No.'));
    await expect(run()).rejects.toThrow('No.');
    expect(String(session.phases.get(next)?.cookie)).toBe('');
  });

  test.each([
    ['prepare', 'confirm'],
    ['perform', 'finish'],
    ['finish', 'confirm'],
  ] as const)('throws the failure of "%s", not the answer of "%s" to its announcement', async (phase, next) => {
    const failure = new DomainError('BACKEND_FAILED', 'The cause.');
    session.failures.set(phase, failure);
    session.failures.set(next, new DomainError('WRONG_STATE', 'The domain is not being migrated.'));
    await expect(run()).rejects.toBe(failure);
  });

  test('ends both sides when it is canceled between two phases', async () => {
    const cancel = new AbortController();
    const prepare = session.prepare.bind(session);
    session.prepare = async (phase) => {
      const prepared = await prepare(phase);
      cancel.abort(new Error('canceled'));
      return prepared;
    };
    await expect(run({ signal: cancel.signal })).rejects.toThrow('canceled');
    expect(session.calls).toEqual(['begin', 'prepare', 'finish canceled', 'confirm canceled']);
  });

  test('has succeeded once the guest runs on the destination, whatever the source answers then', async () => {
    session.failures.set('confirm', new DomainError('BACKEND_UNREACHABLE', 'Gone.'));
    await run();
    expect(session.calls).toEqual(['begin', 'prepare', 'perform', 'finish', 'confirm']);
  });

  test('prepares nothing when it is canceled in the beginning', async () => {
    await expect(run({ signal: AbortSignal.abort(new Error('canceled')) })).rejects.toThrow('canceled');
    expect(session.calls).toEqual(['begin', 'confirm canceled']);
  });

  describe('when the connection breaks while the guest is handed over', () => {
    beforeEach(() => session.failures.set('finish', new DomainError('BACKEND_UNREACHABLE', 'Gone.')));

    test('completes if the guest has arrived', async () => {
      await run({ hasArrived: async () => true });
      expect(session.calls.at(-1)).toBe('confirm');
    });

    test('lets the guest continue on the source if it has not arrived', async () => {
      await expect(run({ hasArrived: async () => false })).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      expect(session.calls.at(-1)).toBe('confirm canceled');
    });

    test('never lets it run on the source while it may run on the destination', async () => {
      await expect(run({ hasArrived: async () => undefined })).rejects.toBeInstanceOf(UnknownOutcome);
      expect(session.calls.at(-1)).toBe('finish');
    });
  });
});
