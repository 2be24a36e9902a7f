/**
 * A stand-in for the VM service with made-up data, to look at the console while building it. It keeps what it is told
 * in memory and runs nothing; the real one is apps/vm-service.
 *
 *   node dev/fake-service.mjs [--port 8007] [--count 40] [--changes PER_SECOND] [--page FOLDER] [--as admin|viewer]
 *     [--state ok|simulated|partial|failing|no-stream|unreachable]
 */
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocketServer } from 'ws';
import { fakeContainer, fakeFleet, fakeVm } from './fake-fleet.mjs';
import { serveScreen } from './fake-screen.mjs';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8007' },
    count: { type: 'string', default: '40' },
    as: { type: 'string', default: 'admin' },
    state: { type: 'string', default: 'ok' },
    page: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
    changes: { type: 'string', default: '2' },
  },
});
const { state, page: PAGE } = values;
const vms = new Map(fakeFleet(Number(values.count)).map((vm) => [vm.ref, vm]));
const cts = new Map([1, 2, 3, 4].map(fakeContainer).map((ct) => [ct.ref, ct]));
const tasks = new Map();
const STREAMED = {
  '/api/vms': { entries: vms, readers: new Set() },
  '/api/cts': { entries: cts, readers: new Set() },
};

if (state === 'partial') for (const vm of vms.values()) if (vm.context === 'lab') vm.stale = true;

const TYPES = {
  '/': 'text/html',
  '/style.css': 'text/css',
  '/app.js': 'text/javascript',
  '/icons.js': 'text/javascript',
};
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const abilities = {
  inventory: true,
  power: true,
  provisioning: true,
  migration: true,
  containers: true,
  consoles: true,
  cluster: true,
  diagnostics: true,
};
const sources = {
  image: true,
  containerDisk: true,
  import: true,
  iso: true,
  pvc: true,
  bootc: 'The bootc plugin is not installed.',
};
const capabilities = () => ({
  storageClass: 'fast',
  canExpand: true,
  canSnapshot: true,
  bootc: false,
  contexts: [
    {
      context: 'prod',
      backend: 'kubevirt',
      up: state !== 'unreachable',
      abilities,
      sources,
      ...(state === 'simulated' ? { simulated: true } : {}),
      ...(state === 'unreachable' ? { reason: 'connect ECONNREFUSED 10.0.0.1:6443' } : {}),
    },
    {
      context: 'lab',
      backend: 'libvirt',
      up: !['partial', 'unreachable'].includes(state),
      ...(state === 'partial' ? { reason: 'ssh to lab.example.org timed out.' } : {}),
      abilities: {
        ...abilities,
        migration: 'A single machine has nowhere to migrate to.',
        containers: 'libvirt has no containers.',
      },
      sources: { ...sources, containerDisk: true, pvc: true },
    },
  ],
});

const refuse = (status, code, error, details) => Object.assign(new Error(error), { status, code, details });
const emit = (event, data) => {
  const { readers } = STREAMED[data.ref.startsWith('ct/') ? '/api/cts' : '/api/vms'];
  for (const reader of readers) reader.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
};

function put(vm, change) {
  Object.assign(vm, change);
  const running = ['Running', 'Paused', 'Migrating', 'Stopping'].includes(vm.status);
  Object.assign(vm, { running, ready: vm.status === 'Running' });
  if (running) Object.assign(vm, { ip: vm.ip ?? '10.0.9.9', node: vm.node ?? 'node-1' });
  else {
    delete vm.ip;
    delete vm.node;
  }
  emit('changed', vm);
}
const later = (ms, run) => setTimeout(run, ms).unref();

function find(map, ns, name, context) {
  const found = [...map.values()].find(
    (one) => one.namespace === ns && one.name === name && (!context || one.context === context),
  );
  if (!found) throw refuse(404, 'INSTANCE_NOT_FOUND', `There is no instance ${ns}/${name}.`);
  return found;
}

function act(vm, action, query, body) {
  if (vm.name.startsWith('mail'))
    throw refuse(502, 'BACKEND_ERROR', `virt-api refused: the guest of ${vm.name} does not answer.`);
  const steps = {
    start: ['Starting', 'Running'],
    stop: query.get('force') ? ['Stopped'] : ['Stopping', 'Stopped'],
    restart: ['Stopping', 'Starting', 'Running'],
    pause: ['Paused'],
    unpause: ['Running'],
    migrate: ['Migrating', 'Running'],
  }[action];
  if (!steps)
    throw refuse(400, 'UNKNOWN_ACTION', `action must be one of start, stop, restart, pause, unpause, migrate.`);
  steps.forEach((status, index) =>
    later(1500 * index, () =>
      put(vm, {
        status,
        ...(action === 'migrate' && status === 'Running' ? { node: body?.targetNode || 'node-7' } : {}),
      }),
    ),
  );
  if (action === 'migrate')
    return [202, { task: newTask('migrate', vm, ['Choose a node', 'Copy memory', 'Switch over']), status: 'ok' }];
  return [200, { status: 'ok' }];
}

function newTask(kind, vm, names, done = () => undefined) {
  const id = `${kind}-${vm.name}-${Date.now().toString(36)}`;
  const now = () => new Date().toISOString();
  const task = {
    id,
    kind,
    status: 'running',
    log: '',
    error: '',
    ref: vm.ref,
    caller: 'ada@example.org',
    startedAt: now(),
    finishedAt: null,
    progress: 0,
    steps: [],
  };
  tasks.set(id, task);
  const ticks = 12;
  for (let tick = 0; tick <= ticks; tick++) {
    later(tick * 700, () => {
      const step = names[Math.min(names.length - 1, Math.floor((tick / ticks) * names.length))];
      if (task.steps.at(-1)?.name !== step) task.steps.push({ name: step, startedAt: now() });
      task.progress = tick / ticks;
      task.log += `${step}: ${Math.round(task.progress * 100)} %\n`;
      if (tick === ticks) {
        Object.assign(task, { status: 'done', finishedAt: now() });
        done();
      }
    });
  }
  return id;
}

function create(body, dryRun) {
  const given = ['containerDisk', 'image', 'import', 'iso', 'bootc', 'pvc'].filter(
    (source) => body[source] !== undefined,
  );
  if (given.length !== 1)
    throw refuse(400, 'INVALID_SOURCE', 'exactly one of containerDisk, image, import, iso, bootc and pvc must be set.');
  const namespace = body.namespace ?? 'tailvm';
  const vm = fakeVm(vms.size + 1, {
    name: body.name,
    namespace,
    context: body.context ?? 'prod',
    status: 'Provisioning',
    cpu: body.cpu ?? 2,
    mem: body.mem ?? '4G',
    disk: body.disk ?? '20G',
    tags: [],
  });
  vm.ref = `vm/${vm.context}/${namespace}/${body.name}`;
  vm.backend = vm.context === 'lab' ? 'libvirt' : 'kubevirt';
  if (vms.has(vm.ref))
    throw refuse(409, 'ALREADY_EXISTS', `name must be free; ${namespace}/${body.name} exists already.`);
  if (parseInt(vm.disk) > 900)
    throw refuse(400, 'INVALID_QUANTITY', 'disk must fit into the storage class fast, which has 600 GiB left.');
  if (dryRun)
    return [
      200,
      {
        steps: [
          { name: 'Make the boot disk', detail: `${vm.disk} from ${given[0]} ${body[given[0]]}` },
          { name: 'Define the VM', detail: `${vm.cpu} CPUs, ${vm.mem} of memory, in ${vm.context}` },
          ...(body.start ? [{ name: 'Start it', detail: 'once its disk is there' }] : []),
        ],
        warnings: body.cloudInit ? [] : ['Without cloud-init nobody can log in unless the image has a password.'],
        refusals: [],
      },
    ];
  vms.set(vm.ref, vm);
  emit('changed', vm);
  const task = newTask('create', vm, ['Fetch the image', 'Write the disk', 'Define the VM'], () =>
    put(vm, { status: body.start ? 'Running' : 'Stopped' }),
  );
  return [201, { name: vm.name, namespace, ref: vm.ref, task }];
}

function remove(map, one, dryRun) {
  if (dryRun)
    return [
      200,
      {
        steps: [
          { name: 'Stop the guest', detail: `${one.name} is ${one.status ?? one.phase}` },
          { name: 'Remove the VM', detail: `${one.namespace}/${one.name}` },
          { name: 'Remove the boot disk', detail: `${one.disk ?? '5Gi'}, pvc ${one.name}-root` },
        ],
        warnings: [`The volume ${one.name}-data was given as an existing volume and stays.`],
        refusals: [],
      },
    ];
  map.delete(one.ref);
  emit('removed', { ref: one.ref });
  return [200, { status: 'deleted' }];
}

const nodes = Array.from({ length: 12 }, (_, index) => ({
  name: `node-${index + 1}`,
  ready: index !== 8,
  roles: index < 3 ? 'control-plane,worker' : 'worker',
  kubelet: 'v1.34.2',
  arch: 'amd64',
  context: 'prod',
})).concat({
  name: 'lab-host',
  ready: state !== 'partial',
  roles: 'worker',
  kubelet: 'libvirt 9.0.0',
  arch: 'amd64',
  context: 'lab',
});
const images = [
  {
    name: 'tiny',
    description: 'A few megabytes of Linux, built on this machine. For a first look.',
    containerDisk: 'local://tiny',
    defaultUser: 'root',
  },
  {
    name: 'debian-12',
    description: 'Debian 12 «bookworm», cloud image',
    containerDisk: 'registry.example.org/containerdisks/debian:12',
    defaultUser: 'debian',
  },
  {
    name: 'fedora-43',
    description: 'Fedora Cloud 43',
    containerDisk: 'registry.example.org/containerdisks/fedora:43',
    defaultUser: 'fedora',
  },
  {
    name: 'golden-web',
    description: 'Our own web server image',
    containerDisk: 'registry.example.org/golden/web:7',
    defaultUser: 'ops',
    custom: true,
  },
];
const checks = [
  {
    name: 'KVM',
    status: 'warning',
    message: '/dev/kvm exists but a guest does not run on it.',
    context: 'lab',
    fixable: false,
    remedy: 'Enable nested virtualisation on the host; until then guests are emulated in software.',
  },
  {
    name: 'CDI',
    status: 'error',
    message: 'The API group cdi.kubevirt.io is not served.',
    context: 'prod',
    fixable: false,
    remedy: 'Install the Containerized Data Importer; imports need it.',
  },
  {
    name: 'Namespace tailvm',
    status: 'warning',
    message: 'It does not exist.',
    context: 'prod',
    fixable: true,
    remedy: 'Create it.',
  },
  {
    name: 'Storage class',
    status: 'ok',
    message: 'fast is the default and allows expansion.',
    context: 'prod',
    fixable: false,
    remedy: '',
  },
];

function answer(method, url, body) {
  const [, , area, ns, name, action] = url.pathname.split('/').map(decodeURIComponent);
  const dryRun = url.searchParams.get('dryRun') === 'true';
  const context = url.searchParams.get('context');
  if (method !== 'GET' && values.as === 'viewer')
    throw refuse(403, 'NOT_PERMITTED', 'Only administrators may do this.');
  if (method === 'GET') {
    switch (url.pathname) {
      case '/api/whoami':
        return [
          200,
          {
            login: 'ada@example.org',
            name: 'Ada Lovelace',
            admin: values.as === 'admin',
            enforced: values.as === 'viewer',
          },
        ];
      case '/api/capabilities':
        return [200, capabilities()];
      case '/api/nodes':
        return [200, nodes];
      case '/api/images':
        return [200, images];
      case '/api/instancetypes':
        return [
          200,
          { instancetypes: ['u1.small', 'u1.medium', 'cx1.large'], preferences: ['debian', 'fedora', 'windows.11'] },
        ];
      case '/api/doctor':
        return [200, checks];
      case '/api/vms':
        return [200, [...vms.values()]];
      case '/api/cts':
        return [200, [...cts.values()]];
    }
    if (url.pathname === '/api/tasks') return [200, [...tasks.values()].reverse()];
    if (area === 'tasks') {
      const task = tasks.get(ns);
      if (!task) throw refuse(404, 'TASK_NOT_FOUND', 'There is no such task.');
      return [200, task];
    }
    if (area === 'vms' && name && !action) {
      const vm = find(vms, ns, name, context);
      return [
        200,
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'VirtualMachine',
          metadata: {
            name,
            namespace: ns,
            labels: Object.fromEntries(vm.tags.map((tag) => [`svc.dev/tag.${tag}`, 'true'])),
          },
          spec: {
            runStrategy: 'Manual',
            template: {
              spec: {
                domain: {
                  cpu: { cores: vm.cpu },
                  memory: { guest: vm.mem },
                  devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] },
                },
              },
            },
          },
          status: { printableStatus: vm.status },
        },
      ];
    }
  }
  if (url.pathname === '/api/doctor/fix') {
    const broken = checks.filter(({ fixable, status }) => fixable && status !== 'ok');
    if (dryRun) {
      const steps = broken.map(({ name, remedy }) => ({ name, detail: remedy }));
      return [200, { steps, warnings: [], refusals: [] }];
    }
    for (const check of broken) Object.assign(check, { status: 'ok', message: 'It exists.' });
    return [200, { fixed: broken.map(({ name }) => name) }];
  }
  if (area === 'vms') {
    if (method === 'POST' && !ns) return create(body, dryRun);
    const vm = find(vms, ns, name, context);
    if (method === 'DELETE') return remove(vms, vm, dryRun);
    if (action === 'tags') {
      put(vm, { tags: body.on ? [...new Set([...vm.tags, body.tag])] : vm.tags.filter((tag) => tag !== body.tag) });
      return [200, body];
    }
    return act(vm, action, url.searchParams, body);
  }
  if (area === 'cts') {
    if (method === 'POST' && !ns) {
      const ct = {
        ...fakeContainer(cts.size + 10),
        ...body,
        phase: 'Pending',
        ref: `ct/prod/${body.namespace ?? 'tailvm'}/${body.name}`,
      };
      const phase = (phase) => emit('changed', Object.assign(ct, { phase }));
      cts.set(ct.ref, ct);
      phase('Pending');
      later(1500, () => phase('Running'));
      return [201, { name: ct.name, namespace: ct.namespace, ref: ct.ref }];
    }
    const ct = find(cts, ns, name, context);
    if (method === 'DELETE') return remove(cts, ct, dryRun);
    emit('changed', Object.assign(ct, { phase: action === 'start' ? 'Running' : 'Stopped' }));
    return [200, { status: 'ok' }];
  }
  throw refuse(404, 'NOT_FOUND', `There is nothing at ${url.pathname}.`);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://fake');
  const send = (status, body) =>
    response
      .writeHead(status, {
        'content-type': 'application/json',
        ...(state === 'partial' ? { 'svc-partial': 'true' } : {}),
      })
      .end(JSON.stringify(body));
  try {
    if (TYPES[url.pathname]) {
      const part = url.searchParams.get('part') === 'consoles' && 'screen-libraries.js';
      const file = part || (url.pathname === '/' ? 'index.html' : url.pathname.slice(1));
      const bytes = await readFile(`${PAGE}/${file}`);
      return response
        .writeHead(200, { 'content-type': TYPES[url.pathname], 'content-security-policy': CSP })
        .end(bytes);
    }
    if (state === 'failing')
      throw refuse(
        503,
        'BACKEND_UNREACHABLE',
        'No configured context can be reached: prod: connect ECONNREFUSED 10.0.0.1:6443; lab: ssh timed out.',
      );
    const streamed = STREAMED[url.pathname];
    if (streamed && request.headers.accept?.includes('text/event-stream')) {
      if (state === 'no-stream') throw refuse(406, 'NO_STREAM', 'A proxy in between does not let streams through.');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: snapshot\ndata: ${JSON.stringify([...streamed.entries.values()])}\n\n`);
      streamed.readers.add(response);
      request.on('close', () => streamed.readers.delete(response));
      return;
    }
    if (url.pathname === '/healthz') return response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    let text = '';
    for await (const chunk of request) text += chunk;
    send(...answer(request.method, url, text ? JSON.parse(text) : undefined));
  } catch (error) {
    send(error.status ?? 500, {
      error: error.message,
      code: error.code ?? 'INTERNAL',
      ...(error.details ? { details: error.details } : {}),
    });
  }
});

const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket, request) => {
  if (request.url.startsWith('/api/vnc/')) return serveScreen(socket);
  const say = (text) => socket.send(Buffer.from(text), { binary: true });
  say('\r\n\x1b[1mMade-up guest\x1b[0m, nothing runs here\r\n\r\nguest login: ');
  socket.on('message', (data, binary) => binary && say(String(data).replace(/\r/g, '\r\n# ')));
});

// Something always happens in a real fleet.
setInterval(
  () => {
    const all = [...vms.values()];
    const vm = all[Math.floor(Math.random() * all.length)];
    if (vm && ['Running', 'Stopped'].includes(vm.status) && !vm.stale) emit('changed', { ...vm });
  },
  1000 / Number(values.changes),
).unref();

server.listen(Number(values.port), '127.0.0.1', () =>
  process.stdout.write(`made-up service on http://127.0.0.1:${server.address().port}\n`),
);
