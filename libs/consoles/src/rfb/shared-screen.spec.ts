import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { rectangleHeader, Encoding, cutText, keyEvent, pointerEvent, qemuKeyEvent, ServerMessage } from './messages.js';
import { FRAMEBUFFER_FORMAT } from './pixel-format.js';
import { SharedScreen } from './shared-screen.js';
import { NotShareableError } from './upstream-session.js';
import { FakeScreen, type FakeScreenOptions } from './testing/fake-screen.js';
import { FORMATS } from './testing/formats.js';
import { colorsIn, RfbClient, type RfbClientOptions } from './testing/rfb-client.js';

const RED = 0xff0000;
const BLUE = 0x0000ff;
const ALL_ENCODINGS = [16, 0, -223, -239, -258];

describe('SharedScreen', () => {
  let clock: FixedClock;
  let screens: FakeScreen[];
  let next: FakeScreenOptions;
  let failure: DomainError | undefined;
  let running: boolean;
  let comesBack: boolean;
  let ended: number;
  let shared: SharedScreen;

  beforeEach(() => {
    clock = new FixedClock();
    screens = [];
    next = {};
    failure = undefined;
    running = true;
    comesBack = false;
    ended = 0;
    shared = new SharedScreen({
      clock,
      open: async () => {
        if (failure) throw failure;
        screens.push(new FakeScreen(next));
        return guest(screens.length - 1);
      },
      guest: { isRunning: () => running, whenRunning: async () => comesBack },
      onEnd: () => void ended++,
    });
  });
  afterEach(() => shared.end(1001, ''));

  const guest = (index = 0): FakeScreen => screens[index] as FakeScreen;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const join = async (options: RfbClientOptions = {}): Promise<RfbClient> => {
    await shared.ready();
    const client = new RfbClient(options);
    shared.add(client);
    await client.until(() => client.size.width > 0);
    return client;
  };
  const shows =
    (client: RfbClient, options: RfbClientOptions = {}, index = 0) =>
    (): boolean => {
      const expected = colorsIn(options.format ?? FRAMEBUFFER_FORMAT, guest(index).picture.pixels);
      return Buffer.from(client.pixels.buffer).equals(Buffer.from(expected.buffer));
    };

  test('shows one screen to many viewers, each in its own pixel format and encoding', async () => {
    const wishes = FORMATS.map(([, format], index): RfbClientOptions => ({
      format,
      encodings: index % 2 ? [0, -223] : [16, 0, -223],
      version: index % 3 ? 'RFB 003.008\n' : 'RFB 003.007\n',
    }));
    const clients = await Promise.all(wishes.map(join));
    guest().paint({ x: 10, y: 20, width: 70, height: 33 }, RED);
    guest().paint({ x: 50, y: 40, width: 50, height: 40 }, 0x123456);
    await Promise.all(clients.map((client, index) => client.until(shows(client, wishes[index]))));
    expect(screens).toHaveLength(1);
    expect(guest().encodings).toContain(Encoding.hextile);
  });

  test('shows nothing before the guest has drawn', async () => {
    next = { silent: true };
    const client = await join();
    for (let round = 0; round < 10; round++) await turn();
    expect(client.updates).toBe(0);
    guest().paint({ x: 0, y: 0, width: 100, height: 80 }, RED);
    await client.until(shows(client));
    expect(client.updates).toBe(1);
  });

  test('shows the present screen to one who comes later, without asking the guest for it', async () => {
    const first = await join();
    guest().paint({ x: 0, y: 0, width: 100, height: 80 }, BLUE);
    await first.until(shows(first));
    const second = await join();
    await second.until(shows(second));
    expect(guest().requests.filter((kind) => kind === 'whole')).toHaveLength(1);
  });

  test('reads hextile and copied areas', async () => {
    const client = await join({ asks: true });
    const color = (pixel: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(pixel);
      return bytes;
    };
    const { picture } = guest();
    // 20×17 at 3,5: a raw tile, a background with two colored parts, one that keeps both colors, a plain one.
    const raw = Buffer.concat(Array.from({ length: 256 }, (_none, index) => color(index * 77)));
    for (let index = 0; index < 256; index++) picture.pixels[(5 + (index >> 4)) * 100 + 3 + (index & 15)] = index * 77;
    picture.fill({ x: 19, y: 5, width: 4, height: 16 }, RED);
    picture.fill({ x: 20, y: 6, width: 2, height: 3 }, BLUE);
    picture.fill({ x: 22, y: 20, width: 1, height: 1 }, 0x00ff00);
    picture.fill({ x: 3, y: 21, width: 16, height: 1 }, RED);
    picture.fill({ x: 5, y: 21, width: 4, height: 1 }, 0x445566);
    picture.fill({ x: 19, y: 21, width: 4, height: 1 }, 0x777777);
    guest().show(
      rectangleHeader({ x: 3, y: 5, width: 20, height: 17 }, Encoding.hextile),
      ...[Buffer.from([1]), raw],
      ...[Buffer.from([2 + 8 + 16]), color(RED), Buffer.from([2])],
      ...[color(BLUE), Buffer.from([0x11, 0x12]), color(0x00ff00), Buffer.from([0x3f, 0x00])],
      ...[Buffer.from([4 + 8]), color(0x445566), Buffer.from([1, 0x20, 0x30])],
      ...[Buffer.from([2]), color(0x777777)],
    );
    await client.until(shows(client));
    picture.copy({ x: 6, y: 8, width: 40, height: 30 }, { x: 3, y: 5 });
    guest().show(rectangleHeader({ x: 6, y: 8, width: 40, height: 30 }, Encoding.copyRect), Buffer.from([0, 3, 0, 5]));
    await client.until(shows(client));
    picture.copy({ x: 0, y: 0, width: 40, height: 30 }, { x: 2, y: 1 });
    guest().show(rectangleHeader({ x: 0, y: 0, width: 40, height: 30 }, Encoding.copyRect), Buffer.from([0, 2, 0, 1]));
    await client.until(shows(client));
    expect(picture.pixels[0]).toBe(0);
    expect(picture.pixels[8 * 100 + 8]).not.toBe(0);
  });

  test('follows a guest that changes its size', async () => {
    const follows = await join();
    const stays = await join({ encodings: [16] });
    guest().resize({ width: 130, height: 50 });
    guest().paint({ x: 90, y: 0, width: 40, height: 50 }, RED);
    await follows.until(shows(follows));
    expect(follows.size).toEqual({ width: 130, height: 50 });
    await stays.until(() => stays.at(99, 49) === follows.at(99, 49));
    expect(stays.size).toEqual({ width: 100, height: 80 });
    expect(guest().requests.filter((kind) => kind === 'whole')).toHaveLength(2);
  });

  test('hands on bells and clipboards of the guest, and how its pointer looks', async () => {
    const client = await join({ encodings: ALL_ENCODINGS, format: FORMATS[6]![1] });
    await client.until(() => client.updates > 0);
    guest().say(Buffer.from([ServerMessage.bell]));
    guest().say(cutText(ServerMessage.cutText, Buffer.from('caf\xe9', 'latin1')));
    guest().say(Buffer.from([ServerMessage.colors, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9]));
    const shape = Buffer.concat([Buffer.from([255, 255, 255, 0, 0, 0, 255, 0]), Buffer.from([0x80])]);
    guest().show(rectangleHeader({ x: 1, y: 0, width: 2, height: 1 }, Encoding.cursor), shape);
    await client.until(() => client.cursor !== undefined && client.clipboards.length > 0);
    expect(client).toMatchObject({ bells: 1, clipboards: ['café'] });
    const { max } = FORMATS[6]![1];
    expect(client.cursor).toEqual({
      size: '2x1+1+0',
      pixels: [(max[0] << 20) | (max[1] << 10) | max[2], max[0] << 20],
      mask: Buffer.from([0x80]),
    });
    const later = await join({ encodings: ALL_ENCODINGS });
    await later.until(() => later.cursor !== undefined);
  });

  test('hands on what operators do, in whole messages, and drops it from onlookers', async () => {
    const [operator, other, onlooker] = [await join(), await join(), await join({ viewOnly: true })];
    const key = keyEvent(true, 97);
    operator.say(key.subarray(0, 5));
    other.say(pointerEvent(1, 30, 40), cutText(6, Buffer.from('abc')));
    onlooker.say(
      keyEvent(true, 98),
      pointerEvent(4, 1, 1),
      cutText(6, Buffer.from('evil')),
      qemuKeyEvent(true, 98, 48),
    );
    operator.say(key.subarray(5));
    await turn();
    expect(guest().acts).toEqual(['pointer 1 30,40', 'text abc', 'key down 97']);
    await onlooker.until(shows(onlooker));
    expect(onlooker.closed).toBeUndefined();
  });

  test('releases the keys and buttons that a viewer held when it left', async () => {
    const [operator, onlooker] = [await join(), await join({ viewOnly: true })];
    operator.say(keyEvent(true, 97), keyEvent(false, 97), keyEvent(true, 0xffe3), pointerEvent(1, 5, 6));
    onlooker.say(keyEvent(true, 98));
    operator.close(1000, '');
    onlooker.close(1000, '');
    await turn();
    expect(guest().acts.slice(4)).toEqual(['key up 65507', 'pointer 0 5,6']);
  });

  test('offers keys by their place where the guest takes them, and only there', async () => {
    const early = await join({ encodings: ALL_ENCODINGS });
    await early.until(() => early.updates > 0);
    expect(early.knowsQemuKeys).toBe(false);
    early.say(qemuKeyEvent(true, 97, 30));
    guest().show(rectangleHeader({ x: 0, y: 0, width: 0, height: 0 }, Encoding.qemuKey));
    await early.until(() => early.knowsQemuKeys);
    early.say(qemuKeyEvent(false, 97, 30));
    await turn();
    expect(guest().acts).toEqual(['key down 97', 'key up 97 at 30']);
  });

  test('shows a slow viewer the newest screen when it receives again, and queues nothing for it', async () => {
    const quick = await join();
    const slow = await join({ encodings: [0] });
    await slow.until(shows(slow));
    slow.stuck = true;
    const before = slow.updates;
    for (let round = 1; round <= 8; round++) {
      guest().paint({ x: 0, y: 0, width: 100, height: 80 }, round * 1000);
      guest().say(cutText(ServerMessage.cutText, Buffer.alloc(200_000, 64 + round)));
      await quick.until(shows(quick));
    }
    expect(slow.buffered).toBeLessThan(600_000);
    slow.unstick();
    await slow.until(shows(slow));
    expect(slow.updates - before).toBeLessThanOrEqual(3);
    expect(slow.clipboards.at(-1)).toBe('H'.repeat(200_000));
  });

  test('requests no update of the guest while no viewer does', async () => {
    const client = await join({ asks: false });
    client.ask(false);
    await client.until(() => client.updates === 1);
    const asked = guest().requests.length;
    guest().paint({ x: 0, y: 0, width: 9, height: 9 }, RED);
    guest().paint({ x: 0, y: 0, width: 9, height: 9 }, BLUE);
    await turn();
    await turn();
    expect(guest().requests.length - asked).toBeLessThanOrEqual(1);
    client.ask(true);
    await client.until(() => client.updates === 2);
    client.ask(true);
    await client.until(shows(client));
  });

  test('is opened again when it breaks under a running guest, and shown whole to all', async () => {
    const clients = [await join(), await join({ encodings: [0, -223] })];
    await Promise.all(clients.map((client) => client.until(shows(client))));
    next = { size: { width: 64, height: 70 } };
    guest().destroy();
    await turn();
    clients[0]?.say(keyEvent(true, 97));
    clock.advance(100);
    await turn();
    guest(1).paint({ x: 4, y: 4, width: 50, height: 60 }, BLUE);
    await Promise.all(clients.map((client) => client.until(shows(client, {}, 1))));
    clients[0]?.say(keyEvent(true, 98));
    await turn();
    expect(guest(1).acts).toEqual(['key down 98']);
    expect(clients.map(({ closed }) => closed)).toEqual([undefined, undefined]);
  });

  test('gives up when it breaks again and again, as when another program takes it each time', async () => {
    const client = await join();
    for (const wait of [100, 300, 1000, 2000, 4000]) {
      await turn();
      guest(screens.length - 1).destroy();
      await turn();
      expect(client.closed).toBeUndefined();
      clock.advance(wait);
      await turn();
    }
    guest(screens.length - 1).destroy();
    await turn();
    expect(client.closed).toEqual({ code: 1000, reason: 'The console has ended.' });
    expect([screens.length, ended]).toEqual([6, 1]);
  });

  test('says why it can not be opened again', async () => {
    const client = await join();
    failure = new DomainError('BUSY', 'Another program is using the screen of web.');
    guest().destroy();
    for (const wait of [100, 300, 1000, 2000, 4000]) {
      await turn();
      clock.advance(wait);
      await turn();
    }
    expect(client.closed).toEqual({ code: 4500, reason: failure.message });
  });

  test('shows a viewer that comes while it is opened again the same as the others', async () => {
    const first = await join();
    failure = new DomainError('BUSY', 'The screen is busy.');
    guest().destroy();
    await turn();
    clock.advance(100);
    await turn();
    const second = await join();
    failure = undefined;
    clock.advance(300);
    await turn();
    guest(1).paint({ x: 0, y: 0, width: 100, height: 80 }, RED);
    for (const client of [first, second]) await client.until(shows(client, {}, 1));
    expect([first.closed, second.closed, ended]).toEqual([undefined, undefined, 0]);
  });

  test('ends with its guest', async () => {
    const client = await join();
    running = false;
    guest().push(null);
    await client.until(() => client.closed !== undefined);
    expect(client.closed).toEqual({ code: 1000, reason: 'The console has ended.' });
    expect(ended).toBe(1);
  });

  test('stays through a restart of the guest, however long that takes', async () => {
    const client = await join();
    await client.until(shows(client));
    for (let restart = 1; restart <= 10; restart++) {
      running = false;
      comesBack = true;
      guest(restart - 1).destroy();
      await turn();
      running = true;
      await turn();
      guest(restart).paint({ x: 0, y: 0, width: 100, height: 80 }, restart);
      await client.until(shows(client, {}, restart));
      client.say(keyEvent(true, 97));
      await turn();
      expect(guest(restart).acts).toEqual(['key down 97']);
    }
    expect([client.closed, ended]).toEqual([undefined, 0]);
  });

  test('serves 500 viewers over one connection', async () => {
    next = { size: { width: 16, height: 16 } };
    const clients = await Promise.all(
      Array.from({ length: 500 }, (_none, index) => join({ encodings: index % 50 ? [0] : [16], viewOnly: index > 0 })),
    );
    guest().paint({ x: 0, y: 0, width: 16, height: 16 }, RED);
    await Promise.all(clients.map((client) => client.until(shows(client))));
    expect(screens).toHaveLength(1);
    expect(clients.every(({ closed }) => closed === undefined)).toBe(true);
  }, 60_000);

  test('is given up shortly after the last viewer left, and kept when one comes back before', async () => {
    const first = await join();
    first.close(1000, '');
    clock.advance(4000);
    const second = await join();
    clock.advance(60_000);
    expect(guest().destroyed).toBe(false);
    second.close(1000, '');
    clock.advance(5000);
    expect([guest().destroyed, ended]).toEqual([true, 1]);
  });

  test.each([
    ['an old protocol', Buffer.from('RFB 003.003\n')],
    ['a password', Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([2])])],
    ['a message that was not offered', Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1, 150])])],
    [
      'a color map',
      Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1, 0, 0, 0, 0, 8, 8, 0, 0]), Buffer.alloc(12)]),
    ],
  ])('closes a viewer that uses %s, and no other viewer', async (_what, bytes) => {
    const other = await join();
    const viewer = new RfbClient();
    shared.add(viewer);
    viewer.say(bytes);
    expect(viewer.closed?.code).toBe(1002);
    await other.until(shows(other));
    expect(other.closed).toBeUndefined();
  });

  test('passes over a clipboard that is none', async () => {
    const client = await join();
    const head = Buffer.from([6, 0, 0, 0, 0, 0x20, 0, 0]);
    client.say(head, Buffer.alloc(2 ** 21), keyEvent(true, 97));
    guest().say(Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0x20, 0, 0]), Buffer.alloc(2 ** 21), Buffer.from([2])]));
    await client.until(() => client.bells === 1);
    expect(client.clipboards).toEqual([]);
    expect(guest().acts).toEqual(['key down 97']);
  });

  test.each([
    ['a password', { securityTypes: [2] }],
    ['an older protocol', { version: 'RFB 003.003\n' }],
  ])('is not shareable when it asks for %s', async (_what, options) => {
    next = options;
    await expect(shared.ready()).rejects.toBeInstanceOf(NotShareableError);
  });

  test('says what the screen says when it refuses', async () => {
    next = { refusal: 'Too many connections' };
    await expect(shared.ready()).rejects.toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: 'Too many connections',
    });
  });

  test('gives up a screen that never answers', async () => {
    next = { version: '' };
    const ready = shared.ready();
    await turn();
    clock.advance(10_000);
    await expect(ready).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test('refuses a screen that would fill the memory', async () => {
    next = { size: { width: 1, height: 1 } };
    await shared.ready();
    const client = new RfbClient();
    shared.add(client);
    await client.until(() => client.updates > 0);
    running = false;
    guest().show(rectangleHeader({ x: 0, y: 0, width: 60_000, height: 60_000 }, Encoding.desktopSize));
    await client.until(() => client.closed !== undefined);
    expect(guest().destroyed).toBe(true);
  });

  test.each([
    ['outside of itself', rectangleHeader({ x: 99, y: 0, width: 2, height: 1 }, Encoding.raw)],
    [
      'from outside of itself',
      Buffer.concat([rectangleHeader({ x: 0, y: 0, width: 9, height: 9 }, 1), Buffer.from([0, 95, 0, 0])]),
    ],
    ['in an encoding that was not asked for', rectangleHeader({ x: 0, y: 0, width: 2, height: 1 }, 7)],
  ])('lets go of a screen that draws %s', async (_how, rectangle) => {
    const client = await join();
    await client.until(() => client.updates > 0);
    running = false;
    guest().show(rectangle);
    await client.until(() => client.closed !== undefined);
    expect(guest().destroyed).toBe(true);
  });
});
