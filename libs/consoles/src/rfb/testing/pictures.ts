import { Framebuffer } from '../framebuffer.js';
import type { Size } from '../rectangle.js';

/** Numbers that look random and are always the same. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A screen of text-like, plain, striped and noisy parts, so that each way to write a tile is taken. */
export function buildPicture(size: Size, seed = 1): Framebuffer {
  const picture = new Framebuffer();
  picture.resize(size);
  const next = numbers(seed);
  const pick = (most: number): number => Math.floor(next() * most);
  for (let part = 0; part < 30; part++) {
    const x = pick(size.width);
    const y = pick(size.height);
    const area = { x, y, width: 1 + pick(size.width - x), height: 1 + pick(size.height - y) };
    const palette = Array.from({ length: [1, 2, 4, 16, 17, 5000][pick(6)] ?? 1 }, () => pick(2 ** 24));
    const run = 1 + pick(300);
    for (let row = 0; row < area.height; row++) {
      for (let column = 0; column < area.width; column++) {
        const index = part % 2 ? Math.floor((row * area.width + column) / run) % palette.length : pick(palette.length);
        picture.pixels[(y + row) * size.width + x + column] = palette[index] ?? 0;
      }
    }
  }
  return picture;
}
