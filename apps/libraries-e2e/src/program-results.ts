/** What the programs of `foreign/programs` print as JSON. */
export const RESULTS: Readonly<Record<string, unknown>> = {
  'api-contracts': {
    valid: [],
    invalid: ['mem must be a size such as 4Gi or 512Mi, a whole number of bytes from 1Mi to 64Ti.'],
    nested: 'MoveMappingDto',
  },
  clock: { runs: 6, iso: '1970-01-01T00:01:00.000Z', isSystemTime: true },
  'domain-contracts': { name: 'web', text: 'vm/lab/default/db', code: 'INVALID_REF', size: '20Gi', isName: false },
  fleet: { names: ['db', 'web'], changes: 2 },
  folders: { paths: ['prod', 'prod/web'], folder: 'prod/web', actions: ['create folder', 'add to folder prod/web'] },
  kube: { names: ['db', 'web'], status: 'Running', server: true, errors: [], isKind: true, kubectl: true },
  'incus-adapter': {
    kind: 'incus',
    isName: true,
    lost: 'BACKEND_UNREACHABLE',
    start: 'BACKEND_UNREACHABLE',
    isKind: true,
  },
  'libvirt-adapter': {
    kind: 'libvirt',
    isName: true,
    lost: 'BACKEND_UNREACHABLE',
    power: 'BACKEND_UNREACHABLE',
    isKind: true,
  },
  'libvirt-rpc': { hostname: 'lab', host: 'host.example' },
  limits: { refused: [null, 'login'], json: '{"a":2,"b":1}' },
  moves: {
    refusals: ['CONTEXT_NOT_FOUND'],
    status: 'done',
    error: '',
    isSameDisk: true,
    isGone: true,
    owners: [['vm/other/default/web', 'ann']],
  },
  'nest-app': { list: { count: 25 }, statuses: [201, 400, 429] },
  tasks: {
    statuses: ['done', 'error'],
    errors: ['', 'The source is broken.'],
    firstLine: 'from disk',
    undone: ['broken'],
  },
};
