import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AddressBlocks } from './address-blocks.js';
import { BlocksFile, readBlocks } from './blocks-file.js';

describe('BlocksFile', () => {
  let folder: string;
  let path: string;
  let logged: string[];
  const log = {
    warn: (_: unknown, message: string) => void logged.push(message),
    error: (_: unknown, message: string) => void logged.push(message),
  } as never;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-blocks-'));
    path = join(folder, 'blocks.json');
    logged = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const blocked = () => {
    const blocks = new AddressBlocks({ isInForce: () => true });
    const file = new BlocksFile(blocks, folder, log);
    const key = '192.0.2.1';
    blocks.note({ rule: 'logins', by: 'source', key, limit: 1, windowMs: 1, reason: 'block', retryAfterMs: 60_000 });
    return { blocks, file };
  };

  test('has the blocks of the last run, and is private', async () => {
    const { blocks, file } = blocked();
    await file.onApplicationShutdown();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readBlocks(folder, log)).toEqual(blocks.stored());
    expect(logged).toEqual([]);
  });

  test('is not written without a change', async () => {
    const file = new BlocksFile(new AddressBlocks({ isInForce: () => true }), folder, log);
    await file.onApplicationShutdown();
    expect(readBlocks(folder, log)).toBeUndefined();
    expect(logged).toEqual([]);
  });

  test.each(['', '{', '[]', '{"gateway":"a","position":1,"nextId":1,"readers":{},"blocks":[1],"ended":[]}'])(
    'with the content %j is reported, and starts empty',
    (text) => {
      writeFileSync(path, text);
      expect(readBlocks(folder, log)).toBeUndefined();
      expect(logged).toEqual(['the blocks of the last run could not be read; programs that have them keep them']);
    },
  );

  test('that can not be written is reported', async () => {
    const { file } = blocked();
    rmSync(folder, { recursive: true });
    await file.onApplicationShutdown();
    expect(logged).toEqual(['the blocks could not be written']);
  });
});
