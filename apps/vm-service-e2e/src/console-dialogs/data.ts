import type { ContainerView, NodeView, SnapshotView, VmView } from '@headgate/api-contracts';

/** As long as the name of an instance may be, without a place where it could be broken into lines. */
export const LONG_NAME = 'productiondatabasereplicaoffrankfurtnumberthirtyfourforanalytic';
/** The same for names that users give to their views and schedules, and for tags. */
export const GIVEN_NAME = LONG_NAME.slice(0, 59);

/** The objects that the dialogs are about. */
export interface DialogData {
  readonly running: VmView;
  /** A VM with charts. */
  readonly measured: VmView;
  readonly stopped: VmView;
  readonly container: ContainerView;
  readonly node: NodeView;
  /** The path of a folder with one member. */
  readonly folder: string;
  /** Where the configuration allows backup targets. */
  readonly backupFolder: string;
  /** A plugin that can be installed. */
  readonly plugin?: string | undefined;
}

export interface DialogOrder {
  /** Where webhooks go to. */
  readonly webhookUrl: string;
  readonly backupFolder: string;
  readonly plugin?: string;
}

/** Sends a request to the service. @returns the body of the answer @throws Error unless it succeeds */
export type Send = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Asks until it holds. */
export type Until = <T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean) => Promise<T>;

/** Creates one of everything that the console has dialogs for, with names that are as long as possible. */
export async function createDialogData(send: Send, until: Until, order: DialogOrder): Promise<DialogData> {
  const vms = await send<VmView[]>('GET', '/api/vms');
  const stopped = vms.find(({ status, isTemplate }) => status === 'Stopped' && !isTemplate)!;
  const measured = vms.find(({ status }) => status === 'Running')!;
  const { context, namespace } = stopped;
  const [{ name: image }] = await send<[{ name: string }]>('GET', '/api/images');
  await send('POST', '/api/vms', {
    name: LONG_NAME,
    context,
    namespace,
    image,
    cpu: 2,
    mem: '2Gi',
    disk: '1Gi',
    start: true,
  });
  const readVm = async (): Promise<VmView | undefined> =>
    (await send<VmView[]>('GET', '/api/vms')).find(({ name }) => name === LONG_NAME);
  const { ref } = (await until('the VM runs', readVm, (vm) => vm?.status === 'Running'))!;
  const ofVm = (part: string): string => `/api/vms/${namespace}/${LONG_NAME}/${part}?context=${context}`;
  const folder = `${LONG_NAME}/${LONG_NAME}`;
  await send('POST', '/api/folders', { path: folder });
  await send('POST', '/api/folders/members', { path: folder, ref });
  await send('POST', ofVm('tags'), { tag: GIVEN_NAME, on: true });
  await send('POST', ofVm('snapshots'), { name: LONG_NAME });
  const readSnapshots = (): Promise<SnapshotView[]> => send('GET', ofVm('snapshots'));
  await until('the snapshot is ready', readSnapshots, ([snapshot]) => snapshot?.ready === true);
  await createSettings(send, order);
  const running = (await until('the VM is not busy', readVm, (vm) => vm?.busy === undefined))!;
  const container = (await send<ContainerView[]>('GET', '/api/cts')).find(({ phase }) => phase === 'Running')!;
  const node = (await send<NodeView[]>('GET', `/api/nodes?context=${context}`)).find(
    ({ name }) => name === running.node,
  )!;
  const { backupFolder, plugin } = order;
  return { running, measured, stopped, container, node, folder, backupFolder, plugin };
}

async function createSettings(send: Send, { webhookUrl, backupFolder }: DialogOrder): Promise<void> {
  await send('POST', '/api/ext/tokens', {
    name: LONG_NAME,
    actions: ['read', 'power'],
    agent: { changesPerHour: 20, maxPercentOfFolder: 25, approval: 'destructive' },
  });
  await send('POST', '/api/ext/webhooks', { name: LONG_NAME, url: webhookUrl, events: ['instance.changed'] });
  await send('POST', '/api/ext/views', { name: GIVEN_NAME, address: '/vms?q=status:running' });
  await send('POST', '/api/ext/schedules', {
    name: GIVEN_NAME,
    cron: '30 2 * * 1-5',
    timeZone: 'Europe/Berlin',
    job: { action: 'snapshot', query: { kind: 'vm', q: 'status:running' } },
  });
  await send('POST', '/api/sources', { name: LONG_NAME, kind: 'url', uri: `https://example.org/${LONG_NAME}.qcow2` });
  const ntfy = { server: 'https://ntfy.example.org', topic: GIVEN_NAME };
  const { id } = await send<{ id: string }>('POST', '/api/ext/messages/channels', { name: GIVEN_NAME, ntfy });
  const kinds = ['problem.began', 'instance.failed'];
  await send('POST', '/api/ext/messages/rules', { name: GIVEN_NAME, channel: id, kinds });
  const [kind, path, password] = ['directory', `${backupFolder}/${LONG_NAME}`, 'correct horse battery'];
  await send('POST', '/api/ext/backups/targets', { name: LONG_NAME, kind, path, password });
}
