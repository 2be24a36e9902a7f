import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import FakeRfb from '../testing/fake-rfb.js';
import { Terminal } from '../testing/fake-terminal.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole, type OpenConsole } from '../testing/render-console.js';

describe('the consoles of an instance', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    FakeRfb.opened.length = 0;
    Terminal.opened.length = 0;
  });
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1' });
  const viewer = () => service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });

  /** What draws consoles is loaded first. */
  const connecting = async (place: string): Promise<OpenConsole> => {
    const opened = await openConsole(place, [web], service);
    await waitFor(() => expect(service.sockets).toHaveLength(1));
    return opened;
  };

  describe('the screen', () => {
    const place = '/vms/prod/tailvm/web-1/console';
    const rfb = () => FakeRfb.opened.at(-1) as FakeRfb;
    const console_ = () => within(screen.getByRole('region', { name: 'Graphical console of web-1' }));

    test('connects, sends Ctrl-Alt-Del and types text', async () => {
      const { user, hears } = await connecting(place);
      expect(service.socket.url).toBe('ws://localhost/api/vnc/tailvm/web-1?context=prod');
      expect(service.socket.binaryType).toBe('arraybuffer');
      await hears(() => rfb().play('connect'));
      expect(console_().getByText('Connected')).toBeTruthy();
      expect(rfb()).toMatchObject({ viewOnly: false, scaleViewport: true });
      await user.click(console_().getByRole('button', { name: 'Ctrl-Alt-Del' }));
      expect(rfb().ctrlAltDels).toBe(1);
      await user.click(console_().getByRole('button', { name: 'Type text' }));
      const dialog = within(screen.getByRole('dialog'));
      await user.clear(dialog.getByRole('textbox'));
      await user.type(dialog.getByRole('textbox'), 'ls');
      await user.click(dialog.getByRole('button', { name: 'Type' }));
      await waitFor(() => expect(rfb().keys.map(([keysym]) => keysym)).toEqual([0x6c, 0x73]));
    });

    test('sends keys that a browser keeps for itself', async () => {
      const { user, hears } = await connecting(place);
      await hears(() => rfb().play('connect'));
      await user.click(console_().getByRole('button', { name: 'Send keys' }));
      await user.click(await console_().findByRole('menuitem', { name: 'Ctrl-Alt-F2' }));
      expect(rfb().keys.map(([, code]) => code)).toEqual([
        ...['ControlLeft', 'AltLeft', 'F2'],
        ...['F2', 'AltLeft', 'ControlLeft'],
      ]);
    });

    test('hands over what was copied in the guest', async () => {
      const { user, hears } = await connecting(place);
      await hears(() => rfb().play('connect'));
      expect(console_().queryByRole('button', { name: 'Take what it copied' })).toBeNull();
      await hears(() => rfb().play('clipboard', { text: 'from the guest' }));
      await user.click(console_().getByRole('button', { name: 'Take what it copied' }));
      expect(await navigator.clipboard.readText()).toBe('from the guest');
    });

    test('lets nobody be caught: Ctrl-Alt-Shift leads to its tools', async () => {
      const { hears } = await connecting(place);
      await hears(() => rfb().play('connect'));
      fireEvent.keyDown(rfb().target, { key: 'Shift', ctrlKey: true, altKey: true, shiftKey: true });
      expect(document.activeElement).toBe(console_().getByRole('button', { name: 'Ctrl-Alt-Del' }));
    });

    test('stands alone in a window of its own', async () => {
      const { hears } = await connecting(`${place}?alone=1`);
      await hears(() => rfb().play('connect'));
      expect(screen.queryByRole('banner')).toBeNull();
      expect(screen.queryByRole('tab')).toBeNull();
      expect(console_().queryByRole('button', { name: 'In a window of its own' })).toBeNull();
    });

    test('is view only for who may only look', async () => {
      viewer();
      const { hears } = await connecting(place);
      await console_().findByText('View only');
      await hears(() => rfb().play('connect'));
      expect(rfb().viewOnly).toBe(true);
      expect(console_().queryByRole('button', { name: 'Ctrl-Alt-Del' })).toBeNull();
    });

    test('offers to start what is stopped, and connects once it runs', async () => {
      service.on('POST /api/vms/tailvm/web-1/start', { status: 'ok' });
      const { user, hears } = await openConsole(place, [buildStoppedVm()], service);
      expect(service.sockets).toEqual([]);
      expect(console_().getByText('web-1 is Stopped. There is nothing to see until it runs.')).toBeTruthy();
      await user.click(console_().getByRole('button', { name: 'Start web-1' }));
      await hears(() => service.stream.emit('changed', web));
      await waitFor(() => expect(service.sockets).toHaveLength(1));
    });

    test('calls nobody after the instance stopped', async () => {
      const { hears } = await connecting(place);
      await hears(() => rfb().play('connect'));
      await hears(() => {
        service.socket.close();
        service.stream.emit('changed', buildStoppedVm());
      });
      expect(await console_().findByRole('button', { name: 'Start web-1' })).toBeTruthy();
      expect(service.sockets).toHaveLength(1);
      expect(rfb().disconnected).toBe(true);
    });

    test('says why it broke and connects again when asked', async () => {
      const { user, hears } = await connecting(place);
      await hears(() => rfb().play('connect'));
      await hears(() => service.socket.close('The backend closed the screen.'));
      expect(console_().getByText(/The backend closed the screen/)).toBeTruthy();
      await user.click(console_().getByRole('button', { name: 'Reconnect' }));
      expect(service.sockets).toHaveLength(2);
    });
  });

  describe('the serial line', () => {
    const place = '/vms/prod/tailvm/web-1/serial';
    const terminal = () => Terminal.opened.at(-1) as Terminal;
    const region = () => within(screen.getByRole('region', { name: 'Serial console of web-1' }));

    test('shows what the guest says and sends what is typed, as bytes', async () => {
      const { hears } = await connecting(place);
      expect(service.socket.url).toBe('ws://localhost/api/tty/tailvm/web-1?context=prod');
      await hears(() => service.socket.open());
      await hears(() => service.socket.say('login: '));
      expect(terminal().written).toBe('login: ');
      await hears(() => terminal().type('root\r'));
      expect(service.socket.typed).toBe('root\r');
      expect(service.socket.sent.every((data) => typeof data !== 'string')).toBe(true);
    });

    test('sends nothing for who may only look', async () => {
      viewer();
      const { hears } = await connecting(place);
      await region().findByText('View only');
      await hears(() => service.socket.open());
      await hears(() => terminal().type('root\r'));
      expect(service.socket.sent).toEqual([]);
    });

    test('copies with Ctrl-Shift-C, which never reaches the guest', async () => {
      await connecting(place);
      const key = { ctrlKey: true, shiftKey: true, code: 'KeyC', type: 'keydown', preventDefault: () => undefined };
      expect(terminal().keys(key as KeyboardEvent)).toBe(false);
      expect(await navigator.clipboard.readText()).toBe('selected text');
      expect(terminal().keys({ ...key, shiftKey: false } as KeyboardEvent)).toBe(true);
    });

    test('remembers how large its text shall be', async () => {
      const { user } = await connecting(place);
      await user.click(region().getByRole('button', { name: 'Larger text' }));
      expect(terminal().options['fontSize']).toBe(14);
      expect(localStorage.getItem('headgate.terminal-font')).toBe('14');
    });

    test('keeps what was said after it ended', async () => {
      const { hears } = await connecting(place);
      await hears(() => service.socket.open());
      await hears(() => service.socket.say('Kernel panic'));
      await hears(() => {
        service.socket.close();
        service.stream.emit('changed', buildStoppedVm());
      });
      expect(await region().findByRole('button', { name: 'Start web-1' })).toBeTruthy();
      expect(terminal()).toMatchObject({ written: 'Kernel panic', disposed: false });
      expect(service.sockets).toHaveLength(1);
    });
  });
});
