import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Database } from '../database.js';
import { Media } from './media.js';
import { FixedClock } from '@headgate/clock/testing';

describe('Media', () => {
  let folder: string;
  let db: Database;
  let clock: FixedClock;
  let media: Media;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'media-'));
    db = Database.inMemory();
    clock = new FixedClock();
    media = new Media(db, folder, clock);
  });
  afterEach(async () => {
    db.close();
    await rm(folder, { recursive: true });
  });

  const files = () => readdirSync(join(folder, 'media'));

  test('stores content with its metadata', async () => {
    const id = await media.store('@a:b', Readable.from([Buffer.from('hel'), Buffer.from('lo')]), {
      type: 'text/plain',
    });
    expect(await readFile(media.path(id), 'utf8')).toBe('hello');
    expect(media.find(id)).toMatchObject({ owner: '@a:b', content_type: 'text/plain', size: 5 });
  });

  test('leaves nothing behind after an interrupted upload', async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('hel');
        throw new Error('gone');
      })(),
    );
    await expect(media.store('@a:b', broken, {})).rejects.toThrow('gone');
    expect(files()).toEqual([]);
  });

  test('removes the remains of a crash at the start, and no stored object', async () => {
    const id = await media.store('@a:b', Readable.from([Buffer.from('kept')]), {});
    const { mediaId: reserved } = media.reserve('@a:b');
    for (const name of ['.partial.0', 'renamed', reserved]) writeFileSync(join(folder, 'media', name), 'x');
    const again = new Media(db, folder, clock);
    expect(files()).toEqual([id]);
    expect(again.find(reserved)).toMatchObject({ size: null });
    expect(existsSync(again.path(id))).toBe(true);
  });

  test('drops an ID whose content was not uploaded within a day', () => {
    const { mediaId, expiresAt } = media.reserve('@a:b');
    clock.advance(expiresAt - 1 - clock.now());
    expect(media.find(mediaId)).toBeDefined();
    clock.advance(expiresAt - clock.now());
    expect(media.find(mediaId)).toBeUndefined();
  });
});
