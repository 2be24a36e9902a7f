import { MAX_LOG_BYTES, MAX_LOG_LINES, TaskLog } from './task-log.js';

const MIB = 1_048_576;

const logged = (...texts: string[]): string => {
  const log = new TaskLog();
  for (const text of texts) log.append(text);
  return log.text();
};

describe('TaskLog', () => {
  test('cuts the oldest lines, and says how many', () => {
    const log = new TaskLog();
    for (let line = 0; line < 40_000; line++) log.append(`line ${line}`);
    const lines = log.text().split('\n');
    expect(lines.length).toBeLessThanOrEqual(MAX_LOG_LINES);
    expect(lines.at(-1)).toBe('line 39999');
    const cut = 40_000 - (lines.length - 1);
    expect(lines.slice(0, 2)).toEqual([`[${cut.toLocaleString('en')} earlier lines were cut]`, `line ${cut}`]);
  });

  test('keeps counting the cut lines after a restart', () => {
    const log = new TaskLog();
    for (let line = 0; line < 6_000; line++) log.append(`line ${line}`);
    const next = new TaskLog(log.text());
    expect(next.text()).toBe(log.text());
    for (let line = 6_000; line < 12_000; line++) next.append(`line ${line}`);
    const [first = '', second] = next.text().split('\n');
    const cut = Number(first.replaceAll(/\D/g, ''));
    expect(second).toBe(`line ${cut}`);
  });

  test('stays within its bytes when a program logs 1 GiB', () => {
    const log = new TaskLog();
    const text = 'ä'.repeat(MIB / 2);
    for (let written = 0; written < 1024 * MIB; written += MIB) log.append(text);
    const line = `${'x'.repeat(1000)}\n`.repeat(1000);
    for (let written = 0; written < 64; written++) log.append(line);
    expect(Buffer.byteLength(log.text())).toBeLessThanOrEqual(MAX_LOG_BYTES + 100);
  });

  test('returns the lines from an offset, and those that are left if some were cut', () => {
    const log = new TaskLog();
    log.append('one');
    const { end } = log;
    log.append('two\nthree');
    expect(log.since(0)).toEqual({ offset: 0, text: 'one\ntwo\nthree\n', end: log.end });
    expect(log.since(end)).toEqual({ offset: 4, text: 'two\nthree\n', end: 14 });
    expect(log.since(log.end)).toEqual({ offset: 14, text: '', end: 14 });
    for (let line = 0; line < MAX_LOG_LINES; line++) log.append(`line ${line}`);
    const part = log.since(end);
    expect(part.offset).toBeGreaterThan(end);
    expect(part.offset + part.text.length).toBe(log.end);
  });

  test('removes control characters, colors and marks that reverse text', () => {
    expect(logged('\u001b[1;31mred\u001b[0m\u0000\u0007 \u001b]0;title\u0007\u202eevil\u2066 tab\tend\u2028x')).toBe(
      'red evil tab\tendx',
    );
  });

  test('keeps the last state of a line that a program overwrites', () => {
    expect(logged('10%\r50%\r100%\r\nnext\r\n')).toBe('100%\nnext');
  });

  test('cuts a line that is too long', () => {
    expect(logged('y'.repeat(5000))).toBe(`${'y'.repeat(4096)} [904 more characters were cut]`);
  });

  test.each([
    ['pulling https://ann:hunter22@registry.example.org/v2', 'pulling https://***@registry.example.org/v2'],
    ['GET /disk.qcow2?X-Amz-Signature=abcdef&size=3', 'GET /disk.qcow2?X-Amz-Signature=***&size=3'],
    ['Authorization: Bearer abc.def-123', 'Authorization: ***'],
    ['{"password":"hunter 22","user":"ann"}', '{"password":***,"user":"ann"}'],
    ['podman login --password hunter22 host', 'podman login --password *** host'],
    ["db_password = 'hunter 22'", 'db_password = ***'],
    ['API_KEY=abc123', 'API_KEY=***'],
    ['token eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl ok', 'token *** ok'],
    ['pushed with ghp_0123456789abcdefghij0123', 'pushed with ***'],
    ['the design=blue and the passage=9', 'the design=blue and the passage=9'],
  ])('masks the secret in %j', (text, masked) => {
    expect(logged(text)).toBe(masked);
  });

  test('masks a private key over several lines', () => {
    expect(
      logged(
        'before',
        '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEAAAA',
        '-----END OPENSSH PRIVATE KEY-----',
        'after',
      ),
    ).toBe('before\n-----BEGIN OPENSSH PRIVATE KEY----- ***\nafter');
  });

  test.each(['a', ' ', 'token', 'eyJ-', 'eyJa.', 'https://', '"', '=', '--', 'authorization:', 'password '])(
    'masks long lines of %j without trying every part of them',
    (piece) => {
      const line = piece.repeat(Math.ceil(4096 / piece.length));
      const startedAt = performance.now();
      logged(...Array<string>(100).fill(line));
      // Milliseconds on any machine; quadratic patterns take minutes.
      expect(performance.now() - startedAt).toBeLessThan(60_000);
    },
  );
});
