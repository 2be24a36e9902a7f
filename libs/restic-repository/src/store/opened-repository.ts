import { Cipher, type RepositoryKey } from '../crypto/cipher.js';
import { sha256 } from '../format/blobs.js';
import { fieldsOf, idOf, parseJson } from '../format/json.js';
import { DEFAULT_COST, type KeyOrigin, openKey, randomKey, type ScryptCost, sealKey } from '../format/key-file.js';
import { randomPolynomial } from '../format/polynomial.js';
import {
  DamagedError,
  FileExistsError,
  FileNotFoundError,
  NotARepositoryError,
  RepositoryExistsError,
  UnsupportedVersionError,
  WrongPasswordError,
} from '../model/errors.js';
import type { FileType, RepositoryTarget } from '../target/repository-target.js';
import { randomBytes } from 'node:crypto';
import { SealedFiles } from './sealed-files.js';

export interface OpenedRepository {
  readonly id: string;
  readonly files: SealedFiles;
  /** The name of the key file that the password opens. */
  readonly keyName: string;
}

const VERSION = 2;
/** Each one takes a while and the memory of scrypt. restic tries 20. */
const MOST_KEYS = 20;

/** @throws RepositoryExistsError */
export async function createRepository(
  target: RepositoryTarget,
  password: string,
  origin: KeyOrigin,
  cost: ScryptCost = DEFAULT_COST,
): Promise<OpenedRepository> {
  if (password === '') throw new WrongPasswordError('password: must not be empty.');
  await refuseExisting(target);
  await target.prepare();
  // Keys without a config are what an interrupted creation leaves.
  for (const { name } of await target.list('keys')) await target.remove('keys', name);
  const key = randomKey();
  const keyFile = await sealKey(key, password, cost, origin);
  const keyName = sha256(keyFile);
  await target.write('keys', keyName, keyFile);
  const id = randomBytes(32).toString('hex');
  const config = Buffer.from(JSON.stringify({ version: VERSION, id, chunker_polynomial: randomPolynomial() }));
  try {
    await target.write('config', 'config', new Cipher(key).seal(config));
  } catch (error) {
    await target.remove('keys', keyName).catch(() => undefined);
    if (error instanceof FileExistsError) throw new RepositoryExistsError('The target already has a repository.');
    throw error;
  }
  // Another creation that began at the same time may have taken the key for a leftover.
  const keys = await target.list('keys');
  if (!keys.some(({ name }) => name === keyName)) await target.write('keys', keyName, keyFile);
  return { id, files: new SealedFiles(target, new Cipher(key)), keyName };
}

async function refuseExisting(target: RepositoryTarget): Promise<void> {
  for (const type of ['config', 'snapshots', 'index', 'data'] satisfies FileType[]) {
    if ((await target.list(type)).length === 0) continue;
    const hint = type === 'config' ? '' : ` or the rest of one: it has files in ${type}`;
    throw new RepositoryExistsError(`The target already has a repository${hint}.`);
  }
}

/** @throws NotARepositoryError, WrongPasswordError, UnsupportedVersionError, DamagedError */
export async function openRepository(target: RepositoryTarget, password: string): Promise<OpenedRepository> {
  const config = await readConfig(target);
  const keys = (await target.list('keys')).slice(0, MOST_KEYS);
  if (keys.length === 0) throw new NotARepositoryError('The target has a config but no keys.');
  let failure: Error = new WrongPasswordError('The password opens no key of the repository.');
  for (const { name } of keys) {
    try {
      const files = new SealedFiles(target, new Cipher(await readKey(target, name, password)));
      return { id: openConfig(files.cipher, config), files, keyName: name };
    } catch (error) {
      if (error instanceof DamagedError) failure = error;
      else if (!(error instanceof WrongPasswordError) && !(error instanceof FileNotFoundError)) throw error;
    }
  }
  throw failure;
}

/**
 * Opens a repository that was opened before, without deriving its key from the password.
 * @throws NotARepositoryError when it is gone; WrongPasswordError when its key was removed, or another repository has
 *   taken its place
 */
export async function reopenRepository(
  target: RepositoryTarget,
  { id, files: { cipher }, keyName }: OpenedRepository,
): Promise<OpenedRepository> {
  const config = await readConfig(target);
  const keys = await target.list('keys');
  if (!keys.some(({ name }) => name === keyName))
    throw new WrongPasswordError('The key of the repository was removed.');
  let found: string;
  try {
    found = openConfig(cipher, config);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    throw new WrongPasswordError('The key opens another repository.', { cause: error });
  }
  if (found !== id) throw new WrongPasswordError('The key opens another repository.');
  return { id, files: new SealedFiles(target, cipher), keyName };
}

async function readConfig(target: RepositoryTarget): Promise<Uint8Array> {
  try {
    return await target.read('config', 'config');
  } catch (error) {
    if (error instanceof FileNotFoundError) throw new NotARepositoryError('The target has no config of a repository.');
    throw error;
  }
}

async function readKey(target: RepositoryTarget, name: string, password: string): Promise<RepositoryKey> {
  const subject = `keys/${name}`;
  const bytes = await target.read('keys', name);
  if (sha256(bytes) !== name) {
    throw new DamagedError(`${subject} is damaged: its content does not match its name.`, subject);
  }
  return openKey(bytes, password, subject);
}

/** @returns the ID of the repository */
function openConfig(cipher: Cipher, sealed: Uint8Array): string {
  const fields = fieldsOf(parseJson(cipher.open(sealed, 'config'), 'config'), 'config');
  if (fields['version'] !== VERSION) {
    const version = JSON.stringify(fields['version']);
    throw new UnsupportedVersionError(`The repository has format version ${version}; only version 2 is supported.`);
  }
  return idOf(fields, 'id', 'config');
}
