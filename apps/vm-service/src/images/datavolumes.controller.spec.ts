import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { unreachable, Edge, type Reply } from '../testing/edge.js';

const URL_IMPORT = { name: 'golden', url: 'https://images.example/disk.qcow2?token=hidden', size: '2G' };
const CONTENT = 'the bytes of a disk image';

describe('imported images', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const list = async (): Promise<Record<string, unknown>[]> =>
    (await edge.send('GET', '/api/datavolumes')).json as unknown as Record<string, unknown>[];
  const names = async (): Promise<unknown[]> => (await list()).map(({ name }) => name);
  const send = (query: string, body: string): Promise<Reply> =>
    edge.send('POST', `/api/datavolumes?${query}`, body, { 'content-type': 'application/octet-stream' });
  const upload = (body: string, offset = 0, extra = ''): Promise<Reply> =>
    send(`name=disk&size=1G&bytes=${CONTENT.length}&offset=${offset}${extra}`, body);
  const uploadFolders = (): string[] => {
    const folder = join(edge.folder, 'uploads');
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  const storedBytes = (): number | undefined => {
    const [folder = ''] = uploadFolders();
    return statSync(join(edge.folder, 'uploads', folder, 'file'), { throwIfNoEntry: false })?.size;
  };
  const taskEnd = async (id: unknown): Promise<Record<string, unknown>> => {
    let task: Record<string, unknown> = {};
    await until(async () => {
      task = (await edge.send('GET', `/api/tasks/${String(id)}`)).json;
      return task['status'] !== 'running';
    });
    return task;
  };

  test('are imported from a URL as a task, listed and deleted', async () => {
    const started = await edge.send('POST', '/api/datavolumes', URL_IMPORT);
    expect([started.status, started.json]).toEqual([
      200,
      { name: 'golden', namespace: 'tailvm', context: 'lab', task: expect.stringMatching(/^import-golden-/) },
    ]);
    expect(await taskEnd(started.json['task'])).toMatchObject({ status: 'done', ref: 'image/lab/tailvm/golden' });
    expect(await list()).toEqual([
      {
        name: 'golden',
        namespace: 'tailvm',
        size: '2Gi',
        phase: 'Succeeded',
        progress: '100.0%',
        source: 'https://images.example/disk.qcow2',
        context: 'lab',
        backend: 'memory',
      },
    ]);
    const deleted = await edge.send('DELETE', '/api/datavolumes/tailvm/golden');
    expect([deleted.status, deleted.json]).toEqual([200, { status: 'deleted' }]);
    expect(await list()).toEqual([]);
    expect((await edge.send('DELETE', '/api/datavolumes/tailvm/golden')).json.code).toBe('IMAGE_NOT_FOUND');
  });

  test('are imported further after a restart, without the query of the URL in the journal', async () => {
    const images = edge.lab.require('images');
    const real = images.import.bind(images);
    const release = Promise.withResolvers<void>();
    images.import = async (image) => {
      const work = await real(image);
      return async (report) => {
        await Promise.race([release.promise, once(report.signal, 'abort')]);
        report.signal.throwIfAborted();
        await work(report);
      };
    };
    const resumed: unknown[] = [];
    const resume = images.resume.bind(images);
    images.resume = (image) => {
      resumed.push(image.origin);
      return resume(image);
    };
    const tasks: unknown[] = [];
    for (const url of ['https://images.example/a.qcow2', 'https://images.example/b.qcow2?token=hidden'])
      tasks.push(
        (await edge.send('POST', '/api/datavolumes', { name: url.includes('a.q') ? 'a' : 'b', url })).json['task'],
      );
    await edge.reopen();
    for (const task of tasks) expect(await taskEnd(task)).toMatchObject({ status: 'done' });
    expect(resumed).toEqual(
      expect.arrayContaining([{ kind: 'url', url: 'https://images.example/a.qcow2' }, undefined]),
    );
    expect(await list()).toMatchObject([
      { name: 'a', phase: 'Succeeded' },
      { name: 'b', phase: 'Succeeded' },
    ]);
  });

  test('wait for their context after a restart, if that is lost', async () => {
    const images = edge.lab.require('images');
    const real = images.import.bind(images);
    images.import = async (image) => {
      await real(image);
      return async ({ signal }) => void (await once(signal, 'abort'));
    };
    const { json } = await edge.send('POST', '/api/datavolumes', URL_IMPORT);
    edge.lab.engine.disconnect(unreachable);
    await edge.reopen();
    expect(await edge.logged(json['task'], 'Trying again.')).toMatchObject({ status: 'running' });
  });

  test('are imported into the context and the namespace of the request', async () => {
    await edge.send('POST', '/api/datavolumes', { ...URL_IMPORT, context: 'other', namespace: 'dev' });
    await edge.send('POST', '/api/datavolumes?context=other', { ...URL_IMPORT, name: 'second' });
    expect(await list()).toMatchObject([
      { context: 'other', namespace: 'dev', name: 'golden' },
      { context: 'other', namespace: 'tailvm', name: 'second' },
    ]);
  });

  test('are deleted by their context when several contexts have the name', async () => {
    for (const context of ['lab', 'other']) await edge.send('POST', '/api/datavolumes', { ...URL_IMPORT, context });
    const ambiguous = await edge.send('DELETE', '/api/datavolumes/tailvm/golden');
    expect([ambiguous.status, ambiguous.json['details']]).toEqual([409, { contexts: ['lab', 'other'] }]);
    await edge.send('DELETE', '/api/datavolumes/tailvm/golden?context=other');
    expect(await list()).toMatchObject([{ context: 'lab' }]);
  });

  test.each([
    [400, { ...URL_IMPORT, name: 'No Name' }],
    [400, { ...URL_IMPORT, name: '../etc' }],
    [400, { ...URL_IMPORT, url: 'file:///etc/passwd' }],
    [400, { ...URL_IMPORT, url: 'https://ann:secret@images.example/a' }],
    [400, { ...URL_IMPORT, size: '1e9Zi' }],
    [400, { ...URL_IMPORT, size: '0' }],
    [400, { ...URL_IMPORT, checksum: 'md5:0' }],
    [400, { ...URL_IMPORT, other: 1 }],
    [400, { name: 'golden' }],
    [400, { url: URL_IMPORT.url }],
    [400, undefined],
    [400, { ...URL_IMPORT, context: 'nowhere' }],
  ])('answer %i to %j', async (status, body) => {
    const refused = await edge.send('POST', '/api/datavolumes', body);
    expect([refused.status, typeof refused.json.error]).toEqual([status, 'string']);
    expect(refused.body).not.toContain('secret');
    expect(await list()).toEqual([]);
  });

  test('are imported once under a name', async () => {
    await edge.send('POST', '/api/datavolumes', URL_IMPORT);
    const [again, uploaded] = [
      await edge.send('POST', '/api/datavolumes', URL_IMPORT),
      await send('name=golden&bytes=10', '0123456789'),
    ];
    expect([again.status, again.json.code]).toEqual([409, 'ALREADY_EXISTS']);
    expect([uploaded.status, uploaded.json.code]).toEqual([409, 'ALREADY_EXISTS']);
    expect(await names()).toEqual(['golden']);
    expect(uploadFolders()).toEqual([]);
  });

  test('become the disks of VMs, and stay while a VM needs them', async () => {
    const { json } = await edge.send('POST', '/api/datavolumes', URL_IMPORT);
    await taskEnd(json['task']);
    expect((await edge.send('POST', '/api/vms', { name: 'new', image: 'golden' })).status).toBe(201);
    expect((await edge.send('POST', '/api/vms', { name: 'far', namespace: 'dev', image: 'golden' })).json.code).toBe(
      'UNKNOWN_CATALOG_ENTRY',
    );
    const refused = await edge.send('DELETE', '/api/datavolumes/tailvm/golden');
    expect([refused.status, refused.json.code]).toEqual([409, 'BUSY']);
    expect(await names()).toEqual(['golden']);
    await edge.send('DELETE', '/api/vms/tailvm/new');
    expect((await edge.send('DELETE', '/api/datavolumes/tailvm/golden')).status).toBe(200);
  });

  test('are only planned with dryRun', async () => {
    const planned = await edge.send('POST', '/api/datavolumes?dryRun=true', URL_IMPORT);
    expect([planned.status, planned.json]).toMatchObject([200, { steps: [{ name: 'import' }], refusals: [] }]);
    const plannedUpload = await send('name=disk&bytes=10&dryRun=true', '0123456789');
    expect([plannedUpload.status, plannedUpload.json]).toMatchObject([200, { steps: [{ name: 'import' }] }]);
    expect(await list()).toEqual([]);
    await edge.send('POST', '/api/datavolumes', URL_IMPORT);
    await edge.send('DELETE', '/api/datavolumes/tailvm/golden?dryRun=true');
    expect(await names()).toEqual(['golden']);
  });

  test('are changed by administrators only, and no byte of another caller is stored', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await edge.send('POST', '/api/datavolumes', URL_IMPORT)).status).toBe(403);
    expect((await upload(CONTENT)).status).toBe(403);
    expect([await list(), uploadFolders()]).toEqual([[], []]);
  });

  test('are uploaded in parts, and the upload is listed until it is complete', async () => {
    const first = await upload(CONTENT.slice(0, 10));
    expect([first.status, first.json]).toEqual([
      200,
      { name: 'disk', namespace: 'tailvm', context: 'lab', offset: 10 },
    ]);
    expect(await list()).toMatchObject([
      { name: 'disk', phase: 'UploadReady', progress: '40.00%', source: 'upload', uploadedBytes: 10, fileBytes: 25 },
    ]);
    const last = await upload(CONTENT.slice(10), 10);
    expect(last.json).toMatchObject({ offset: 25, task: expect.stringMatching(/^import-disk-/) });
    expect(await taskEnd(last.json['task'])).toMatchObject({ status: 'done' });
    expect(await list()).toMatchObject([{ name: 'disk', phase: 'Succeeded', source: 'upload', size: '1Gi' }]);
    expect(uploadFolders()).toEqual([]);
  });

  test('continue an upload at its end only, with the same file', async () => {
    await upload(CONTENT.slice(0, 10));
    const wrong = await upload(CONTENT.slice(5), 5);
    expect([wrong.status, wrong.json['details']]).toEqual([409, { offset: 10 }]);
    expect((await upload(CONTENT)).json['details']).toEqual({ offset: 10 });
    for (const other of [
      `name=disk&size=1G&bytes=26&offset=10`,
      `name=disk&size=2G&bytes=25&offset=10`,
      `name=disk&size=1G&bytes=25&offset=10&version=2`,
      `name=disk&size=1G&bytes=25&offset=10&checksum=sha256:${'0'.repeat(64)}`,
    ])
      expect([(await send(other, CONTENT.slice(10))).status, await names()]).toEqual([409, ['disk']]);
    expect(await list()).toMatchObject([{ uploadedBytes: 10 }]);
    expect((await upload(CONTENT.slice(10), 10)).status).toBe(200);
  });

  test('refuse more bytes than the file has, and keep none of that part', async () => {
    await upload(CONTENT.slice(0, 10));
    const long = await upload(`${CONTENT.slice(10)}more`, 10);
    expect([long.status, long.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await list()).toMatchObject([{ uploadedBytes: 10 }]);
  });

  test('keep what a client sent before it left, and continue there', async () => {
    const socket = await openUpload(edge, `name=disk&size=1G&bytes=${CONTENT.length}`, CONTENT.length);
    socket.write(CONTENT.slice(0, 7));
    await until(async () => storedBytes() === 7);
    socket.destroy();
    await until(async () => (await list())[0]?.['uploadedBytes'] === 7);
    const rest = await upload(CONTENT.slice(7), 7);
    expect(rest.json).toMatchObject({ offset: 25 });
    expect(await taskEnd(rest.json['task'])).toMatchObject({ status: 'done' });
  });

  test('receive one part of a name at a time', async () => {
    const socket = await openUpload(edge, `name=disk&size=1G&bytes=${CONTENT.length}`, CONTENT.length);
    socket.write(CONTENT.slice(0, 7));
    await until(async () => storedBytes() === 7);
    const second = await upload(CONTENT);
    expect([second.status, second.json.code]).toEqual([409, 'BUSY']);
    socket.write(CONTENT.slice(7));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  test('end an upload that is deleted, and leave nothing of it', async () => {
    await upload(CONTENT.slice(0, 10));
    expect((await edge.send('DELETE', '/api/datavolumes/tailvm/disk')).json).toEqual({ status: 'deleted' });
    expect([await list(), uploadFolders()]).toEqual([[], []]);
    expect((await upload(CONTENT.slice(10), 10)).json['details']).toEqual({ offset: 0 });
    expect((await edge.send('POST', '/api/datavolumes', { ...URL_IMPORT, name: 'disk' })).status).toBe(200);
  });

  test('verify the checksum of the whole file', async () => {
    const hash = createHash('sha256').update(CONTENT).digest('hex');
    const bad = await upload(
      CONTENT,
      0,
      `&checksum=sha256:${hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}`,
    );
    expect(await taskEnd(bad.json['task'])).toMatchObject({ status: 'error', error: expect.stringContaining(hash) });
    expect([await list(), uploadFolders()]).toEqual([[], []]);
    const good = await upload(CONTENT, 0, `&checksum=sha256:${hash}`);
    expect(await taskEnd(good.json['task'])).toMatchObject({ status: 'done' });
  });

  test('do not begin an upload under the name of another, or while one of its name runs', async () => {
    await upload(CONTENT.slice(0, 10));
    const refused = await edge.send('POST', '/api/datavolumes', { ...URL_IMPORT, name: 'disk' });
    expect([refused.status, refused.json.code]).toEqual([409, 'ALREADY_EXISTS']);
    expect(await list()).toMatchObject([{ uploadedBytes: 10 }]);
  });

  test('remove at the start what a killed service has left of uploads, and nothing else', async () => {
    const leftover = join(edge.folder, 'uploads', 'left');
    mkdirSync(leftover, { recursive: true });
    writeFileSync(join(leftover, 'file'), 'half');
    writeFileSync(join(edge.folder, 'mine'), 'kept');
    await edge.reopen();
    expect([uploadFolders(), existsSync(join(edge.folder, 'mine'))]).toEqual([[], true]);
  });

  test.each([
    ['name=disk', 'the length of the file is missing'],
    ['bytes=10', 'the name is missing'],
    ['name=disk&bytes=0', 'the file is empty'],
    ['name=disk&bytes=1e9', 'the length is no whole number'],
    ['name=disk&bytes=-1', 'the length is negative'],
    ['name=disk&bytes=10&offset=11', 'the offset is behind the end'],
    ['name=disk&bytes=99999999999999999999', 'the length is beyond any file'],
    ['name=disk&size=1G&bytes=2000000000', 'the file is larger than the image'],
  ])('refuse the upload %s, because %s', async (query) => {
    const refused = await send(query, '0123456789');
    expect([refused.status, typeof refused.json.error]).toEqual([400, 'string']);
    expect([await list(), uploadFolders()]).toEqual([[], []]);
  });

  test('accept the bytes of a file on no other route', async () => {
    for (const path of ['/api/vms', '/api/sources'])
      expect((await edge.send('POST', path, 'x', { 'content-type': 'application/octet-stream' })).status).toBe(415);
    expect(
      (await edge.send('POST', '/api/datavolumes?name=a&bytes=1', 'x', { 'content-type': 'text/plain' })).status,
    ).toBe(415);
  });

  test('do not hide the images of a context when another one is unreachable', async () => {
    await edge.send('POST', '/api/datavolumes', URL_IMPORT);
    edge.other.engine.disconnect(unreachable);
    const answer = await edge.send('GET', '/api/datavolumes');
    expect([answer.status, answer.headers['svc-partial']]).toEqual([200, 'true']);
    expect(answer.json).toMatchObject([{ name: 'golden' }]);
  });
});

/** Sends the head of an upload, of which the test sends the body. */
async function openUpload(edge: Edge, query: string, length: number): Promise<Socket> {
  const socket = connect(edge.service.port(), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /api/datavolumes?${query} HTTP/1.1\r\nHost: localhost:8006\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${length}\r\n\r\n`,
  );
  return socket;
}

/** Injected requests never yield to input and output, which the service waits for. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}
