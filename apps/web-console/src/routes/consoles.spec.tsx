import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import FakeRfb from '../testing/fake-rfb.js';
import { Terminal } from '../testing/fake-terminal.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole, type OpenConsole } from '../testing/render-console.js';

describe('the consoles of a VM', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    FakeRfb.opened.length = 0;
    Terminal.opened.length = 0;
  });
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1' });
  const viewer = () => service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });

  /** Waits until the libraries are loaded and the console connects. */
  const connecting = async (path: string): Promise<OpenConsole> => {
    const opened = await openConsole(path, [web], service);
    await waitFor(() => expect(service.sockets).toHaveLength(1));
    return opened;
  };

  describe('the screen', () => {
    const path = '/vms/prod/tailvm/web-1/console';
    const rfb = () => FakeRfb.opened.at(-1) as FakeRfb;
    const console_ = () => within(screen.getByRole('region', { name: 'Graphical console of web-1' }));

    test('connects, sends Ctrl+Alt+Del, and types text', async () => {
      const { user, receive } = await connecting(path);
      expect(service.socket.url).toBe('ws://localhost/api/vnc/tailvm/web-1?context=prod');
      expect(service.socket.binaryType).toBe('arraybuffer');
      await receive(() => rfb().emit('connect'));
      expect(console_().getByText('Connected')).toBeTruthy();
      expect(rfb()).toMatchObject({ viewOnly: false, scaleViewport: true });
      await user.click(console_().getByRole('button', { name: 'Ctrl+Alt+Del' }));
      expect(rfb().ctrlAltDels).toBe(1);
      await user.click(console_().getByRole('button', { name: 'Type text' }));
      const dialog = within(screen.getByRole('dialog'));
      await user.clear(dialog.getByRole('textbox'));
      await user.type(dialog.getByRole('textbox'), 'ls');
      await user.click(dialog.getByRole('button', { name: 'Type' }));
      await waitFor(() => expect(rfb().keys.map(([keysym]) => keysym)).toEqual([0x6c, 0x73]));
    });

    test('sends keys that the browser intercepts', async () => {
      const { user, receive } = await connecting(path);
      await receive(() => rfb().emit('connect'));
      await user.click(console_().getByRole('button', { name: 'Send keys' }));
      await user.click(await console_().findByRole('menuitem', { name: 'Ctrl+Alt+F2' }));
      expect(rfb().keys.map(([, code]) => code)).toEqual([
        ...['ControlLeft', 'AltLeft', 'F2'],
        ...['F2', 'AltLeft', 'ControlLeft'],
      ]);
    });

    test('copies the clipboard of the guest', async () => {
      const { user, receive } = await connecting(path);
      await receive(() => rfb().emit('connect'));
      expect(console_().queryByRole('button', { name: 'Copy from guest' })).toBeNull();
      await receive(() => rfb().emit('clipboard', { text: 'from the guest' }));
      await user.click(console_().getByRole('button', { name: 'Copy from guest' }));
      expect(await navigator.clipboard.readText()).toBe('from the guest');
    });

    test('moves the focus to the toolbar with Ctrl+Alt+Shift', async () => {
      const { receive } = await connecting(path);
      await receive(() => rfb().emit('connect'));
      fireEvent.keyDown(rfb().target, { key: 'Shift', ctrlKey: true, altKey: true, shiftKey: true });
      expect(document.activeElement).toBe(console_().getByRole('button', { name: 'Ctrl+Alt+Del' }));
    });

    test('fills its own window', async () => {
      const { receive } = await connecting(`${path}?popup=1`);
      await receive(() => rfb().emit('connect'));
      expect(screen.queryByRole('banner')).toBeNull();
      expect(screen.queryByRole('tab')).toBeNull();
      expect(console_().queryByRole('button', { name: 'Open in new window' })).toBeNull();
    });

    test('is view-only for users without rights', async () => {
      viewer();
      const { receive } = await connecting(path);
      await console_().findByText('View only');
      await receive(() => rfb().emit('connect'));
      expect(rfb().viewOnly).toBe(true);
      expect(console_().queryByRole('button', { name: 'Ctrl+Alt+Del' })).toBeNull();
    });

    test('offers to start a stopped VM, and connects once it runs', async () => {
      service.on('POST /api/vms/tailvm/web-1/start', { status: 'ok' });
      const { user, receive } = await openConsole(path, [buildStoppedVm()], service);
      expect(service.sockets).toEqual([]);
      expect(console_().getByText('web-1 is not running (Stopped). The console connects when it starts.')).toBeTruthy();
      await user.click(console_().getByRole('button', { name: 'Start web-1' }));
      await receive(() => service.stream.emit('changed', web));
      await waitFor(() => expect(service.sockets).toHaveLength(1));
    });

    test('does not reconnect after the VM stopped', async () => {
      const { receive } = await connecting(path);
      await receive(() => rfb().emit('connect'));
      await receive(() => {
        service.socket.close();
        service.stream.emit('changed', buildStoppedVm());
      });
      expect(await console_().findByRole('button', { name: 'Start web-1' })).toBeTruthy();
      expect(service.sockets).toHaveLength(1);
      expect(rfb().disconnected).toBe(true);
    });

    test('shows why the connection closed, and reconnects on request', async () => {
      const { user, receive } = await connecting(path);
      await receive(() => rfb().emit('connect'));
      await receive(() => service.socket.close('The backend closed the screen.'));
      expect(console_().getByText(/The backend closed the screen/)).toBeTruthy();
      await user.click(console_().getByRole('button', { name: 'Reconnect' }));
      expect(service.sockets).toHaveLength(2);
    });
  });

  describe('the serial console', () => {
    const path = '/vms/prod/tailvm/web-1/serial';
    const terminal = () => Terminal.opened.at(-1) as Terminal;
    const region = () => within(screen.getByRole('region', { name: 'Serial console of web-1' }));

    test('shows the output of the guest, and sends the input as bytes', async () => {
      const { receive } = await connecting(path);
      expect(service.socket.url).toBe('ws://localhost/api/tty/tailvm/web-1?context=prod');
      await receive(() => service.socket.open());
      await receive(() => service.socket.deliver('login: '));
      expect(terminal().written).toBe('login: ');
      await receive(() => terminal().type('root\r'));
      expect(service.socket.typed).toBe('root\r');
      expect(service.socket.sent.every((data) => typeof data !== 'string')).toBe(true);
    });

    test('finds a text in the output, the newest first', async () => {
      const { user, receive } = await connecting(path);
      await receive(() => service.socket.open());
      await receive(() => service.socket.deliver('one OOM\ntwo\nan oom here\n'));
      const search = within(region().getByRole('search'));
      await user.type(search.getByRole('textbox', { name: 'Search the output' }), 'oom{Enter}');
      expect(search.getByRole('status').textContent).toBe('2 of 2');
      expect(terminal().selected).toEqual([3, 2, 3]);
      await user.click(search.getByRole('button', { name: 'Earlier hit' }));
      expect(search.getByRole('status').textContent).toBe('1 of 2');
      expect(terminal().selected).toEqual([4, 0, 3]);
      await user.keyboard('{Tab}{Enter}');
      expect(terminal().selected).toEqual([3, 2, 3]);
      await receive(() => service.socket.deliver('oom\n'));
      await user.click(search.getByRole('button', { name: 'Later hit' }));
      expect(search.getByRole('status').textContent).toBe('3 of 3');
      await user.type(search.getByRole('textbox'), 'x{Enter}');
      expect(search.getByRole('status').textContent).toBe('Not found');
      expect(service.socket.typed).toBe('');
    });

    test('answers queries of the guest, but not those in the replayed output', async () => {
      const { receive } = await connecting(path);
      await receive(() => service.socket.open());
      await receive(() => service.socket.deliver('booted\u001b[6n'));
      expect(service.socket.typed).toBe('');
      await receive(() => service.socket.deliver('now\u001b[6n'));
      expect(service.socket.typed).toBe('\u001b[1;1R');
    });

    test('sends nothing for users without rights', async () => {
      viewer();
      const { receive } = await connecting(path);
      await region().findByText('View only');
      await receive(() => service.socket.open());
      await receive(() => terminal().type('root\r'));
      expect(service.socket.sent).toEqual([]);
    });

    test('copies with Ctrl+Shift+C, which never reaches the guest', async () => {
      await connecting(path);
      const key = { ctrlKey: true, shiftKey: true, code: 'KeyC', type: 'keydown', preventDefault: () => undefined };
      expect(terminal().keys(key as KeyboardEvent)).toBe(false);
      expect(await navigator.clipboard.readText()).toBe('selected text');
      expect(terminal().keys({ ...key, shiftKey: false } as KeyboardEvent)).toBe(true);
    });

    test('remembers the text size', async () => {
      const { user } = await connecting(path);
      await user.click(region().getByRole('button', { name: 'Larger text' }));
      expect(terminal().options['fontSize']).toBe(14);
      expect(localStorage.getItem('headgate.terminal-font')).toBe('14');
    });

    test('does not answer replayed queries that are parsed after live output has arrived', async () => {
      const { receive } = await connecting(path);
      await receive(() => service.socket.open());
      terminal().isBusy = true;
      await receive(() => service.socket.deliver('booted\u001b[6n'));
      await receive(() => service.socket.deliver('now'));
      await receive(() => terminal().parse());
      expect(terminal().written).toBe('booted\u001b[6nnow');
      expect(service.socket.typed).toBe('');
    });

    test('explains how to paste when the browser has no clipboard for the page', async () => {
      const { user, receive } = await connecting(path);
      await receive(() => service.socket.open());
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
      await user.click(region().getByRole('button', { name: 'Paste' }));
      expect(await screen.findByText(/only over HTTPS or on localhost/)).toBeTruthy();
    });

    test('keeps the output after the VM stopped', async () => {
      const { receive } = await connecting(path);
      await receive(() => service.socket.open());
      await receive(() => service.socket.deliver('Kernel panic'));
      await receive(() => {
        service.socket.close();
        service.stream.emit('changed', buildStoppedVm());
      });
      expect(await region().findByRole('button', { name: 'Start web-1' })).toBeTruthy();
      expect(terminal()).toMatchObject({ written: 'Kernel panic', disposed: false });
      expect(service.sockets).toHaveLength(1);
    });
  });
});
