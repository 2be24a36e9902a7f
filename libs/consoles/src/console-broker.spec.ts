import { Duplex, PassThrough } from 'node:stream';
import {
  ConsoleSource,
  DomainError,
  type InstanceDirectory,
  type SerialLine,
  type Shell,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { buildVm, FixedClock } from '@headgate/testing';
import { jest } from '@jest/globals';
import { ConsoleBroker, type ShellViewer } from './console-broker.js';
import { FakeScreen } from './rfb/testing/fake-screen.js';
import { Encoding, rectangleHeader } from './rfb/messages.js';
import { RfbClient } from './rfb/testing/rfb-client.js';

/** The guest's end of a console: prints for a test and records its input. */
class GuestEnd extends Duplex {
  sent = '';
  override _read(): void {}
  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.sent += data.toString('latin1');
    done();
  }
  print(text: string): void {
    this.push(Buffer.from(text));
  }
}

class FakeConsoles extends ConsoleSource {
  override screenSharing: ConsoleSource['screenSharing'] = 'none';
  readonly lines: GuestEnd[] = [];
  backlog = '';
  failure: DomainError | undefined;

  private next(): GuestEnd {
    if (this.failure) throw this.failure;
    const line = new GuestEnd();
    this.lines.push(line);
    return line;
  }
  override async openVnc(): Promise<Duplex> {
    return this.next();
  }
  override async openSerial(): Promise<SerialLine> {
    return { stream: this.next(), backlog: Buffer.from(this.backlog) };
  }
  override async openShell(): Promise<Shell> {
    return { stream: this.next(), resize: (size) => this.sizes.push(size) };
  }
  readonly sizes: object[] = [];
}

class FakeViewer implements ShellViewer {
  seen = '';
  buffered = 0;
  closed: { code: number; reason: string } | undefined;
  private readonly inputs: ((data: Buffer) => void)[] = [];
  private readonly closes: (() => void)[] = [];
  private readonly resizes: ((size: { columns: number; rows: number }) => void)[] = [];
  private waiting: (() => void)[] = [];
  /** Takes nothing off the wire while true. */
  stuck = false;
  constructor(readonly viewOnly = false) {}
  send(data: Buffer, left: () => void): void {
    this.seen += data.toString('latin1');
    if (!this.stuck) return left();
    this.buffered += data.length;
    this.waiting.push(left);
  }
  unstick(): void {
    this.stuck = false;
    this.buffered = 0;
    for (const left of this.waiting.splice(0)) left();
  }
  onInput(listener: (data: Buffer) => void): void {
    this.inputs.push(listener);
  }
  onClose(listener: () => void): void {
    if (this.closed) listener();
    else this.closes.push(listener);
  }
  onResize(listener: (size: { columns: number; rows: number }) => void): void {
    this.resizes.push(listener);
  }
  pause(): void {}
  resume(): void {}
  close(code: number, reason: string): void {
    if (this.closed) return;
    this.closed = { code, reason };
    for (const listener of this.closes) listener();
  }
  type(text: string): void {
    for (const listener of this.inputs) listener(Buffer.from(text, 'latin1'));
  }
  resizeTo(columns: number, rows: number): void {
    for (const listener of this.resizes) listener({ columns, rows });
  }
}

const vm = buildVm({ status: 'Running' });

describe('ConsoleBroker', () => {
  let clock: FixedClock;
  let source: FakeConsoles;
  let running: boolean;
  let current: VirtualMachine;
  let broker: ConsoleBroker;

  beforeEach(() => {
    clock = new FixedClock();
    source = new FakeConsoles();
    running = true;
    current = vm;
    const directory = {
      get: () => (running ? current : { ...current, status: 'Stopped' }),
      waitFor: async () => undefined,
    } as unknown as InstanceDirectory;
    broker = new ConsoleBroker(directory, clock);
  });

  afterEach(() => broker.close());

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const serial = async (viewOnly = false): Promise<FakeViewer> => {
    const viewer = new FakeViewer(viewOnly);
    await broker.openSerial(vm.ref, source, viewer);
    return viewer;
  };
  const line = (index = 0): GuestEnd => source.lines[index] as GuestEnd;

  describe('a serial line', () => {
    test('is held once and copied to all, and who comes later sees what scrolled by', async () => {
      source.backlog = 'BIOS\n';
      const first = await serial();
      line().print('boot\n');
      await turn();
      const second = await serial();
      line().print('login: ');
      await turn();
      expect(source.lines).toHaveLength(1);
      expect([first.seen, second.seen]).toEqual(['BIOS\nboot\nlogin: ', 'BIOS\nboot\nlogin: ']);
    });

    test('accepts keys of operators, and drops those of view-only viewers', async () => {
      const operator = await serial();
      const onlooker = await serial(true);
      operator.type('root\n');
      onlooker.type('rm -rf /\n');
      expect(line().sent).toBe('root\n');
    });

    test('is given up some time after the last viewer left, and kept when one comes back before', async () => {
      const first = await serial();
      first.close(1000, '');
      clock.advance(29_000);
      const second = await serial();
      clock.advance(60_000);
      expect(line().destroyed).toBe(false);
      second.close(1000, '');
      clock.advance(30_000);
      expect(line().destroyed).toBe(true);
    });

    test('is opened again when it breaks under a running guest, as in a live migration', async () => {
      source.backlog = 'old';
      const viewer = await serial();
      line().print('a');
      await turn();
      line().destroy();
      await turn();
      clock.advance(100);
      await turn();
      line(1).print('b');
      await turn();
      expect(viewer.seen).toBe('oldab');
      expect(viewer.closed).toBeUndefined();
      viewer.type('x');
      expect(line(1).sent).toBe('x');
    });

    test('shows a viewer that comes while it is opened again the same as the others', async () => {
      const first = await serial();
      line().print('a');
      await turn();
      source.failure = new DomainError('WRONG_STATE', 'web is not running.');
      line().destroy();
      await turn();
      clock.advance(100);
      await turn();
      const second = await serial();
      expect([first.closed, second.closed]).toEqual([undefined, undefined]);
      source.failure = undefined;
      clock.advance(300);
      await turn();
      line(1).print('b');
      await turn();
      expect([first.seen, second.seen]).toEqual(['ab', 'ab']);
      second.type('x');
      expect(line(1).sent).toBe('x');
    });

    test('is opened again when it closes while it is opened', async () => {
      const closed = new GuestEnd();
      closed.destroy();
      await turn();
      const openSerial = source.openSerial.bind(source);
      source.openSerial = async () => ({ stream: closed, backlog: Buffer.alloc(0) });
      const viewer = await serial();
      source.openSerial = openSerial;
      clock.advance(100);
      await turn();
      line().print('a');
      await turn();
      expect(viewer).toMatchObject({ seen: 'a', closed: undefined });
    });

    test('of a VM that was deleted is not shown to viewers of its successor, and does not take the line of that', async () => {
      const first = await serial();
      line().print('secret of the first');
      await turn();
      line().destroy();
      await turn();
      current = buildVm({ status: 'Running', uid: 'another' });
      const second = await serial();
      line(1).print('b');
      clock.advance(100);
      await turn();
      expect(source.lines).toHaveLength(2);
      expect(second).toMatchObject({ seen: 'b', closed: undefined });
      expect(first).toMatchObject({
        seen: 'secret of the first',
        closed: { code: 1000, reason: 'The console has ended.' },
      });
    });

    test('gives the last error when it can not be opened again under a running guest', async () => {
      const viewer = await serial();
      source.failure = new DomainError('BACKEND_FAILED', 'The socket is gone.');
      line().destroy();
      for (const delayMs of [0, 100, 300, 1000, 2000, 4000]) {
        clock.advance(delayMs);
        await turn();
      }
      expect(viewer.closed).toEqual({ code: 4500, reason: 'The socket is gone.' });
    });

    test('does not send earlier queries of the guest to a new viewer, whose terminal would answer them', async () => {
      const first = await serial();
      line().print('boot\x1b[6nlogin: ');
      await turn();
      const second = await serial();
      line().print('\x1b[6n');
      await turn();
      expect(first.seen).toBe('boot\x1b[6nlogin: \x1b[6n');
      expect(second.seen).toBe('bootlogin: \x1b[6n');
    });

    test('ends with its guest', async () => {
      const viewer = await serial();
      running = false;
      line().push(null);
      line().resume();
      await turn();
      await turn();
      expect(viewer.closed).toEqual({ code: 1000, reason: 'The console has ended.' });
      expect((await serial()).closed).toBeUndefined();
    });

    test("gives the reason why it can't be opened, and tries again for the next viewer", async () => {
      source.failure = new DomainError('WRONG_STATE', 'web is not running.');
      expect((await serial()).closed).toEqual({ code: 4500, reason: 'web is not running.' });
      source.failure = undefined;
      expect((await serial()).closed).toBeUndefined();
    });

    test('waits for a slow viewer, and closes it when it receives nothing for too long', async () => {
      const slow = await serial();
      const quick = await serial();
      slow.stuck = true;
      line().print('x'.repeat(2_000_000));
      await turn();
      expect(line().isPaused()).toBe(true);
      slow.unstick();
      expect(line().isPaused()).toBe(false);
      slow.stuck = true;
      line().print('y'.repeat(2_000_000));
      await turn();
      clock.advance(10_000);
      expect(slow.closed?.code).toBe(4508);
      expect(line().isPaused()).toBe(false);
      expect(quick.closed).toBeUndefined();
    });
  });

  describe('a graphical console', () => {
    const handshake = 'RFB 003.008\n\u0001\u0000';
    const vnc = async (viewOnly = false): Promise<FakeViewer> => {
      const viewer = new FakeViewer(viewOnly);
      await broker.openVnc(vm.ref, source, viewer);
      return viewer;
    };

    test('gives each viewer its own stream where screens are not shared', async () => {
      const operator = await vnc();
      const onlooker = await vnc(true);
      line(0).print('RFB 003.008\n');
      await turn();
      expect([operator.seen, onlooker.seen]).toEqual(['RFB 003.008\n', '']);
      operator.type(`${handshake}\u0005\u0001\u0000\u0001\u0000\u0001`);
      onlooker.type(`${handshake}\u0005\u0001\u0000\u0001\u0000\u0001`);
      expect(line(0).sent).toBe('RFB 003.008\n\u0001\u0001\u0005\u0001\u0000\u0001\u0000\u0001');
      expect(line(1).sent).toBe('RFB 003.008\n\u0001\u0001');
    });

    test('is opened once and shared by its viewers where the backend serves one', async () => {
      source.screenSharing = 'required';
      const screen = new FakeScreen();
      const openVnc = jest.spyOn(source, 'openVnc').mockResolvedValue(screen);
      const [first, second] = [new RfbClient(), new RfbClient({ viewOnly: true })];
      await Promise.all([first, second].map((viewer) => broker.openVnc(vm.ref, source, viewer)));
      screen.paint({ x: 0, y: 0, width: 100, height: 80 }, 0x0000ff);
      for (const viewer of [first, second]) await viewer.until(() => viewer.at(99, 79) === 255);
      expect(openVnc).toHaveBeenCalledTimes(1);
      first.close(1000, '');
      second.close(1000, '');
      clock.advance(5000);
      expect(screen.destroyed).toBe(true);
      openVnc.mockResolvedValue(new FakeScreen());
      await broker.openVnc(vm.ref, source, new RfbClient());
      expect(openVnc).toHaveBeenCalledTimes(2);
    });

    test('is opened once for many viewers where the backend serves a limited number', async () => {
      source.screenSharing = 'preferred';
      const screen = new FakeScreen();
      const openVnc = jest.spyOn(source, 'openVnc').mockResolvedValue(screen);
      const viewers = Array.from({ length: 40 }, (_none, index) => new RfbClient({ viewOnly: index > 0 }));
      await Promise.all(viewers.map((viewer) => broker.openVnc(vm.ref, source, viewer)));
      screen.paint({ x: 0, y: 0, width: 100, height: 80 }, 0x0000ff);
      for (const viewer of viewers) await viewer.until(() => viewer.at(99, 79) === 255);
      expect(openVnc).toHaveBeenCalledTimes(1);
    });

    test('gives each viewer a stream where the backend serves several and asks for a password', async () => {
      source.screenSharing = 'preferred';
      const screens: FakeScreen[] = [];
      jest.spyOn(source, 'openVnc').mockImplementation(async () => {
        screens.push(new FakeScreen({ securityTypes: [2] }));
        return screens.at(-1) as FakeScreen;
      });
      const [first, second] = [await vnc(), await vnc()];
      await turn();
      expect([first.closed, second.closed]).toEqual([undefined, undefined]);
      expect(screens.filter(({ destroyed }) => !destroyed)).toHaveLength(2);
    });

    test('belongs to its first viewer where the backend serves one and asks for a password', async () => {
      source.screenSharing = 'required';
      jest.spyOn(source, 'openVnc').mockImplementation(async () => new FakeScreen({ securityTypes: [2] }));
      const [first, second] = await Promise.all([vnc(), vnc()]);
      await turn();
      expect(first.closed).toBeUndefined();
      expect(first.seen).toMatch(/^RFB 003.008\n/);
      expect(second.closed?.reason).toMatch(/^Another viewer is using/);
      expect((await vnc()).closed?.reason).toMatch(/^Another viewer is using/);
      first.close(1000, '');
      expect((await vnc()).closed).toBeUndefined();
    });

    test("gives the reason why it can't be opened where the backend serves one, and tries again for the next viewer", async () => {
      source.screenSharing = 'required';
      source.failure = new DomainError('WRONG_STATE', 'web is not running.');
      expect((await vnc()).closed).toEqual({ code: 4500, reason: 'web is not running.' });
      source.failure = undefined;
      jest.spyOn(source, 'openVnc').mockResolvedValue(new FakeScreen());
      expect((await vnc()).closed).toBeUndefined();
    });

    describe('as a picture', () => {
      const KEEP = { keepOthers: true };
      let screens: FakeScreen[];
      let openVnc: jest.SpiedFunction<FakeConsoles['openVnc']>;
      beforeEach(() => {
        screens = [];
        source.screenSharing = 'required';
        openVnc = jest.spyOn(source, 'openVnc').mockImplementation(async () => {
          // As KubeVirt does it, which serves one session.
          if (screens.some(({ destroyed }) => !destroyed)) throw new DomainError('BUSY', 'in use');
          screens.push(new FakeScreen());
          return screens.at(-1) as FakeScreen;
        });
      });

      test('is taken once for callers at the same time, over a session that ends no other and is closed', async () => {
        const [first, second] = await Promise.all([broker.frameOf(vm.ref, source), broker.frameOf(vm.ref, source)]);
        expect(second).toBe(first);
        expect(openVnc.mock.calls).toEqual([[vm.ref, KEEP]]);
        expect(screens[0]?.destroyed).toBe(true);
      });

      test('is the screen that viewers have open, which is not opened again', async () => {
        const viewer = new RfbClient();
        await broker.openVnc(vm.ref, source, viewer);
        screens[0]?.paint({ x: 0, y: 0, width: 100, height: 80 }, 0x0000ff);
        await viewer.until(() => viewer.at(0, 0) === 0x0000ff);
        const taken = broker.frameOf(vm.ref, source);
        await turn();
        clock.advance(500);
        expect(((await taken).pixels[0] ?? 0) & 0xffffff).toBe(0x0000ff);
        expect(openVnc).toHaveBeenCalledTimes(1);
        expect(viewer.closed).toBeUndefined();
      });

      test('follows the guest also while no viewer asks for changes', async () => {
        const idle = new FakeViewer();
        await broker.openVnc(vm.ref, source, idle);
        const taken = broker.frameOf(vm.ref, source);
        await turn();
        screens[0]?.paint({ x: 0, y: 0, width: 100, height: 80 }, 0x0000ff);
        expect(((await taken).pixels[0] ?? 0) & 0xffffff).toBe(0x0000ff);
      });

      test('waits for a screen that a viewer has just opened, until it is drawn', async () => {
        screens.push(new FakeScreen({ silent: true }));
        openVnc.mockResolvedValue(screens[0] as FakeScreen);
        await broker.openVnc(vm.ref, source, new FakeViewer());
        const taken = broker.frameOf(vm.ref, source);
        await turn();
        // QEMU sends the shape of the cursor first.
        screens[0]?.show(rectangleHeader({ x: 0, y: 0, width: 0, height: 0 }, Encoding.cursor));
        await turn();
        clock.advance(4_000);
        screens[0]?.paint({ x: 0, y: 0, width: 100, height: 80 }, 0x0000ff);
        expect(((await taken).pixels[0] ?? 0) & 0xffffff).toBe(0x0000ff);
      });

      test('is refused when a screen that a viewer has opened is not drawn in time', async () => {
        openVnc.mockResolvedValue(new FakeScreen({ silent: true }));
        await broker.openVnc(vm.ref, source, new FakeViewer());
        const taken = broker.frameOf(vm.ref, source);
        await turn();
        clock.advance(5_000);
        await expect(taken).rejects.toMatchObject({ code: 'BUSY' });
      });

      test('gives way to a viewer who opens the screen meanwhile', async () => {
        const taken = broker.frameOf(vm.ref, source);
        const viewer = new RfbClient();
        const [refused] = await Promise.allSettled([taken, broker.openVnc(vm.ref, source, viewer)]);
        expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'BUSY' } });
        await viewer.until(() => viewer.updates > 0);
        expect(viewer.closed).toBeUndefined();
        expect(screens.map(({ destroyed }) => destroyed)).toEqual([true, false]);
      });

      test('does not exist where a password is asked for, and takes no session from the viewer who knows it', async () => {
        openVnc.mockImplementation(async () => new FakeScreen({ securityTypes: [2] }));
        await expect(broker.frameOf(vm.ref, source)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
        const owner = await vnc();
        const opened = openVnc.mock.calls.length;
        await expect(broker.frameOf(vm.ref, source)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
        expect(openVnc).toHaveBeenCalledTimes(opened);
        expect(owner.closed).toBeUndefined();
      });

      test('is not finished when the service shuts down', async () => {
        const taken = broker.frameOf(vm.ref, source);
        broker.close();
        await expect(taken).rejects.toMatchObject({ code: 'BUSY' });
      });
    });

    test('closes a viewer whose messages are unsupported, and its stream', async () => {
      const viewer = await vnc(true);
      viewer.type(`${handshake}\u0063`);
      expect(viewer.closed?.code).toBe(1002);
      expect(line().destroyed).toBe(true);
    });
  });

  describe('a shell', () => {
    test('belongs to its viewer and has the size of its window', async () => {
      const viewer = new FakeViewer();
      await broker.openShell(vm.ref, source, viewer, { columns: 80, rows: 24 });
      viewer.type('ls\n');
      viewer.resizeTo(120, 40);
      expect(line().sent).toBe('ls\n');
      expect(source.sizes).toEqual([{ columns: 120, rows: 40 }]);
      viewer.close(1000, '');
      expect(line().destroyed).toBe(true);
    });

    test('that ends closes its viewer normally, and one that fails with the reason, cut to the length of a close frame', async () => {
      const open = async (): Promise<FakeViewer> => {
        const viewer = new FakeViewer();
        await broker.openShell(vm.ref, source, viewer, { columns: 80, rows: 24 });
        return viewer;
      };
      const [ended, failed, verbose] = [await open(), await open(), await open()];
      line(0).push(null);
      line(1).destroy(new DomainError('BACKEND_FAILED', 'The node does not answer.'));
      line(2).destroy(new DomainError('BACKEND_FAILED', 'ä'.repeat(100)));
      await turn();
      expect(ended.closed).toEqual({ code: 1000, reason: 'The shell has ended.' });
      expect(failed.closed).toEqual({ code: 4500, reason: 'The node does not answer.' });
      expect(verbose.closed).toEqual({ code: 4500, reason: 'ä'.repeat(61) });
    });

    test('is refused to view-only viewers', async () => {
      const viewer = new FakeViewer(true);
      await broker.openShell(vm.ref, source, viewer, { columns: 80, rows: 24 });
      expect(viewer.closed?.reason).toBe('A shell is for administrators.');
      expect(source.lines).toHaveLength(0);
    });
  });

  test('is fed by streams of any kind', async () => {
    const pass = new PassThrough();
    source.openSerial = async () => ({ stream: pass, backlog: Buffer.alloc(0) });
    const viewer = await serial();
    viewer.type('echo');
    await turn();
    expect(viewer.seen).toBe('echo');
  });
});
