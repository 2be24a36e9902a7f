import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { askEngine } from './container-api.mjs';

/** The alias of the tiny container's image. */
export const TINY_ALIAS = 'tiny';
const POOL = 'default';
/** The property `os` of images that this project has built. */
const OWN_OS = 'Headgate';

/**
 * Gives an engine without any storage a pool in a folder and a root disk in the default profile, as the engine's own
 * `init` would, and imports the image of the tiny container. Changes nothing that others have created.
 * @param {string} socket
 * @param {{ path: string, version: string }} image
 */
export async function setUpEngine(socket, image) {
  // An empty list is null.
  const pools = (await askEngine(socket, 'GET', '/1.0/storage-pools')) ?? [];
  if (pools.length === 0) await createPool(socket);
  await importImage(socket, image);
}

/** @param {string} socket */
async function createPool(socket) {
  await askEngine(socket, 'POST', '/1.0/storage-pools', { body: { name: POOL, driver: 'dir', config: {} } });
  const profile = await askEngine(socket, 'GET', '/1.0/profiles/default');
  const devices = { root: { type: 'disk', path: '/', pool: POOL }, ...profile.devices };
  await askEngine(socket, 'PATCH', '/1.0/profiles/default', { body: { devices } });
}

/**
 * @param {string} socket
 * @param {{ path: string, version: string }} image
 */
async function importImage(socket, { path, version }) {
  const present = await imageOf(socket);
  // Another image of this name belongs to the user.
  if (present && (present.properties.os !== OWN_OS || present.properties.release === version)) return;
  const { fingerprint } = await importFile(socket, path);
  const alias = `/1.0/images/aliases/${TINY_ALIAS}`;
  if (!present) {
    const body = { name: TINY_ALIAS, target: fingerprint, description: 'Headgate tiny container' };
    await askEngine(socket, 'POST', '/1.0/images/aliases', { body });
    return;
  }
  await askEngine(socket, 'PATCH', alias, { body: { target: fingerprint } });
  // Containers do not need the image that they were created from.
  if (present.fingerprint !== fingerprint) await askEngine(socket, 'DELETE', `/1.0/images/${present.fingerprint}`);
}

/**
 * @param {string} socket
 * @returns {Promise<{ fingerprint: string, properties: Record<string, string> } | undefined>}
 */
async function imageOf(socket) {
  const aliases = (await askEngine(socket, 'GET', '/1.0/images/aliases?recursion=1')) ?? [];
  const alias = aliases.find((/** @type {{ name: string }} */ { name }) => name === TINY_ALIAS);
  return alias && askEngine(socket, 'GET', `/1.0/images/${alias.target}`);
}

/**
 * @param {string} socket
 * @param {string} file
 * @returns {Promise<{ fingerprint: string }>}
 */
async function importFile(socket, file) {
  const fingerprint = createHash('sha256').update(readFileSync(file)).digest('hex');
  // Imported before, without its alias.
  const urls = (await askEngine(socket, 'GET', '/1.0/images')) ?? [];
  if (urls.includes(`/1.0/images/${fingerprint}`)) return { fingerprint };
  return askEngine(socket, 'POST', '/1.0/images', { file });
}
