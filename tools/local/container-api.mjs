import { createReadStream, statSync } from 'node:fs';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

const TIMEOUT_MS = 30_000;

/**
 * Sends a request to the socket of Incus or LXD, and waits for the operation that it begins.
 * @param {string} socket
 * @param {string} method
 * @param {string} path
 * @param {{ body?: object, file?: string }} [content] JSON, or the path of a file
 * @returns {Promise<any>} the metadata of the answer, or of the operation
 */
export async function askEngine(socket, method, path, content = {}) {
  const answer = await send(socket, method, path, content);
  if (answer.type === 'error') throw new Error(answer.error || `the engine answered ${answer.error_code}`);
  if (answer.type !== 'async') return answer.metadata;
  const operation = await askEngine(socket, 'GET', `${answer.operation.split('?')[0]}/wait?timeout=60`);
  if (operation.status_code !== 200) throw new Error(operation.err || `the operation is ${operation.status}`);
  return operation.metadata;
}

/**
 * @param {string} socket
 * @param {string} method
 * @param {string} path
 * @param {{ body?: object, file?: string }} content
 * @returns {Promise<any>}
 */
function send(socket, method, path, { body, file }) {
  const { promise, resolve, reject } = Promise.withResolvers?.() ?? withResolvers();
  const type = file ? 'application/octet-stream' : 'application/json';
  const length = file ? { 'content-length': statSync(file).size } : {};
  const sent = request(
    {
      socketPath: socket,
      method,
      path,
      timeout: TIMEOUT_MS,
      headers: { host: 'local', 'content-type': type, ...length },
    },
    (response) => {
      text(response)
        .then((answer) => resolve(JSON.parse(answer)))
        .catch(reject);
    },
  );
  sent.on('timeout', () => sent.destroy(new Error('it did not answer in time'))).on('error', reject);
  if (file) createReadStream(file).on('error', reject).pipe(sent);
  else sent.end(body && JSON.stringify(body));
  return promise;
}

/** Node 20 has no `Promise.withResolvers`. */
function withResolvers() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}
