import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Proposals } from './proposal.js';

const TOML = '[[rules]]\nname = "messages"\non = ["message"]\nby = "user"\nlimit = 2\nwindow = "1m"\n';

const line = (id: number, user = '@a:b'): string =>
  `${JSON.stringify({ t: 1_000 + id, id, address: '192.0.2.1', parts: [{ event: 'message', user }] })}\n`;

describe('Proposals', () => {
  let folder: string;
  let path: string;
  const signal = new AbortController().signal;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'limits-proposal-'));
    path = join(folder, 'requests.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const write = (count: number) => writeFile(path, Array.from({ length: count }, (_, id) => line(id + 1)).join(''));

  test('reports whom the rule would have refused', async () => {
    await write(5);
    const report = await new Proposals(() => path).try(TOML, signal);
    expect(report).toMatchObject({ requests: 5, refused: 3, isPart: false });
    expect(report.rules.find(({ name }) => name === 'messages')).toMatchObject({
      refused: 3,
      top: [{ key: '@a:b', refusals: 3 }],
    });
  });

  test('reads the end of a large log only, from its first whole line', async () => {
    await write(1_000);
    const report = await new Proposals(() => path, 10 * line(1_000).length + 5).try(TOML, signal);
    expect(report).toMatchObject({ requests: 10, isPart: true, invalidLines: 0 });
  });

  test('leaves out a line that is being written, and characters that a chunk splits are whole', async () => {
    const many = Array.from({ length: 3_000 }, (_, id) => line(id + 1, `@ü${id}:b`)).join('');
    await writeFile(path, `${many}{"t":1`);
    expect(await new Proposals(() => path).try(TOML, signal)).toMatchObject({ requests: 3_000, invalidLines: 0 });
  });

  test('takes turns with other work', async () => {
    await write(20_000);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await new Proposals(() => path).try(TOML, signal);
    isDone = true;
    expect(turns).toBeGreaterThan(20);
  });

  test('tries one proposal at a time, and ends with its caller', async () => {
    await write(20_000);
    const proposals = new Proposals(() => path);
    const canceled = new AbortController();
    const first = proposals.try(TOML, canceled.signal);
    await expect(proposals.try(TOML, signal)).rejects.toMatchObject({ status: 429 });
    canceled.abort();
    await expect(first).rejects.toMatchObject({ status: 503 });
    await expect(proposals.try(TOML, signal)).resolves.toMatchObject({ requests: 20_000 });
  });

  test.each([
    ['a rule without its keys', '[[rules]]\nname = "x"\n', 400],
    ['text that is not TOML', '[[rules', 400],
  ])('refuses %s', async (_, toml, status) => {
    await expect(new Proposals(() => path).try(toml, signal)).rejects.toMatchObject({ status });
  });

  test('reports a log that is not recorded or not there', async () => {
    await expect(new Proposals(() => undefined).try(TOML, signal)).rejects.toMatchObject({ status: 404 });
    await expect(new Proposals(() => path).try(TOML, signal)).rejects.toMatchObject({ status: 404 });
  });
});
