import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import FakeRfb from '../testing/fake-rfb.js';
import { Terminal } from '../testing/fake-terminal.js';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole, type OpenConsole } from '../testing/render-console.js';

const PLAN = {
  steps: [{ name: 'Remove the boot disk', detail: 'web-1-root' }],
  warnings: ['The volume data was given and stays.'],
  refusals: [],
};

describe('the page of one instance', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    FakeRfb.opened.length = 0;
    Terminal.opened.length = 0;
  });
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1' });
  const power = () => within(screen.getByRole('toolbar', { name: 'Power of web-1' }));
  const viewer = () => service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });

  test('tells everything that is known', async () => {
    await openConsole(
      '/vms/prod/tailvm/web-1',
      [{ ...web, reason: 'Something is odd.', restartRequired: true }],
      service,
    );
    expect(screen.getByRole('heading', { name: 'web-1' })).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Hardware' }).textContent).toContain('4 GiB');
    expect(screen.getByRole('region', { name: 'Guest' }).textContent).toContain('10.0.0.7');
    expect(screen.getByText('Something is odd.')).toBeTruthy();
    expect(screen.getByText('A restart is needed')).toBeTruthy();
  });

  test('greys out what makes no sense now, and says why', async () => {
    await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const start = power().getByRole('button', { name: /^Start/ });
    expect(start.getAttribute('aria-disabled')).toBe('true');
    expect(document.getElementById(start.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'It is not stopped but Running.',
    );
    expect(power().getByRole('button', { name: 'Shut down' }).getAttribute('aria-disabled')).toBeNull();
  });

  test('shuts down gracefully or pulls the plug, each only after a question', async () => {
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Shut down' }));
    const asked = (name: string | RegExp) =>
      within(screen.getByRole('dialog', { name })).getByRole('button', { name: /^(Shut|Force)/ });
    await user.click(asked('Shut down: web-1?'));
    expect(await screen.findByText('web-1 was asked to shut down')).toBeTruthy();
    await user.click(power().getByRole('button', { name: 'Force stop' }));
    await user.click(asked(/Force stop: web-1/));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/stop').map(({ query }) => query.get('force'))).toEqual([
        null,
        'true',
      ]),
    );
  });

  test('says in the words of the service why an action was refused', async () => {
    service.fails('POST /api/vms/tailvm/web-1/pause', 409, 'web-1 is migrating; wait until it has arrived.');
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Pause' }));
    expect(await screen.findByText('web-1 is migrating; wait until it has arrived.')).toBeTruthy();
  });

  test('migrates to a chosen node', async () => {
    service.on(
      'GET /api/nodes',
      ['node-1', 'node-2'].map((name) => ({ name, ready: true, roles: '', kubelet: '', arch: '', context: 'prod' })),
    );
    service.on('POST /api/vms/tailvm/web-1/migrate', () => ({
      status: 202,
      body: { task: 'migrate-web-1-1', status: 'ok' },
    }));
    service.fails('GET /api/tasks/migrate-web-1-1', 404, 'There is no such task.');
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Migrate' }));
    const dialog = within(screen.getByRole('dialog', { name: /Migrate web-1/ }));
    await dialog.findByRole('option', { name: 'node-2' });
    expect(dialog.queryByRole('option', { name: 'node-1' })).toBeNull();
    await user.selectOptions(dialog.getByRole('combobox'), 'node-2');
    await user.click(dialog.getByRole('button', { name: 'Migrate' }));
    expect(await screen.findByText('web-1 is migrating')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/web-1/migrate')[0]?.body).toEqual({ targetNode: 'node-2' });
  });

  test('greys out the migration where the context has none', async () => {
    const abilities = { power: true, migration: 'A single machine has nowhere to migrate to.' } as const;
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ abilities })]));
    await openConsole('/vms/prod/tailvm/web-1', [web], service);
    expect(await screen.findByText('A single machine has nowhere to migrate to.')).toBeTruthy();
  });

  test('adds and removes tags, and takes a removal back', async () => {
    service.on('POST /api/vms/tailvm/web-1/tags', ({ body }: { body: unknown }) => ({ body }));
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [{ ...web, tags: ['old'] }], service);
    await user.type(screen.getByRole('textbox', { name: 'New tag' }), 'new{Enter}');
    await user.click(screen.getByRole('button', { name: 'Remove the tag old' }));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/tags').map(({ body }) => body)).toEqual([
        { tag: 'new', on: true },
        { tag: 'old', on: false },
      ]),
    );
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/tags').at(-1)?.body).toEqual({ tag: 'old', on: true }),
    );
  });

  test('deletes a running one only after its name was typed, and says what goes and what stays', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { status: 'deleted' },
    }));
    const { user, hears } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: /Delete web-1/ }));
    expect(await dialog.findByText('web-1-root')).toBeTruthy();
    expect(dialog.getByText(/The volume data was given and stays/)).toBeTruthy();
    const button = dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete' });
    expect(button.disabled).toBe(true);
    await user.type(dialog.getByRole('textbox', { name: 'Type web-1 to confirm' }), 'web-1');
    await user.click(button);
    expect(await screen.findByText('web-1 was deleted')).toBeTruthy();
    await hears(() => service.stream.emit('removed', { ref: web.ref }));
    expect(location.hash).toBe('#/vms');
  });

  test('deletes a stopped one without typing, but never against a refusal', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', {
      ...PLAN,
      refusals: [{ code: 'PROTECTED', reason: 'web-1 is protected.', remedy: 'Take the protection away first.' }],
    });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm()], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: /Delete web-1/ }));
    expect(await dialog.findByText(/Take the protection away first/)).toBeTruthy();
    expect(dialog.queryByRole('textbox')).toBeNull();
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete' }).disabled).toBe(true);
  });

  test('shows the manifest', async () => {
    service.on('GET /api/vms/tailvm/web-1', { kind: 'VirtualMachine', spec: { running: true } });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(screen.getByRole('tab', { name: 'Manifest' }));
    expect(await screen.findByText('"VirtualMachine"')).toBeTruthy();
    expect(location.hash).toBe('#/vms/prod/tailvm/web-1/manifest');
  });

  test('says that there is no such instance', async () => {
    await openConsole('/vms/prod/tailvm/nobody', [web], service);
    expect(screen.getByRole('heading', { name: 'There is no instance nobody' })).toBeTruthy();
  });

  test('finds one in a context whose name has slashes', async () => {
    const far = buildVm({ name: 'far', context: 'admin@eu/west:1' });
    const { user } = await openConsole('/vms', [far], service);
    await user.click(screen.getByRole('link', { name: 'far' }));
    expect(await screen.findByRole('heading', { name: 'far' })).toBeTruthy();
  });

  /** What draws consoles is loaded first. */
  const connecting = async (place: string): Promise<OpenConsole> => {
    const opened = await openConsole(place, [web], service);
    await waitFor(() => expect(service.sockets).toHaveLength(1));
    return opened;
  };

  describe('its graphical console', () => {
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

  describe('its serial console', () => {
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
