import type { Outcome } from './outcome.js';
import type { Action } from './story-requests.js';
import {
  answerViolations,
  existenceViolations,
  folderViolations,
  keptViolations,
  type StoryEnd,
} from './violations.js';

const nameOf = (vm: 0 | 1): string => (vm === 0 ? 'web-a' : 'web-b');

interface Given {
  readonly action: Action;
  readonly vm?: 0 | 1;
  /** 0 without a response. */
  readonly status?: number;
  /** The moments of the request and of the response. */
  readonly at?: readonly [number, number];
  readonly failure?: string;
}

const outcomes = (given: readonly Given[]): Outcome[] =>
  given.map(({ action, vm = 0, status = 200, at, failure }, index) => ({
    action,
    vm,
    index,
    caller: 0,
    snapshot: 0,
    sentAt: at?.[0] ?? 2 * index,
    answeredAt: at?.[1] ?? 2 * index + 1,
    answer: status === 0 ? undefined : { status, json: {} },
    ...(failure !== undefined && { task: { status: 'error', error: failure } as Outcome['task'] }),
  }));

const machine = (name: string, cpu: number, state: string, tags: readonly string[]) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name, labels: Object.fromEntries(tags.map((tag) => [`svc.dev/tag.${tag}`, 'true'])) },
  spec: { template: { spec: { domain: { cpu: { sockets: cpu } } } } },
  status: { printableStatus: state },
});

interface Ended {
  readonly cpu?: number;
  readonly state?: string;
  readonly tags?: readonly string[];
  readonly names?: readonly string[];
  readonly snapshots?: readonly string[];
  readonly members?: readonly string[];
}

function end(given: readonly Given[], ended: Ended = {}): StoryEnd {
  const { cpu = 1, state = 'Stopped', tags = [], names = ['web-a'], snapshots = [], members = [] } = ended;
  const machines = names.map((name) => machine(name, cpu, state, tags));
  const objects = snapshots.map((name) => ({ apiVersion: '', kind: 'VirtualMachineSnapshot', metadata: { name } }));
  const folder = { members: members.map((name) => ({ ref: `vm/lab/tailvm/${name}` })), missing: [] };
  return {
    folder,
    outcomes: outcomes(given),
    nameOf,
    ran: false,
    machines,
    objects: [...machines, ...objects] as never,
  };
}

describe('the violations of a story', () => {
  test.each<[string, Given[], Ended]>([
    ['a tag that is lost', [{ action: 'tag' }], {}],
    ['a tag that was refused, and is there', [{ action: 'tag', status: 409 }], { tags: ['t0'] }],
    ['a size that is lost', [{ action: 'scale' }], { cpu: 1 }],
    ['a size that was refused, and is there', [{ action: 'scale', status: 409 }], { cpu: 2 }],
    ['the size of the request before the last one', [{ action: 'scale' }, { action: 'scale' }], { cpu: 2 }],
    ['a stop that did not happen', [{ action: 'stop' }], { state: 'Running' }],
    ['a start that a later stop undid', [{ action: 'start' }, { action: 'stop' }], { state: 'Running' }],
    ['a start that nothing undid', [{ action: 'stop' }, { action: 'start' }], { state: 'Stopped' }],
    [
      'a VM that runs, although only a refused request started it',
      [{ action: 'start', status: 409 }],
      { state: 'Running' },
    ],
    ['a template mark that is lost', [{ action: 'template' }], {}],
    ['a snapshot that is lost', [{ action: 'snapshot' }], {}],
    ['a snapshot that was deleted', [{ action: 'snapshot' }, { action: 'forget' }], { snapshots: ['web-a-s0'] }],
  ])('include %s', (_title, given, ended) => {
    expect(keptViolations(end(given, ended))).toHaveLength(1);
  });

  test.each<[string, Given[], Ended]>([
    [
      'any size of two requests at the same time',
      [
        { action: 'scale', at: [0, 3] },
        { action: 'scale', at: [1, 2] },
      ],
      { cpu: 2 },
    ],
    ['either state of a request without a response', [{ action: 'start', status: 0 }], { state: 'Running' }],
    ['either size of a request without a response', [{ action: 'scale', status: 0 }], { cpu: 2 }],
    ['the size of a snapshot that was restored', [{ action: 'scale' }, { action: 'restore' }], { cpu: 1 }],
    ['anything of a VM whose deletion was requested', [{ action: 'tag' }, { action: 'delete' }], {}],
  ])('do not include %s', (_title, given, ended) => {
    expect(keptViolations(end(given, ended))).toEqual([]);
  });

  test('include VMs whose existence contradicts the responses', () => {
    expect(existenceViolations(end([{ action: 'delete' }]))).toHaveLength(1);
    expect(existenceViolations(end([], { names: [] }))).toHaveLength(1);
    expect(existenceViolations(end([{ action: 'clone' }]))).toHaveLength(1);
    expect(existenceViolations(end([{ action: 'delete', status: 0 }], { names: [] }))).toEqual([]);
  });

  test('include memberships that are lost, and those of a deleted VM', () => {
    const members = ['web-a'];
    expect(folderViolations(end([{ action: 'folder' }]))).toHaveLength(1);
    expect(folderViolations(end([{ action: 'folder' }], { members }))).toEqual([]);
    const recreated: Given[] = [{ action: 'folder' }, { action: 'delete' }, { action: 'create', status: 201 }];
    expect(folderViolations(end(recreated, { members }))).toHaveLength(1);
    expect(folderViolations(end([...recreated, { action: 'folder' }], { members }))).toEqual([]);
  });

  test('include other answers, and the failure of a task that was accepted', () => {
    expect(answerViolations(end([{ action: 'tag', status: 500 }]), true)).toHaveLength(1);
    expect(answerViolations(end([{ action: 'tag', status: 0 }]), true)).toEqual([]);
    expect(answerViolations(end([{ action: 'tag', status: 0 }]), false)).toHaveLength(1);
    expect(answerViolations(end([{ action: 'snapshot', failure: 'interrupted' }]), true)).toHaveLength(1);
  });
});
