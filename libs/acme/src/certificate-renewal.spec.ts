import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestCertificate, FixedClock, hasOpenssl, signTestCertificate } from '@headgate/testing';
import { AuthorityError, type IssuedCertificate } from './acme-authority.js';
import { AcmeFiles } from './acme-files.js';
import { CertificateRenewal, type RenewalEvent } from './certificate-renewal.js';
import { createPlaceholder } from './placeholder-certificate.js';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
const MINUTE_MS = 60_000;
const DOMAINS = ['vms.headgate.test'];

(hasOpenssl() ? describe : describe.skip)('CertificateRenewal', () => {
  const shared = mkdtempSync(join(tmpdir(), 'headgate-renewal-'));
  let issued: IssuedCertificate;
  let other: IssuedCertificate;
  let folder: string;
  let clock: FixedClock;
  let files: AcmeFiles;
  let orders: number;
  let next: () => Promise<IssuedCertificate>;
  let events: RenewalEvent[];
  let installed: number;
  let created: CertificateRenewal[] = [];

  const issue = (name: string): IssuedCertificate => {
    const { cert, key } = signTestCertificate(shared, 'root', name);
    return { certificate: cert, key };
  };
  beforeAll(() => {
    createTestCertificate(shared, 'root');
    issued = issue('vms.headgate.test');
    other = issue('evil.headgate.test');
  });
  afterAll(() => rmSync(shared, { recursive: true }));

  beforeEach(() => {
    folder = mkdtempSync(join(shared, 'acme-'));
    clock = new FixedClock(Date.parse(new X509Certificate(issued.certificate).validFrom));
    files = new AcmeFiles(folder);
    [orders, installed, events] = [0, 0, []];
    next = async () => issued;
  });

  afterEach(() => {
    for (const renewal of created) renewal.stop();
    created = [];
  });

  const create = (settings = 'one', domains = DOMAINS): CertificateRenewal => {
    const renewal = new CertificateRenewal({
      authority: { issue: () => (orders++, next()) },
      files,
      domains,
      settings,
      clock,
      install: () => installed++,
      report: (event) => events.push(event),
      random: () => 0,
    });
    created.push(renewal);
    return renewal;
  };
  /** Lets a running attempt end. */
  const settle = async (): Promise<void> => {
    for (let index = 0; index < 10; index++) await Promise.resolve();
  };
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settle();
  };
  const failWith = (error: Error): void => {
    next = () => Promise.reject(error);
  };

  test('requests the first certificate at once, and replaces the placeholder', async () => {
    files.writeCertificate(await createPlaceholder(DOMAINS[0]!));
    const renewal = create();
    renewal.start();
    await settle();
    expect([orders, installed, events[0]?.kind]).toEqual([1, 1, 'renewed']);
    expect(files.readCertificate()).toContain(issued.certificate.trim());
    expect(statSync(files.certificate).mode & 0o777).toBe(0o600);
    renewal.stop();
    expect(clock.pending).toBe(0);
  });

  test('renews after two thirds of the lifetime, somewhat earlier, at the same moment after a restart', async () => {
    create().start();
    await settle();
    const due = create().dueAt;
    const { validFrom, validTo } = new X509Certificate(issued.certificate);
    const share = (due - Date.parse(validFrom)) / (Date.parse(validTo) - Date.parse(validFrom));
    expect(share).toBeGreaterThan(2 / 3 - 0.05);
    expect(share).toBeLessThanOrEqual(2 / 3);
    expect(create().dueAt).toBe(due);
    await advance(due - clock.now() - 1);
    expect(orders).toBe(1);
    await advance(HOUR_MS);
    expect(orders).toBe(2);
  });

  test('keeps the certificate when the renewal fails, and waits longer each time, up to a day', async () => {
    create().start();
    await settle();
    const kept = files.readCertificate();
    failWith(new AuthorityError('The authority is down.'));
    for (let hour = 0; hour < 70 * 24; hour++) await advance(HOUR_MS);
    expect(files.readCertificate()).toBe(kept);
    const waits = events
      .filter((event) => event.kind === 'failed')
      .map(({ nextAttemptAt }) => Date.parse(nextAttemptAt));
    const between = waits.slice(1).map((time, index) => Math.round((time - waits[index]!) / MINUTE_MS));
    expect(installed).toBe(1);
    expect(Math.max(...between)).toBeLessThanOrEqual(25 * 60);
    // Attempts are at full hours here.
    expect(between.slice(0, 4)).toEqual([70, 80, 100, 200]);
    expect(orders).toBeLessThan(30);
  });

  test('does not request one certificate after the other when each is due at once', async () => {
    clock.advance(80 * DAY_MS);
    create().start();
    await settle();
    expect(orders).toBe(1);
    await advance(6 * HOUR_MS);
    expect(orders).toBe(2);
  });

  test('waits as long as the authority says, and at most a week', async () => {
    failWith(new AuthorityError('too many', 2 * HOUR_MS));
    create().start();
    await settle();
    await advance(2 * HOUR_MS - 1);
    expect(orders).toBe(1);
    failWith(new AuthorityError('too many', 365 * DAY_MS));
    await advance(1);
    expect(orders).toBe(2);
    next = async () => issued;
    await advance(7 * DAY_MS);
    expect([orders, installed]).toEqual([3, 1]);
  });

  test('waits over restarts, also after a process that was killed during an order', async () => {
    next = () => new Promise(() => undefined);
    create().start();
    await settle();
    const again = create();
    again.start();
    await settle();
    expect([orders, again.failure?.problem]).toEqual([1, 'The last attempt was interrupted.']);
    await advance(10 * MINUTE_MS);
    expect(orders).toBe(2);
  });

  test('does not wait when the settings have changed', async () => {
    failWith(new AuthorityError('no such name'));
    create().start();
    await settle();
    const changed = create('two');
    expect(changed.failure).toBeUndefined();
    changed.start();
    await settle();
    expect(orders).toBe(2);
  });

  test('requests a certificate again when a name is added', async () => {
    create().start();
    await settle();
    expect(create('two', [...DOMAINS, 'more.headgate.test']).dueAt).toBe(0);
  });

  test.each<[string, () => IssuedCertificate, string]>([
    ['for other names', () => other, 'other names'],
    ['for another key', () => ({ ...issued, key: other.key }), 'another key'],
    ['that is none', () => ({ ...issued, certificate: 'hello' }), 'no certificate'],
  ])('refuses a certificate %s', async (_title, wrong, problem) => {
    files.writeCertificate('before');
    next = async () => wrong();
    const renewal = create();
    renewal.start();
    await settle();
    expect([installed, files.readCertificate(), renewal.failure?.failures]).toEqual([0, 'before', 1]);
    expect(renewal.failure?.problem).toContain(problem);
  });

  test('uses no certificate that arrives after the end', async () => {
    let finish = (_certificate: IssuedCertificate): void => undefined;
    next = () => new Promise((resolve) => (finish = resolve));
    const renewal = create();
    renewal.start();
    await settle();
    renewal.stop();
    finish(issued);
    await settle();
    expect([installed, files.readCertificate(), clock.pending]).toEqual([0, undefined, 0]);
  });

  test.each(['', '{', '{"failures":-1}', '{"failures":1,"nextAttemptAt":"never"}'])(
    'ignores a damaged file of the state: «%s»',
    (text) => {
      writeFileSync(join(folder, 'state.json'), text);
      expect(create().failure).toBeUndefined();
    },
  );
});
