import { join } from 'node:path';
import type { TaskView } from '@headgate/api-contracts';
import { INCUS_FLAVORS, NodeProgram, PrivateIncusd, TINY_ALIAS, whyIncusIsUnavailable } from '@headgate/testing';
import { describeIf } from './machine.js';

const TIMEOUT_MS = 900_000;
const MODULE = '../../vm-service/src/moves/testing/move-process.ts';
const FILES = 'cat /root/file /data/file; stat -c %u:%g /data/file';
const CONTENT = 'grüße\ngrüße\n7:8\n';

interface Outcome {
  readonly writes: readonly string[];
  readonly tasks: readonly TaskView[];
  readonly folders: Readonly<Record<string, string>>;
}

const why = INCUS_FLAVORS.map(whyIncusIsUnavailable).find((reason) => reason !== undefined);

describeIf(why, 'the move of a container whose process is killed', () => {
  let program: NodeProgram;
  const daemons = {} as Record<(typeof INCUS_FLAVORS)[number], PrivateIncusd>;
  let count = 0;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, MODULE));
    for (const flavor of INCUS_FLAVORS) daemons[flavor] = await PrivateIncusd.start(flavor);
  }, TIMEOUT_MS);

  afterAll(async () => {
    for (const daemon of Object.values(daemons)) await daemon.close();
    await program?.close();
  }, TIMEOUT_MS);

  /** A container that runs, with a data volume as those of the service have it. */
  const given = async (daemon: PrivateIncusd, name: string): Promise<void> => {
    const volume = `${name}-ct-data`;
    await daemon.run('init', TINY_ALIAS, name);
    const uuid = (await daemon.run('config', 'get', name, 'volatile.uuid')).trim();
    await daemon.run('storage', 'volume', 'create', 'default', volume, `user.headgate.instance=${uuid}`);
    await daemon.run('config', 'device', 'add', name, 'data', 'disk', 'path=/data', 'pool=default', `source=${volume}`);
    await daemon.run('start', name);
    const script = 'echo grüße | tee /root/file > /data/file; chown 7:8 /data/file; sync';
    await daemon.run('exec', name, '--', 'sh', '-c', script);
  };
  const volumes = async (daemon: PrivateIncusd): Promise<string[]> =>
    (await daemon.run('storage', 'volume', 'list', 'default', 'type=custom', '-c', 'n', '-f', 'csv'))
      .split('\n')
      .filter((name) => name !== '');
  const remove = async (daemon: PrivateIncusd, name: string): Promise<void> => {
    await daemon.run('delete', '--force', name);
    await daemon.run('storage', 'volume', 'delete', 'default', `${name}-ct-data`);
  };

  const openWorld = (alpha: PrivateIncusd, beta: PrivateIncusd, name: string) => {
    const index = count++;
    const order = {
      database: join(program.folder, `containers-${index}.db`),
      servers: {
        alpha: { socket: alpha.socket, dataDir: program.folder },
        beta: { socket: beta.socket, dataDir: program.folder },
      },
    };
    const call = (more: object): Promise<string> => program.run(JSON.stringify({ ...order, ...more }));
    const refs = [`ct/alpha/default/${name}`];
    return {
      complete: async () => JSON.parse(await call({})) as Outcome,
      begin: async () => JSON.parse(await call({ refs })) as Outcome,
      kill: (killAt: string) => expect(call({ refs, killAt })).rejects.toMatchObject({ signal: 'SIGKILL' }),
    };
  };

  test.each([
    ['incus', 'lxd'],
    ['lxd', 'incus'],
  ] as const)(
    'is completed after the restart, whichever step was interrupted, from %s to %s',
    async (from, to) => {
      const [alpha, beta] = [daemons[from], daemons[to]];
      /** The container is at one of both ends only, runs, and has its files. */
      const expectWhole = async ({ tasks: [task], folders }: Outcome, name: string, moment: string): Promise<void> => {
        const [here, there, gone] = task ? [beta, 'beta', alpha] : [alpha, 'alpha', beta];
        if (!task) expect(moment).toBe('before:1');
        else expect([moment, task.status, task.error]).toEqual([moment, 'done', '']);
        expect([moment, await here.instances(), await gone.instances()]).toEqual([moment, [name], []]);
        expect([moment, await here.run('exec', name, '--', 'sh', '-c', FILES)]).toEqual([moment, CONTENT]);
        expect([await volumes(here), await volumes(gone)]).toEqual([[`${name}-ct-data`], []]);
        expect([moment, folders]).toEqual([moment, { [`ct/${there}/default/${name}`]: 'prod' }]);
        expect(JSON.parse(await here.run('query', `/1.0/instances/${name}/backups`))).toEqual([]);
        await remove(here, name);
      };
      await given(alpha, 'whole');
      const { writes, ...outcome } = await openWorld(alpha, beta, 'whole').begin();
      await expectWhole({ writes, ...outcome }, 'whole', 'never');
      const moments = writes.flatMap((write, index) => (write.startsWith('end ') ? [`before:${index + 1}`] : []));
      expect(writes.filter((write) => write.startsWith('end '))).toEqual(
        ['stop', 'copy', 'verify', 'commit', 'folder', 'start', 'delete'].map((step) => `end ${step}`),
      );
      for (const [index, moment] of ['before:1', ...moments].entries()) {
        const name = `web-${index}`;
        await given(alpha, name);
        const world = openWorld(alpha, beta, name);
        await world.kill(moment);
        await expectWhole(await world.complete(), name, moment);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'keeps the source when another client has used it while the service was away, and says so',
    async () => {
      const [alpha, beta] = [daemons.incus, daemons.lxd];
      const write = ['exec', 'used', '--', 'sh', '-c', 'echo later > /data/file; sync'] as const;
      await given(alpha, 'whole');
      const { writes } = await openWorld(alpha, beta, 'whole').begin();
      await remove(beta, 'whole');
      // Between two steps, so that no step was interrupted.
      const moment = `after:${writes.indexOf('end start') + 1}`;
      for (const [isStopped, reason] of [
        [true, 'its part data has changed since.'],
        [false, 'used is Running.'],
      ] as const) {
        await given(alpha, 'used');
        const world = openWorld(alpha, beta, 'used');
        await world.kill(moment);
        await alpha.run('start', 'used');
        await alpha.run(...write);
        if (isStopped) await alpha.run('stop', '--force', 'used');
        const { tasks } = await world.complete();
        const error = `The copy is complete, but the source is kept: ${reason}`;
        expect(tasks).toMatchObject([{ status: 'error', error: expect.stringContaining(error) as string }]);
        if (isStopped) await alpha.run('start', 'used');
        expect(await alpha.run('exec', 'used', '--', 'cat', '/data/file')).toBe('later\n');
        expect(await beta.run('exec', 'used', '--', 'cat', '/data/file')).toBe('grüße\n');
        for (const daemon of [alpha, beta]) await remove(daemon, 'used');
      }
    },
    TIMEOUT_MS,
  );
});
