import { connect } from 'node:net';

/**
 * Sends a request repeatedly on each of `connections` persistent connections, for `ms` milliseconds.
 * @param request the bytes of one whole request
 * @returns responses per second
 */
export async function load(url, request, { connections, ms }) {
  const { hostname, port } = new URL(url);
  const until = performance.now() + ms;
  const counts = await Promise.all(Array.from({ length: connections }, () => one(hostname, port, request, until)));
  return counts.reduce((sum, count) => sum + count, 0) / (ms / 1000);
}

/** Sends exactly `count` requests on one connection. */
export async function times(url, request, count) {
  const { hostname, port } = new URL(url);
  await one(hostname, port, request, Infinity, count);
}

function one(hostname, port, request, until, most = Infinity) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let responses = 0;
    let pending = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => resolve(responses));
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const end = endOfResponse(pending);
      if (end === undefined) return;
      pending = pending.subarray(end);
      responses++;
      if (responses >= most || performance.now() >= until) socket.end();
      else socket.write(request);
    });
  });
}

/** All servers here send a content length or chunks. */
function endOfResponse(bytes) {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(bytes.latin1Slice(0, head))?.[1];
  if (length === undefined) {
    const last = bytes.indexOf('0\r\n\r\n', head);
    return last < 0 ? undefined : last + 5;
  }
  const end = head + 4 + Number(length);
  return bytes.length >= end ? end : undefined;
}
