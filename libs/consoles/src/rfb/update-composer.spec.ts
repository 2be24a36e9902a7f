import { Framebuffer } from './framebuffer.js';
import type { PixelFormat } from './pixel-format.js';
import type { Rectangle } from './rectangle.js';
import type { SharedView } from './shared-view.js';
import { FORMATS } from './testing/formats.js';
import { buildPicture, numbers } from './testing/pictures.js';
import { colorsIn, RfbClient } from './testing/rfb-client.js';
import { ViewerSession } from './viewer-session.js';

/** A screen that a test draws on directly. */
function viewOf(screen: Framebuffer): SharedView {
  return {
    screen,
    blank: false,
    cursor: undefined,
    qemuKeys: false,
    requestUpdate: () => undefined,
    keyMessage: () => Buffer.alloc(0),
    sendInput: () => undefined,
  };
}

const same = (a: Uint32Array, b: Uint32Array): boolean => Buffer.from(a.buffer).equals(Buffer.from(b.buffer));

const join = (screen: Framebuffer, format: PixelFormat, encodings: number[]) => {
  const client = new RfbClient({ format, encodings });
  const session = new ViewerSession(client, viewOf(screen));
  const shows = () => same(client.pixels, colorsIn(format, screen.pixels));
  return { client, session, shows };
};

describe.each([
  ['ZRLE', [16]],
  ['raw', [0]],
])('what a viewer decodes in %s equals the screen', (_encoding, encodings) => {
  test.each(FORMATS)('in %s', async (_name, format) => {
    const screen = buildPicture({ width: 130, height: 100 });
    const { client, session, shows } = join(screen, format, encodings);
    await client.until(shows);
    expect([...client.seenEncodings]).toEqual(encodings);
    const next = numbers(7);
    for (let round = 0; round < 8; round++) {
      const [x, y] = [Math.floor(next() * 130), Math.floor(next() * 100)];
      const area: Rectangle = {
        x,
        y,
        width: 1 + Math.floor(next() * (129 - x)),
        height: 1 + Math.floor(next() * (99 - y)),
      };
      screen.fill(area, Math.floor(next() * 2 ** 24));
      session.damaged(area);
      session.pump();
    }
    await client.until(shows);
    expect(shows()).toBe(true);
  });

  test.each([
    [1, 1],
    [64, 64],
    [65, 1],
    [1, 130],
    [200, 300],
  ])('at %i by %i pixels', async (width, height) => {
    const screen = buildPicture({ width, height }, width);
    const { client, shows } = join(screen, FORMATS[1]![1], encodings);
    await client.until(() => client.updates > 0);
    expect(shows()).toBe(true);
  });
});
