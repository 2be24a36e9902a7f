import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connectSyslog, type Transport } from './syslog-connection.js';
import { entryMessage, lossMessage } from './syslog-message.js';
import { buildEntry } from './testing/entries.js';
import { SyslogCertificate } from './testing/syslog-certificate.js';

const SENDER = { facility: 'authpriv', hostname: 'host.example.org', processId: 42 } as const;
const HOSTILE = '\\"]\n\r\0[x@1 a="b"] \u{1F600}';
const program = ['/usr/sbin/rsyslogd', '/sbin/rsyslogd'].find((path) => existsSync(path));
const version = program === undefined ? '' : spawnSync(program, ['-v'], { encoding: 'utf8' }).stdout;
/** Debian packages the driver for TLS apart. */
const hasTls = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'].some((folder) =>
  existsSync(join(folder, 'rsyslog/lmnsd_ossl.so')),
);
const isMissing = !/^rsyslogd/.test(version);

const suite = isMissing ? describe.skip : describe;
suite(`rsyslog${isMissing ? ': the program rsyslogd is not installed (apt-get install rsyslog)' : ''}`, () => {
  let folder: string;
  let child: ChildProcess;
  let certificate: SyslogCertificate;
  let ports: Record<Transport, number>;

  const freePort = async (): Promise<number> => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  };
  /** The messages as rsyslog has understood them. */
  const written = (): Record<string, unknown>[] => {
    const file = join(folder, 'messages');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const writtenBy = async (host: string, count: number): Promise<Record<string, unknown>[]> => {
    for (;;) {
      const seen = written().filter((message) => message['host'] === host);
      if (seen.length >= count) return seen;
      await setTimeout(10);
    }
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-rsyslog-'));
    certificate = new SyslogCertificate();
    ports = { udp: await freePort(), tcp: await freePort(), tls: await freePort() };
    const tls = `
module(load="imtcp" StreamDriver.Name="ossl" StreamDriver.Mode="1" StreamDriver.AuthMode="anon")
input(type="imtcp" address="127.0.0.1" port="${ports.tls}")`;
    writeFileSync(
      join(folder, 'rsyslog.conf'),
      `
global(workDirectory="${folder}" defaultNetstreamDriverCAFile="${certificate.path}"
  defaultNetstreamDriverCertFile="${certificate.path}" defaultNetstreamDriverKeyFile="${certificate.keyPath}")
module(load="imudp")
module(load="imptcp")
module(load="mmpstrucdata")
${hasTls ? tls : ''}
input(type="imudp" address="127.0.0.1" port="${ports.udp}")
input(type="imptcp" address="127.0.0.1" port="${ports.tcp}")
template(name="all" type="list" option.jsonf="on") {
  property(outname="host" name="hostname" format="jsonf")
  property(outname="priority" name="pri" format="jsonf")
  property(outname="app" name="app-name" format="jsonf")
  property(outname="id" name="msgid" format="jsonf")
  property(outname="process" name="procid" format="jsonf")
  property(outname="time" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="data" name="$!rfc5424-sd" format="jsonf")
  property(outname="text" name="msg" format="jsonf")
}
action(type="mmpstrucdata")
action(type="omfile" file="${join(folder, 'messages')}" template="all" fileCreateMode="0600")
`,
    );
    child = spawn(program ?? '', ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr?.on('data', (data: Buffer) => (errors += data.toString()));
    // It is ready when it accepts, which it does after it has read the configuration.
    for (;;) {
      if (child.exitCode !== null) throw new Error(errors);
      const connection = await connectSyslog(
        { host: '127.0.0.1', port: ports.tcp, transport: 'tcp' },
        new AbortController().signal,
      ).catch(() => undefined);
      if (connection) return connection.close();
      await setTimeout(10);
    }
  });

  afterAll(async () => {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    certificate.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const expectUnderstood = async (transport: Transport): Promise<void> => {
    const sender = { ...SENDER, hostname: `${transport}.example.org` };
    const connection = await connectSyslog(
      { host: '127.0.0.1', port: ports[transport], transport, ca: certificate.pair.cert },
      new AbortController().signal,
    );
    const long = '\\'.repeat(3000);
    await connection.send([
      entryMessage(sender, buildEntry(1, { caller: HOSTILE, message: `two\nlines <86>1 forged ${HOSTILE}` })),
      entryMessage(
        sender,
        buildEntry(2, { kind: 'request', caller: long, action: long, ref: long, outcome: 'denied' }),
      ),
      lossMessage(sender, '2026-01-02T03:04:05.678Z', { after: 2, through: 9, lost: 7 }),
    ]);
    const [first, second, third, ...others] = await writtenBy(sender.hostname, 3);
    connection.close();
    expect(first).toMatchObject({ priority: '86', app: 'headgate', id: 'action', process: '42' });
    expect(first?.['time']).toBe('2026-01-02T03:04:05.678Z');
    const dataOf = (message: Record<string, unknown> | undefined): Record<string, string> => {
      const data = message?.['data'];
      return (typeof data === 'string' ? JSON.parse(data) : data)['headgate@32473'];
    };
    expect(dataOf(first)).toMatchObject({ number: '1', caller: '\\"]   [x@1 a="b"] \u{1F600}', hash: 'a'.repeat(64) });
    expect(first?.['text']).toContain('forged');
    expect(dataOf(second)).toMatchObject({ number: '2', outcome: 'denied' });
    expect(dataOf(second)['caller']).toMatch(/^\\{150,}/);
    expect(third).toMatchObject({ id: 'lost', priority: '84' });
    expect(others).toEqual([]);
  };

  test.each(['udp', 'tcp'] as const)('understands every message over %s', expectUnderstood);
  const testTls = hasTls ? test : test.skip;
  testTls(`understands every message over TLS${hasTls ? '' : ': rsyslog-openssl is not installed'}`, () =>
    expectUnderstood('tls'),
  );
});
