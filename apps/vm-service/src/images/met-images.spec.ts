import 'reflect-metadata';
import { Edge, type Reply } from '../testing/edge.js';
import { holdMethod } from '../testing/hold-method.js';

const IMAGE = '/api/datavolumes/tailvm/golden';
const CONTENT = 'the bytes of a disk image';

describe('operations that meet on an image', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
    const { json } = await edge.send('POST', '/api/datavolumes', { name: 'golden', url: 'https://images.example/a' });
    await ended(json['task']);
  });

  afterEach(() => edge.close());

  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const ended = async (task: unknown): Promise<string> => {
    for (;;) {
      const { json } = await edge.send('GET', `/api/tasks/${String(task)}`);
      if (json['status'] !== 'running') return String(json['status']);
      await turn();
    }
  };
  const create = (name: string): Promise<Reply> =>
    edge.send('POST', '/api/vms', { name, namespace: 'tailvm', context: 'lab', image: 'golden' });
  const upload = (name: string): Promise<Reply> =>
    edge.send('POST', `/api/datavolumes?name=${name}&size=1G&bytes=${CONTENT.length}&offset=0`, CONTENT, {
      'content-type': 'application/octet-stream',
    });

  test('keep it while a VM is created from it, and name the task that fills the disk', async () => {
    const provisioning = edge.lab.require('provisioning');
    const real = provisioning.create.bind(provisioning);
    const filled = Promise.withResolvers<void>();
    provisioning.create = async (spec) => ({ ...(await real(spec)), remaining: () => filled.promise });
    const held = holdMethod(provisioning, 'create');
    const creation = create('one');
    await held.begun;
    const early = await edge.send('DELETE', IMAGE);
    expect([early.status, early.json]).toEqual([409, expect.objectContaining({ code: 'BUSY' })]);
    held.end();
    const { status, json } = await creation;
    expect(status).toBe(201);
    const late = await edge.send('DELETE', IMAGE);
    expect([late.status, late.json.code, late.json['details']]).toEqual([
      409,
      'BUSY',
      { ref: 'image/lab/tailvm/golden', action: 'use-image', task: json['task'] },
    ]);
    expect((await edge.send('DELETE', `${IMAGE}?dryRun=true`)).json).toMatchObject({
      refusals: [{ code: 'BUSY' }, {}],
    });
    // The VM itself is not busy, and another one may use the image as well.
    expect((await edge.send('POST', '/api/vms/tailvm/one/tags', { tag: 'prod', on: true })).status).toBe(200);
    expect((await create('two')).status).toBe(201);
    filled.resolve();
    expect(await ended(json['task'])).toBe('done');
    for (const name of ['one', 'two']) expect((await edge.send('DELETE', `/api/vms/tailvm/${name}`)).status).toBe(200);
    expect((await edge.send('DELETE', IMAGE)).status).toBe(200);
  });

  test('create no VM from it after its deletion', async () => {
    const held = holdMethod(edge.lab.require('images'), 'delete');
    const deletion = edge.send('DELETE', IMAGE);
    await held.begun;
    let answer: Reply | undefined;
    const creation = create('one').then((reply) => (answer = reply));
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(answer?.body).toBeUndefined();
    held.end();
    expect((await deletion).status).toBe(200);
    await creation;
    expect([answer?.status, answer?.json.code]).toEqual([400, 'UNKNOWN_CATALOG_ENTRY']);
    expect(edge.lab.engine.has({ kind: 'vm', context: 'lab', namespace: 'tailvm', name: 'one' })).toBe(false);
  });

  test('accept one of two uploads with its name', async () => {
    const answers = await Promise.all([upload('disk'), upload('disk')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const task = answers.find(({ status }) => status === 200)?.json['task'];
    expect(await ended(task)).toBe('done');
    expect((await upload('disk')).json.code).toBe('ALREADY_EXISTS');
  });

  test('refuse an upload and an import under the name of an import, and name its task', async () => {
    const images = edge.lab.require('images');
    const real = images.import.bind(images);
    const gate = Promise.withResolvers<void>();
    images.import = async (image) => {
      const work = await real(image);
      return async (report) => {
        await gate.promise;
        await work(report);
      };
    };
    for (const first of [
      () => upload('disk'),
      () => edge.send('POST', '/api/datavolumes', { name: 'other', url: 'https://images.example/b' }),
    ]) {
      const { json } = await first();
      const name = String(json['name']);
      const second = await upload(name);
      const third = await edge.send('POST', '/api/datavolumes', { name, url: 'https://images.example/c' });
      for (const { status, json: refusal } of [second, third])
        expect([status, refusal.code, refusal['details']]).toEqual([
          409,
          'BUSY',
          expect.objectContaining({ task: json['task'] }),
        ]);
    }
    gate.resolve();
  });
});
