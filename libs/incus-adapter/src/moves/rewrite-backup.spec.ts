import { parse } from 'yaml';
import { rewriteInstance, rewriteVolume, type RewrittenCopy } from './rewrite-backup.js';

const COPY: RewrittenCopy = {
  id: 'e2d6d1a8-9c58-4d2b-8a4c-2f6f3d4c1b0a',
  mark: 'move copy 1',
  pool: 'fast',
  volume: 'copy-ct-data',
  networks: { lan: 'wan' },
};
const CONTAINER = `  config:
    boot.autostart: "true"
    limits.cpu: "1"
    user.headgate.creation: before
    user.note: |-
      yes: "a"
      b ü
    user.octal: 0o17
    volatile.uuid: 9f8e
    volatile.uuid.generation: 9f8e
  devices:
    data: {path: /data, pool: default, source: web-ct-data, type: disk}
    eth0: {network: lan, type: nic, name: eth0}
    eth1: {parent: br0, nictype: bridged, type: nic}
    root: {path: /, pool: default, type: disk}
  created_at: 2026-11-28T22:45:24.196952849Z
  ephemeral: false
`;
const YAML = `container:
${CONTAINER}  name: web
snapshots:
- name: s1
  expires_at: 0001-01-01T00:00:00Z
${CONTAINER}pool:
  name: default
`;

const rewrite = async (name: string, content = YAML) => rewriteInstance(COPY)(name, async () => content);
interface Part {
  readonly config: Record<string, string>;
  readonly devices: Record<string, Record<string, string>>;
}

test('gives the copy an ID and a mark, and its snapshots the ID', async () => {
  const { container, snapshots } = parse((await rewrite('backup/container/backup.yaml')) ?? '', {
    schema: 'failsafe',
  }) as { container: Part; snapshots: Part[] };
  expect(container.config).toEqual({
    'boot.autostart': 'true',
    'limits.cpu': '1',
    'user.headgate.creation': COPY.id,
    'user.headgate.operation': COPY.mark,
    'user.note': 'yes: "a"\nb ü',
    'user.octal': '0o17',
    'volatile.uuid': COPY.id,
  });
  expect(snapshots[0]?.config).toMatchObject({ 'volatile.uuid': COPY.id, 'user.headgate.creation': COPY.id });
  expect(snapshots[0]?.config).not.toHaveProperty('user.headgate.operation');
  for (const { devices } of [container, ...snapshots]) {
    expect(devices).toEqual({
      data: { path: '/data', pool: 'fast', source: 'copy-ct-data', type: 'disk' },
      eth0: { network: 'wan', type: 'nic', name: 'eth0' },
      eth1: { parent: 'br0', nictype: 'bridged', type: 'nic' },
      root: { path: '/', pool: 'fast', type: 'disk' },
    });
  }
});

test('leaves everything else as the server has written it', async () => {
  const rewritten = (await rewrite('backup/container/backup.yaml')) ?? '';
  for (const line of ['created_at: 2026-11-28T22:45:24.196952849Z', 'ephemeral: false', 'name: web', 'name: default']) {
    expect(rewritten).toContain(line);
  }
  expect(rewritten).toContain('expires_at: 0001-01-01T00:00:00Z');
});

test('changes the index, which has the description below its config', async () => {
  const index = `name: web\nconfig:\n${YAML.replace(/^/gm, '  ')}`;
  const { config } = parse((await rewrite('backup/index.yaml', index)) ?? '') as { config: { container: Part } };
  expect(config.container.config['volatile.uuid']).toBe(COPY.id);
});

test('leaves the files of the container alone', async () => {
  expect(await rewrite('backup/container/rootfs/backup/index.yaml')).toBeUndefined();
  expect(await rewrite('backup/container/metadata.yaml')).toBeUndefined();
  expect(await rewriteVolume(COPY)('backup/volume/index.yaml', async () => '')).toBeUndefined();
});

test('lets the data volume belong to the copy', async () => {
  const index = 'name: v\nconfig:\n  volume:\n    config:\n      size: 64B\n      user.headgate.instance: before\n';
  const rewritten = await rewriteVolume(COPY)('backup/index.yaml', async () => index);
  expect(parse(rewritten ?? '')).toEqual({
    name: 'v',
    config: {
      volume: {
        config: { size: '64B', 'user.headgate.instance': COPY.id, 'user.headgate.creation': COPY.id },
      },
    },
  });
});
