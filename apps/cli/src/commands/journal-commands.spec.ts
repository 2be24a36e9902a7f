import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { endLine, exportLine, hashEntry, NO_HASH, type ChainedEntry } from '@headgate/journal-chain';
import { FakeService } from '../testing/fake-service.js';
import { Cli, Recorder } from '../testing/run-cli.js';

const chain = (count: number): ChainedEntry[] => {
  let previousAction = NO_HASH;
  return Array.from({ length: count }, (_none, index) => {
    const linked = {
      number: index + 1,
      time: '2026-01-01T00:00:00.000Z',
      caller: 'ann',
      token: '',
      address: '',
      kind: 'action' as const,
      action: 'stop',
      route: '',
      ref: 'vm/lab/default/db',
      outcome: 'ok',
      status: null,
      code: '',
      message: 'A \u0007 "text".',
      previousAction,
      previousRequest: NO_HASH,
    };
    previousAction = hashEntry(linked);
    return { ...linked, hash: previousAction };
  });
};

describe('journal', () => {
  const entries = chain(5);
  const head = { number: 5, hash: entries[4]?.hash ?? '' };
  const text = [...entries.map(exportLine), endLine({ ...head, entries: 5 })].join('');
  const view = (number: number, more: object = {}) => ({ ...entries[0], number, code: '', ...more });
  let service: FakeService;
  let cli: Cli;

  beforeEach(async () => {
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  test('shows the last entries, the oldest first, without control characters', async () => {
    service.json('GET /api/ext/journal', [view(8, { action: 'start' }), view(7, { token: 'abcdefghij' })]);
    const { code, stdout } = await cli.run([
      'journal',
      '--tail',
      '2',
      '--caller',
      'ann',
      '--object',
      'vm/lab/default/db',
    ]);
    expect(code).toBe(0);
    expect(service.lines).toEqual(['GET /api/ext/journal?caller=ann&ref=vm%2Flab%2Fdefault%2Fdb&limit=2']);
    expect(stdout).toMatch(/ann \(token abcdefghij\) +stop .*\n.*ann +start /);
    expect(stdout).toContain('A \\x07 "text".');
  });

  test('follows behind the last entry over a lost connection, and shows those that match', async () => {
    const interruption = new AbortController();
    const stdout = new Recorder();
    service.json('GET /api/ext/journal', [view(7)]);
    const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (number: number, more: object) =>
      `event: entry\nid: ${number}\ndata: ${JSON.stringify(view(number, more))}\n\n`;
    service.on('GET /api/ext/journal/stream', (response) => {
      begin(response).write('event: resumed\ndata: {}\n\nevent: gap\ndata: {"after":7,"through":8}\n\n');
      response.write(event(9, { action: 'other' }));
      response.write(event(10, { action: 'Stop' }));
    });
    const ended = cli.run(['journal', '-f', '-o', 'json', '--action', 'sto'], {
      stdout,
      interrupted: interruption.signal,
    });
    await stdout.until(/"number":10/);
    interruption.abort();
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toContain('Entries up to 8 were deleted before they could be shown.');
    expect(
      stdout.text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { number: number }).number),
    ).toEqual([7, 10]);
    expect(service.lines[1]).toBe('GET /api/ext/journal/stream?lastEventId=7');
  });

  test.each([
    [['-f', '-o', 'yaml'], 'one JSON object per line'],
    [['-f', '--until', '2026-01-01'], 'leave out --until'],
    [['--tail', '1001'], 'at most 1000'],
    [['verify', '--head', 'abc'], '64 digits'],
    [['export', '--after', '-1'], 'number of an entry'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await cli.run(['journal', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('writes an export as it is, and escapes it on a terminal', async () => {
    service.on('GET /api/ext/journal/export', (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(`${text}\u202e\n`);
    });
    expect(await cli.run(['journal', 'export', '--after', '3'])).toMatchObject({ code: 0, stdout: `${text}\u202e\n` });
    expect(service.lines).toEqual(['GET /api/ext/journal/export?after=3']);
    const stdout = new Recorder();
    stdout.isTTY = true;
    await cli.run(['journal', 'export'], { stdout });
    expect(stdout.text).toBe(`${text}\\u202e\n`);
  });

  test('fails when the export breaks off', async () => {
    service.on('GET /api/ext/journal/export', (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(text.slice(0, 100), () => response.destroy());
    });
    expect((await cli.run(['journal', 'export'])).code).toBe(6);
  });

  test('verifies a file and standard input, without a service', async () => {
    const file = join(cli.home, 'journal.jsonl');
    writeFileSync(file, text);
    const expected = `OK: 5 entries, 1 through 5.\nHead: 5 ${head.hash}\n`;
    expect(await cli.run(['journal', 'verify', file])).toEqual({ code: 0, stdout: expected, stderr: '' });
    expect(await cli.run(['journal', 'verify'], { stdin: text })).toMatchObject({ code: 0, stdout: expected });
    const kept = entries[2]?.hash ?? '';
    expect(await cli.json(['journal', 'verify', file, '--head', kept])).toEqual({
      entries: 5,
      unchained: 0,
      first: 1,
      head,
    });
    expect(service.lines).toEqual([]);
  });

  test.each<[string, string, string[], string]>([
    ['a changed entry', text.replace('"caller":"ann"', '"caller":"eve"'), [], 'Entry 1 was changed.'],
    ['a removed entry', text.split('\n').toSpliced(2, 1).join('\n'), [], 'Entries between 2 and 4 were removed'],
    ['another head', text, ['--head', 'b'.repeat(64)], 'No entry has the hash'],
    ['a cut export', text.slice(0, -10), [], 'Line 6, after entry 5, is not a line'],
    ['an export of many megabytes without a line feed', 'x'.repeat(5_000_000), [], 'Line 1 is not a line'],
    ['no export', '', [], 'ends before its last line'],
  ])('ends with 1 for %s', async (_what, stdin, args, message) => {
    const { code, stdout, stderr } = await cli.run(['journal', 'verify', '-', ...args], { stdin });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
    expect(stderr).toContain('(JOURNAL_BROKEN)');
  });

  test('ends with 2 for a file that is missing, or a folder', async () => {
    for (const path of [join(cli.home, 'missing'), cli.home])
      expect(await cli.run(['journal', 'verify', path])).toMatchObject({ code: 2, stdout: '' });
  });

  test('shows the head', async () => {
    service.json('GET /api/ext/journal/head', head);
    expect(await cli.run(['journal', 'head'])).toMatchObject({ code: 0, stdout: `5 ${head.hash}\n` });
    expect(await cli.run(['journal', 'head', '-o', 'name'])).toMatchObject({ stdout: `${head.hash}\n` });
  });
});
