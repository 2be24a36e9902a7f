import { createServer } from 'node:net';
import type { MailTarget } from '@headgate/domain-contracts';
import { EgressPolicy } from '@headgate/downloads';
import type { OutgoingMessage } from '@headgate/messages';
import { FixedClock } from '@headgate/testing';
import { MailSender } from './mail-sender.js';
import { canCertify, createCertificate, type Certificate } from './testing/create-certificate.js';
import { HostileMailServer, type Reaction } from './testing/hostile-mail-server.js';
import { MailPeer } from './testing/mail-peer.js';

const clock = new FixedClock();
const egress = new EgressPolicy({ allow: ['127.0.0.0/8', '::1'], setting: 'SVC_WEBHOOK_ALLOW' });

const target = (port: number, more: Partial<MailTarget> = {}): MailTarget => ({
  kind: 'mail',
  host: 'localhost',
  port,
  security: 'none',
  user: '',
  password: '',
  from: 'headgate@example.org',
  recipients: ['ops@example.org'],
  ...more,
});

const message = (more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  id: '0123456789abcdef0123456789abcdef',
  severity: 'error',
  subject: '[Headgate] Failed: wéb',
  text: 'web <b>failed</b> – ünlucky\n.\nThe end.\n',
  createdAt: '2026-01-01T00:00:00.000Z',
  signal: new AbortController().signal,
  ...more,
});

const headerOf = (source: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(source.split('\r\n\r\n')[0] ?? '')?.[1];

const suite = canCertify ? describe : describe.skip;

suite(`mail to a real SMTP server${canCertify ? '' : ': skipped, openssl is not installed'}`, () => {
  let certificate: Certificate;
  let peer: MailPeer;
  let port: number;
  let sender: MailSender;

  const start = async (options: ConstructorParameters<typeof MailPeer>[1] = {}, own = certificate): Promise<void> => {
    await peer?.close();
    peer = new MailPeer(own, options);
    port = await peer.open();
  };

  beforeAll(() => {
    certificate = createCertificate('localhost');
  });
  beforeEach(async () => {
    sender = new MailSender({ egress, clock, certificates: [certificate.cert] });
    peer = new MailPeer(certificate);
    port = await peer.open();
  });
  afterEach(() => peer.close());

  const LOGIN = { security: 'starttls', user: 'headgate', password: 'correct horse' } as const;

  test('arrives over STARTTLS with a login, as plain text, with its ID', async () => {
    expect(await sender.send(target(port, LOGIN), message())).toEqual({ result: 'sent', reason: '' });
    const [mail] = peer.received;
    expect(mail).toMatchObject({ isEncrypted: true, user: 'headgate', recipients: ['ops@example.org'] });
    const source = mail?.source ?? '';
    expect(headerOf(source, 'Message-ID')).toBe('<0123456789abcdef0123456789abcdef@headgate>');
    expect(headerOf(source, 'Content-Type')).toContain('text/plain');
    expect(headerOf(source, 'Auto-Submitted')).toBe('auto-generated');
    expect(source).not.toContain('text/html');
  });

  test('has the same Message-ID when it is sent again', async () => {
    for (let attempt = 0; attempt < 2; attempt++) await sender.send(target(port, LOGIN), message());
    const ids = peer.received.map(({ source }) => headerOf(source, 'Message-ID'));
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  test('arrives over TLS from the first byte', async () => {
    await start({ secure: true });
    const outcome = await sender.send(target(port, { ...LOGIN, security: 'tls' }), message());
    expect([outcome.result, peer.received[0]?.isEncrypted]).toEqual(['sent', true]);
  });

  test('a certificate of another name gets neither the password nor the mail', async () => {
    const other = createCertificate('mail.example.org');
    await start({}, other);
    sender = new MailSender({ egress, clock, certificates: [other.cert] });
    const outcome = await sender.send(target(port, LOGIN), message());
    expect(outcome).toEqual({ result: 'failed', reason: expect.stringMatching(/localhost/) });
    expect([peer.logins, peer.received]).toEqual([[], []]);
  });

  test('a certificate of an unknown authority gets neither the password nor the mail', async () => {
    sender = new MailSender({ egress, clock });
    expect((await sender.send(target(port, LOGIN), message())).result).toBe('failed');
    expect([peer.logins, peer.received]).toEqual([[], []]);
  });

  test('a server that leaves STARTTLS out gets neither the password nor the mail', async () => {
    await start({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const outcome = await sender.send(target(port, LOGIN), message());
    expect(outcome.result).toBe('failed');
    expect([peer.logins, peer.received]).toEqual([[], []]);
  });

  test('a refused login is reported in one sentence, without the password that the server repeats', async () => {
    peer.password = 'another';
    const outcome = await sender.send(target(port, LOGIN), message());
    expect(outcome.result).toBe('failed');
    expect(outcome.reason).toMatch(/^localhost answered: 535 /);
    expect(outcome.reason).not.toContain('correct horse');
    expect(outcome.reason).not.toContain(Buffer.from('\u0000headgate\u0000correct horse').toString('base64'));
  });

  test('some refused recipients are named, and the others have the mail once', async () => {
    peer.unknown.add('gone@example.org');
    const recipients = ['ops@example.org', 'gone@example.org'];
    const outcome = await sender.send(target(port, { recipients, ...LOGIN }), message());
    expect(outcome).toEqual({ result: 'sent', reason: 'localhost has refused these recipients: gone@example.org' });
    expect(peer.received.map((mail) => mail.recipients)).toEqual([['ops@example.org']]);
  });

  test.each([
    [550, 'refused'],
    [451, 'failed'],
  ])('an answer of %i to the message is %s', async (responseCode, result) => {
    peer.refusal = { responseCode, message: 'no thanks' };
    const outcome = await sender.send(target(port, LOGIN), message());
    expect(outcome).toEqual({ result, reason: `localhost answered: ${responseCode} no thanks` });
  });

  test('all recipients refused is a refusal', async () => {
    peer.unknown.add('ops@example.org');
    expect((await sender.send(target(port, LOGIN), message())).result).toBe('refused');
  });

  test('line breaks in a subject add no header and no recipient', async () => {
    const subject = 'web\r\nBcc: eve@example.org\r\n\r\nbody';
    await sender.send(target(port, LOGIN), message({ subject }));
    const [mail] = peer.received;
    expect(mail?.recipients).toEqual(['ops@example.org']);
    expect(headerOf(mail?.source ?? '', 'Bcc')).toBeUndefined();
  });
});

describe('mail to a hostile SMTP server', () => {
  let server: HostileMailServer;
  const sender = new MailSender({ egress, clock });

  const start = async (reactions: Record<string, Reaction>): Promise<number> => {
    server = new HostileMailServer(reactions);
    return server.open();
  };
  afterEach(() => server.close());

  /** Lets the deadline pass as soon as the server has got so far. */
  const sendLate = async (port: number, isReached: () => boolean) => {
    const sending = sender.send(target(port), message());
    while (!isReached()) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(60_000);
    return sending;
  };

  const hasGreeted = (): boolean => server.commands.some((command) => command.startsWith('EHLO'));

  test('a silent one is given up after a minute', async () => {
    const port = await start({ EHLO: undefined });
    const outcome = await sendLate(port, hasGreeted);
    expect(outcome).toEqual({ result: 'failed', reason: 'The mail server did not answer in time.' });
  });

  test('a banner without end is given up before it fills the memory', async () => {
    let sent = 0;
    const flood = (socket: Parameters<Exclude<Reaction, string | undefined>>[0]): void => {
      const more = (): void => {
        while (!socket.destroyed && socket.write('220-welcome '.repeat(1000))) sent += 12_000;
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    };
    const outcome = await sender.send(target(await start({ banner: flood })), message());
    expect(outcome.result).toBe('failed');
    expect(outcome.reason.length).toBeLessThan(400);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test('a connection that ends after the mail, before the answer, is tried again later', async () => {
    const port = await start({ body: (socket) => void socket.destroy() });
    const outcome = await sender.send(target(port), message());
    expect([outcome.result, server.bodies.length]).toEqual(['failed', 1]);
  });

  test('a mail whose answer does not come is tried again later', async () => {
    const port = await start({ body: undefined });
    const outcome = await sendLate(port, () => server.bodies.length > 0);
    expect(outcome.result).toBe('failed');
  });

  test.each([
    ['banner', '421 busy'],
    ['banner', '554 go away'],
    ['EHLO', '421 busy'],
    ['MAIL', '452 full'],
  ])('%s with "%s" is tried again later or refused, with the answer in one line', async (name, answer) => {
    const port = await start({ [name]: answer, HELO: answer });
    const { result, reason } = await sender.send(target(port), message());
    expect(result).not.toBe('sent');
    expect(reason).toContain(answer.slice(0, 3));
    expect(reason).not.toMatch(/[\r\n]/);
  });

  test('control characters of an answer do not reach people', async () => {
    const port = await start({ MAIL: '550 \u001b[31mno\u202e\u0007' });
    const { reason } = await sender.send(target(port), message());
    expect(reason).toMatch(/550/);
    expect(reason).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  test('the end of a term ends the attempt', async () => {
    const port = await start({ EHLO: undefined });
    const term = new AbortController();
    const sending = sender.send(target(port), message({ signal: term.signal }));
    while (!hasGreeted()) await new Promise((resolve) => setImmediate(resolve));
    term.abort();
    expect((await sending).result).toBe('failed');
  });
});

describe('where mail may be sent', () => {
  test('private addresses need the permission of the operator, at the check and at the connection', async () => {
    const sender = new MailSender({ egress: new EgressPolicy({ setting: 'SVC_WEBHOOK_ALLOW' }), clock });
    const local = target(25, { host: '10.0.0.25', security: 'starttls' });
    expect(() => sender.check(local)).toThrow(/mail.host: 10.0.0.25 is a private address.*SVC_WEBHOOK_ALLOW/);
    let connections = 0;
    const server = createServer(() => connections++).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const outcome = await sender.send(target(port), message());
    expect([outcome.result, connections]).toEqual(['failed', 0]);
    expect(outcome.reason).toContain('SVC_WEBHOOK_ALLOW');
    await new Promise((resolve) => server.close(resolve));
  });

  test('without encryption, only this machine', async () => {
    const sender = new MailSender({ egress, clock });
    expect(() => sender.check(target(25, { host: 'mail.example.org' }))).toThrow(/mail.security/);
    expect(() => sender.check(target(25))).not.toThrow();
  });

  test('a name of this machine that leads elsewhere gets nothing without encryption', async () => {
    const resolve = async () => [{ address: '203.0.113.1', family: 4 }];
    const lying = new EgressPolicy({ setting: 'SVC_WEBHOOK_ALLOW', resolve });
    const outcome = await new MailSender({ egress: lying, clock }).send(target(25), message());
    expect(outcome).toEqual({ result: 'failed', reason: expect.stringContaining('SVC_WEBHOOK_ALLOW') });
  });
});
