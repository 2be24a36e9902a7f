import { inflateSync } from 'node:zlib';
import { ManualClock } from '@headgate/kube-sandbox';
import { Framebuffer } from './framebuffer.js';
import type { GuestFacts } from './guest-facts.js';
import { guestProfileFor } from './guest-profile.js';
import { pngImage } from './png-image.js';
import { encodeHextile, encodeRaw } from './rfb-encodings.js';
import { encodedPalette, SERVER_PIXEL_FORMAT } from './rfb-pixel-format.js';
import { SimulatedGuest, type BootBehavior } from './simulated-guest.js';

const palette = encodedPalette(SERVER_PIXEL_FORMAT);
const BOOT_MS = 8_000;

function buildGuest(clock = new ManualClock(), behavior: Partial<BootBehavior> = {}) {
  const facts: GuestFacts = {
    name: 'web',
    hostname: 'web',
    profile: guestProfileFor(['fedora']),
    cpus: 2,
    memoryBytes: 2 ** 32,
    interfaces: [{ name: 'enp1s0', address: '10.128.0.7', mac: '02:00:00:00:00:07' }],
    disks: [],
    bootedAt: clock.now(),
  };
  const actions: string[] = [];
  const power = { powerOff: () => actions.push('power-off'), reboot: () => actions.push('reboot') };
  const guest = new SimulatedGuest(facts, power, clock, { bootMs: BOOT_MS, ...behavior });
  let output = '';
  guest.onSerial((data) => (output += data.toString()));
  return { clock, guest, actions, output: () => output };
}

describe('a simulated guest', () => {
  test('prints its boot on the serial port, up to the login prompt', () => {
    const { clock, output } = buildGuest();
    clock.advance(BOOT_MS / 2);
    expect(output()).toContain('Linux version 6.14.0-63.fc42.x86_64');
    expect(output()).not.toContain('login:');
    clock.advance(BOOT_MS);
    expect(output()).toMatch(/web login: $/);
  });

  test.each([0, BOOT_MS])('boots when its machine, which starts paused, is resumed, in %i ms', (bootMs) => {
    const { clock, guest, output } = buildGuest(undefined, { bootMs, startsPaused: true });
    guest.freeze(true);
    clock.advance(3 * BOOT_MS);
    guest.typeOnSerial('root\r');
    expect(output()).toBe('');
    guest.freeze(false);
    clock.advance(bootMs + 1);
    expect(output()).toContain('Linux version');
    expect(output().match(/web login: /g)).toHaveLength(1);
    guest.freeze(true);
    guest.freeze(false);
    clock.advance(2 * BOOT_MS);
    expect(output().match(/Linux version/g)).toHaveLength(1);
  });

  test('never shows a login prompt when it hangs, whatever is typed', () => {
    const { clock, guest, output } = buildGuest(undefined, { hangs: true });
    clock.advance(100 * BOOT_MS);
    guest.typeOnSerial('\r');
    expect(output()).toContain('Linux version');
    expect(output()).not.toContain('login:');
  });

  test.each([
    ['hostname', 'web'],
    ['nproc', '2'],
    ['ip a', 'inet 10.128.0.7/24'],
    ['echo "a b" > x; cat x', 'a b'],
    ['cat /etc/os-release', 'ID=fedora'],
    ['nonsense', '-bash: nonsense: command not found'],
  ])('answers «%s»', (command, answer) => {
    const { clock, guest, output } = buildGuest();
    clock.advance(BOOT_MS);
    guest.typeOnSerial(`fedora\rsecret\r${command}\r`);
    expect(output()).toContain(answer);
    expect(output()).not.toContain('secret');
  });

  test('powers off its machine with poweroff', () => {
    const { clock, guest, actions } = buildGuest();
    clock.advance(BOOT_MS);
    guest.typeOnSerial('root\r\rpoweroff\r');
    expect(actions).toEqual(['power-off']);
  });

  test('reacts only after it is resumed when it is paused', () => {
    const { clock, guest, output } = buildGuest();
    clock.advance(BOOT_MS);
    guest.freeze(true);
    guest.typeOnSerial('root\r');
    expect(output()).toMatch(/login: $/);
    guest.freeze(false);
    expect(output()).toContain('login: root\r\nPassword: ');
  });

  test('identifies itself as simulated on its screen, and draws typed text', () => {
    const { clock, guest } = buildGuest();
    clock.advance(BOOT_MS);
    const before = Buffer.from(guest.screen.framebuffer.pixels);
    for (const key of [0x72, 0x6f, 0x6f, 0x74]) guest.keyboard.key(key, true);
    expect(guest.screen.text).toContain('web login: root');
    expect(before.equals(Buffer.from(guest.screen.framebuffer.pixels))).toBe(false);
  });
});

describe('RFB encodings', () => {
  /** A reference decoder, so that the test compares the pixels that a viewer sees. */
  function decodeHextile(data: Buffer, width: number, height: number): Buffer {
    const out = Buffer.alloc(width * height * 4);
    let at = 0;
    for (let y = 0; y < height; y += 16) {
      for (let x = 0; x < width; x += 16) {
        const [w, h] = [Math.min(16, width - x), Math.min(16, height - y)];
        const fill = (fx: number, fy: number, fw: number, fh: number, pixel: Buffer): void => {
          for (let row = fy; row < fy + fh; row++) {
            for (let column = fx; column < fx + fw; column++) pixel.copy(out, ((y + row) * width + x + column) * 4);
          }
        };
        const flags = data[at++]!;
        if (flags & 1) {
          for (let row = 0; row < h; row++) {
            data.copy(out, ((y + row) * width + x) * 4, at, at + w * 4);
            at += w * 4;
          }
          continue;
        }
        fill(0, 0, w, h, data.subarray(at, at + 4));
        at += 4;
        const runs = flags & 8 ? data[at++]! : 0;
        for (let run = 0; run < runs; run++, at += 6) {
          const [position, size] = [data[at + 4]!, data[at + 5]!];
          fill(position >> 4, position & 15, (size >> 4) + 1, (size & 15) + 1, data.subarray(at, at + 4));
        }
      }
    }
    expect(at).toBe(data.length);
    return out;
  }

  const screen = new Framebuffer(100, 50);
  screen.fill({ x: 0, y: 0, width: 100, height: 50 }, 1);
  screen.text(3, 5, 'Hextile 123', 3);
  const noise = Array.from({ length: 256 }, (_none, index) => (index * 7 + (index >> 3)) % 8);
  noise.forEach((color, index) => (screen.pixels[(20 + (index >> 4)) * 100 + 70 + (index & 15)] = color));
  const area = { x: 0, y: 0, width: 100, height: 50 };

  test('hextile transfers the same picture as raw, in fewer bytes', () => {
    const raw = encodeRaw(screen, area, palette);
    const hextile = encodeHextile(screen, area, palette);
    expect(decodeHextile(hextile, 100, 50).equals(raw)).toBe(true);
    expect(hextile.length).toBeLessThan(raw.length / 2);
  });

  test('a screenshot has the same picture', () => {
    const png = pngImage(screen);
    const start = png.indexOf('IDAT');
    const pixels = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
    const lines = Array.from({ length: 50 }, (_none, y) => pixels.subarray(y * 101 + 1, (y + 1) * 101));
    expect(Buffer.concat(lines).equals(Buffer.from(screen.pixels))).toBe(true);
  });
});
