/** A minimal RFB 3.8 server over a WebSocket: it draws a moving bar and prints what keys it was sent. */
const WIDTH = 720;
const HEIGHT = 400;

export function serveScreen(socket) {
  let step = 'version';
  let frame = 0;
  let buffered = Buffer.alloc(0);
  const send = (bytes) => socket.readyState === 1 && socket.send(bytes, { binary: true });
  send(Buffer.from('RFB 003.008\n'));

  const take = (length) => {
    if (buffered.length < length) return undefined;
    const part = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return part;
  };

  const messages = {
    version: () => take(12) && (send(Buffer.from([1, 1])), 'security'),
    security: () => take(1) && (send(Buffer.from([0, 0, 0, 0])), 'init'),
    init: () => {
      if (!take(1)) return undefined;
      const name = Buffer.from('made-up guest');
      const init = Buffer.alloc(24);
      init.writeUInt16BE(WIDTH, 0);
      init.writeUInt16BE(HEIGHT, 2);
      Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]).copy(init, 4);
      init.writeUInt32BE(name.length, 20);
      send(Buffer.concat([init, name]));
      return 'talk';
    },
    talk: () => {
      const lengths = { 0: 20, 3: 10, 4: 8, 5: 6 };
      const type = buffered[0];
      if (type === undefined) return undefined;
      const length =
        type === 2
          ? 4 + 4 * (buffered.length >= 4 ? buffered.readUInt16BE(2) : 1e9)
          : type === 6
            ? 8 + (buffered.length >= 8 ? Math.abs(buffered.readInt32BE(4)) : 1e9)
            : (lengths[type] ?? buffered.length);
      if (!take(length)) return undefined;
      if (type === 3) setTimeout(() => send(picture(frame++)), frame === 0 ? 0 : 250).unref();
      return 'talk';
    },
  };

  socket.on('message', (data) => {
    buffered = Buffer.concat([buffered, data]);
    for (let next = messages[step](); next !== undefined; next = messages[step]()) step = next;
  });
}

function picture(frame) {
  const head = Buffer.alloc(16);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(WIDTH, 8);
  head.writeUInt16BE(HEIGHT, 10);
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 4);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const bar = Math.abs(((x + frame * 12) % WIDTH) - y) < 12;
      pixels.writeUInt32LE(bar ? 0x7db9f5 : ((20 + y / 10) << 16) | ((24 + x / 20) << 8) | 48, (y * WIDTH + x) * 4);
    }
  }
  return Buffer.concat([head, pixels]);
}
