import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext, buildSingleMachine } from '../testing/build-capabilities.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const NO_IMAGES = 'Images are not imported into a cluster yet.';
const machine = buildSingleMachine({ abilities: { images: true } });
const cluster = buildContext({ abilities: { images: NO_IMAGES } });
const image = {
  name: 'golden',
  namespace: 'local',
  size: '2Gi',
  phase: 'Succeeded',
  progress: '100.0%',
  source: 'https://images.example/disk.qcow2',
  context: 'local',
  backend: 'libvirt',
};
const plan = { steps: [{ name: 'step', detail: 'What will happen.' }], warnings: [], refusals: [] };
const HOSTILE = '<img src=x onerror=alert(1)>';
const LIST = 'GET /api/datavolumes';
const CREATE = 'POST /api/datavolumes';

describe('the images', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    service.on('GET /api/capabilities', buildCapabilities([machine, cluster]));
    service.on('GET /api/sources', []);
    service.on(LIST, []);
  });
  afterEach(() => closeConsole(service));

  const open = async () => {
    const opened = await openConsole('/images', [], service);
    await screen.findByRole('list', { name: 'Contexts without imported images' });
    return opened;
  };
  const rowOf = (name: RegExp) => screen.findByRole('row', { name });
  const fill = (name: string, value: string): void =>
    void fireEvent.change(screen.getByRole('textbox', { name }), { target: { value } });
  const button = (name: string): HTMLElement => screen.getByRole('button', { name });

  test('are listed with their state, source and reason, and are in the navigation', async () => {
    service.on(LIST, [
      image,
      { ...image, name: 'broken', phase: 'Failed', progress: 'N/A', reason: 'The checksum is wrong.' },
      { ...image, name: 'coming', phase: 'ImportInProgress', progress: '40.00%' },
      { ...image, name: 'up', phase: 'UploadReady', progress: '50.00%', uploadedBytes: 1024, fileBytes: 2048 },
    ]);
    await open();
    expect((await rowOf(/golden/)).textContent).toBe(
      'goldenlocallocal2 GiBReadyhttps://images.example/disk.qcow2Delete',
    );
    expect((await rowOf(/broken/)).textContent).toContain('The checksum is wrong.');
    expect((await rowOf(/coming/)).textContent).toContain('Importing, 40.00%');
    expect((await rowOf(/up/)).textContent).toContain('Uploading, 1 KiB of 2 KiB');
    expect(screen.getByRole('link', { name: /^Images/ }).getAttribute('aria-current')).toBe('page');
  });

  test('with hostile names are shown as text', async () => {
    const names = { name: HOSTILE, context: HOSTILE, namespace: HOSTILE, source: HOSTILE, reason: HOSTILE };
    service.on(LIST, [{ ...image, ...names, phase: HOSTILE }]);
    service.on('GET /api/sources', [
      { name: HOSTILE, description: HOSTILE, containerDisk: '', kind: 'url', uri: 'javascript:alert(1)' },
    ]);
    await open();
    await screen.findByText('javascript:alert(1)');
    expect(screen.getAllByText(HOSTILE)).toHaveLength(7);
    expect(document.querySelector('main img, main a[href^="javascript"]')).toBeNull();
  });

  test('have a state for no images, for a failure, and for a context that did not respond', async () => {
    const { user } = await open();
    expect(await screen.findByRole('heading', { name: 'No imported images' })).toBeTruthy();
    service.on(LIST, () => ({ body: [image], headers: { 'svc-partial': 'true' } }));
    await user.click(button('Reload'));
    expect(await screen.findByText('A context did not respond. Its images are not in this list.')).toBeTruthy();
    service.fails(LIST, 503, 'No context is reachable.');
    await user.click(button('Reload'));
    expect(await screen.findByText('No context is reachable.')).toBeTruthy();
  });

  test('show why a context has none, and offer only the other contexts', async () => {
    const { user } = await open();
    expect(screen.getByRole('list', { name: 'Contexts without imported images' }).textContent).toBe(
      `prod: ${NO_IMAGES}`,
    );
    await user.click(button('Import image…'));
    expect(within(screen.getByRole('dialog')).queryByRole('combobox', { name: 'Context' })).toBeNull();
  });

  test('can not be imported where no context has the ability, and the button gives the reason', async () => {
    service.on('GET /api/capabilities', buildCapabilities([cluster]));
    const { user } = await open();
    for (const name of ['Import image…', 'Upload image…']) {
      expect(button(name).getAttribute('aria-disabled')).toBe('true');
      expect(document.getElementById(button(name).getAttribute('aria-describedby') ?? '')?.textContent).toBe(
        `No context can import images. ${NO_IMAGES}`,
      );
      await user.click(button(name));
      expect(screen.queryByRole('dialog')).toBeNull();
    }
  });

  test('are changed by administrators only', async () => {
    service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });
    service.on(LIST, [image]);
    await open();
    await rowOf(/golden/);
    for (const name of ['Import image…', 'Upload image…', 'Delete golden', 'Add source…'])
      await waitFor(() => expect(button(name).getAttribute('aria-disabled')).toBe('true'));
  });

  test('are imported from a URL, after a preview of the same request', async () => {
    service.on(CREATE, ({ query }: MockRequest) => ({ body: query.has('dryRun') ? plan : { ...image, task: 't-1' } }));
    const { user } = await open();
    await user.click(button('Import image…'));
    await user.click(button('Import'));
    expect(screen.getByText('Enter a name.')).toBeTruthy();
    fill('Name', 'golden');
    fill('URL', 'file:///etc/passwd');
    await user.click(button('Import'));
    expect(service.asked(CREATE)).toEqual([]);
    fill('URL', ' https://images.example/disk.qcow2 ');
    fill('Size of the disk', '4G');
    fill('Checksum of the file', 'sha256:00');
    await user.click(button('Preview'));
    await screen.findByText('What will happen.');
    await user.click(button('Import'));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const body = {
      name: 'golden',
      context: 'local',
      url: 'https://images.example/disk.qcow2',
      size: '4G',
      checksum: 'sha256:00',
    };
    expect(service.asked(CREATE).map(({ query, body: sent }) => [query.get('dryRun'), sent])).toEqual([
      ['true', body],
      [null, body],
    ]);
  });

  test('are imported into the namespace of the chosen context', async () => {
    const lab = buildContext({ context: 'lab', abilities: { images: true } });
    service.on('GET /api/capabilities', buildCapabilities([machine, cluster, lab]));
    service.on(CREATE, { ...image, task: 't-1' });
    const { user } = await open();
    for (const context of ['lab', 'local']) {
      await user.click(button('Import image…'));
      await user.selectOptions(screen.getByRole('combobox', { name: 'Context' }), 'lab (KubeVirt)');
      fill('Name', 'golden');
      fill('Namespace', 'dev');
      fill('URL', 'https://images.example/a');
      await user.selectOptions(screen.getByRole('combobox', { name: 'Context' }), context);
      await user.click(button('Import'));
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    }
    const request = { name: 'golden', url: 'https://images.example/a' };
    expect(service.asked(CREATE).map(({ body }) => body)).toEqual([
      { ...request, context: 'lab', namespace: 'dev' },
      { ...request, context: 'local' },
    ]);
  });

  test('show a refusal at the field that it names', async () => {
    service.fails(CREATE, 400, 'checksum must be sha256 or sha512.');
    const { user } = await open();
    await user.click(button('Import image…'));
    fill('Name', 'golden');
    fill('URL', 'https://images.example/a');
    await user.click(button('Import'));
    await screen.findByText('checksum must be sha256 or sha512.');
    expect(screen.getByRole('textbox', { name: 'Checksum of the file' }).getAttribute('aria-invalid')).toBe('true');
  });

  test('are deleted only after a confirmation', async () => {
    service.on(LIST, [image]);
    const remove = 'DELETE /api/datavolumes/local/golden';
    service.on(remove, ({ query }: MockRequest) => ({ body: query.has('dryRun') ? plan : { status: 'deleted' } }));
    const { user } = await open();
    await rowOf(/golden/);
    await user.click(button('Delete golden'));
    await screen.findByText('What will happen.');
    await user.click(button('Cancel'));
    expect(service.asked(remove).map(({ query }) => query.get('dryRun'))).toEqual(['true']);
    await user.click(button('Delete golden'));
    const dialog = within(await screen.findByRole('complementary', { name: 'Delete golden?' }));
    await dialog.findByText('What will happen.');
    await user.click(dialog.getByRole('button', { name: 'Delete' }));
    await screen.findByText('golden was deleted');
    expect(String(service.asked(remove).at(-1)?.query)).toBe('context=local');
  });

  describe('that are uploaded', () => {
    const REMOVE = 'DELETE /api/datavolumes/local/disk';
    const file = new File(['0123456789'], HOSTILE, { lastModified: 1234 });

    const upload = async () => {
      const opened = await open();
      await opened.user.click(button('Upload image…'));
      fill('Name', 'disk');
      await opened.user.upload(screen.getByLabelText(/^File/), file);
      await opened.user.click(button('Upload'));
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
      return opened;
    };
    const offsets = (): (string | null)[] => service.asked(CREATE).map(({ query }) => query.get('offset'));

    test('continue a failed part at the offset that the service reports', async () => {
      service.on(CREATE, ({ query }: MockRequest) =>
        query.get('offset') === '0'
          ? { status: 409, body: { error: 'It continues at 4.', code: 'CONFLICT', details: { offset: 4 } } }
          : { body: { ...image, name: 'disk', offset: 10, task: 'import-disk-1' } },
      );
      await upload();
      await waitFor(() => expect(offsets()).toEqual(['0', '4']));
      const [, last] = service.asked(CREATE);
      expect((last?.body as Blob).size).toBe(6);
      expect(last?.headers['content-type']).toBe('application/octet-stream');
      expect(Object.fromEntries(last?.query ?? [])).toEqual({
        name: 'disk',
        context: 'local',
        bytes: '10',
        version: '1234',
        offset: '4',
      });
      await waitFor(() => expect(screen.queryByRole('list', { name: 'Uploads' })).toBeNull());
    });

    test('stop at a refusal, and continue when the user resumes them', async () => {
      service.on(CREATE, ({ query }: MockRequest) =>
        query.get('offset') === '0'
          ? { body: { ...image, name: 'disk', offset: 4 } }
          : { status: 507, body: { error: 'The disk is full.', code: 'INSUFFICIENT_STORAGE' } },
      );
      const { user } = await upload();
      const item = within(await screen.findByRole('listitem', { name: 'Upload of disk' }));
      expect((await item.findByRole('alert')).textContent).toBe('The disk is full.');
      expect(item.getByRole('progressbar', { name: `disk (${HOSTILE})` }).getAttribute('aria-valuenow')).toBe('40');
      service.on(CREATE, { ...image, name: 'disk', offset: 10, task: 'import-disk-1' });
      await user.click(button('Resume the upload of disk'));
      await waitFor(() => expect(screen.queryByRole('list', { name: 'Uploads' })).toBeNull());
      expect(offsets()).toEqual(['0', '4', '4']);
    });

    test('are deleted when they are canceled', async () => {
      service.on(REMOVE, { status: 'deleted' });
      service.on(CREATE, ({ query }: MockRequest) =>
        query.get('offset') === '0' ? { body: { ...image, offset: 4 } } : new Promise(() => undefined),
      );
      const { user } = await upload();
      expect(await screen.findByText('4 B of 10 B')).toBeTruthy();
      await user.click(button('Cancel the upload of disk'));
      await waitFor(() => expect(service.asked(REMOVE)).toHaveLength(1));
      expect(service.asked(REMOVE)[0]?.query.get('context')).toBe('local');
      expect(screen.queryByRole('list', { name: 'Uploads' })).toBeNull();
    });

    test.each([
      ['before the first part', '0'],
      ['after a part was stored', '4'],
    ])('never delete another image that took the name %s', async (_when, refusedOffset) => {
      service.on(CREATE, ({ query }: MockRequest) =>
        query.get('offset') === refusedOffset
          ? { status: 409, body: { error: 'There is an image disk already.', code: 'ALREADY_EXISTS' } }
          : { body: { ...image, name: 'disk', offset: 4 } },
      );
      const { user } = await upload();
      await screen.findByText('There is an image disk already.');
      await user.click(button('Cancel the upload of disk'));
      await waitFor(() => expect(screen.queryByRole('list', { name: 'Uploads' })).toBeNull());
      expect(service.asked(REMOVE)).toEqual([]);
    });

    test('are previewed without starting', async () => {
      service.on(CREATE, plan);
      const { user } = await open();
      await user.click(button('Upload image…'));
      fill('Name', 'disk');
      await user.click(button('Preview'));
      expect(screen.getByText('Choose a file.')).toBeTruthy();
      await user.upload(screen.getByLabelText(/^File/), file);
      await user.click(button('Preview'));
      await screen.findByText('What will happen.');
      expect(service.asked(CREATE).map(({ query }) => query.get('dryRun'))).toEqual(['true']);
      await user.click(button('Cancel'));
    });
  });

  test('that users added to the catalog are listed, added and removed, each after a preview', async () => {
    const source = { name: 'mine', kind: 'iso', uri: 'https://images.example/a.iso', description: 'Mine' };
    service.on('GET /api/sources', [{ ...source, name: 'old', containerDisk: '', defaultUser: '', custom: true }]);
    service.on('POST /api/sources', plan);
    service.on('DELETE /api/sources/old', plan);
    const { user } = await open();
    expect((await rowOf(/^old/)).textContent).toBe('oldISOhttps://images.example/a.isoMineRemove');
    expect(button('Add source…').getAttribute('aria-disabled')).toBe('true');
    fill('Name of the new source', 'mine');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Kind of the new source' }), 'ISO');
    fill('Address of the new source', source.uri);
    fill('Description of the new source', 'Mine');
    await user.click(button('Add source…'));
    await screen.findByText('What will happen.');
    await user.click(button('Add'));
    await screen.findByText('mine was added');
    expect(service.asked('POST /api/sources').map(({ query, body }) => [query.get('dryRun'), body])).toEqual([
      ['true', source],
      [null, source],
    ]);
    await user.click(button('Remove old'));
    await screen.findByText('What will happen.');
    await user.click(button('Remove'));
    await screen.findByText('old was removed');
    expect(service.asked('DELETE /api/sources/old').map(({ query }) => query.get('dryRun'))).toEqual(['true', null]);
  });
});
