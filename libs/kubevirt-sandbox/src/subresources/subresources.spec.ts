import { buildVirtualMachine } from '../testing/simulated-cluster.js';
import { listeningCluster } from '../testing/listening-cluster.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

describe('subresources.kubevirt.io over the wire', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster();
  });

  afterEach(() => cluster.close());

  async function running(name: string): Promise<void> {
    await cluster.call('POST', cluster.vms, buildVirtualMachine(name));
    cluster.clock.advance(60_000);
  }

  test('start, stop and restart answer 202 with an empty body', async () => {
    await cluster.call('POST', cluster.vms, buildVirtualMachine('web', { runStrategy: 'Halted' }));
    cluster.clock.advance(1000);
    const started = await cluster.act('virtualmachines', 'web', 'start', {});
    expect(started).toMatchObject({ status: 202, text: '' });
    cluster.clock.advance(10_000);
    const vm = await cluster.call('GET', `${cluster.vms}/web`);
    expect(vm.json).toMatchObject({ spec: { runStrategy: 'Always' }, status: { printableStatus: 'Running' } });
    const uid = (await cluster.call('GET', `${cluster.vmis}/web`)).json?.['metadata']?.['uid'];
    expect((await cluster.act('virtualmachines', 'web', 'restart', {})).status).toBe(202);
    cluster.clock.advance(20_000);
    const again = await cluster.call('GET', `${cluster.vmis}/web`);
    expect(again.json?.['metadata']?.['uid']).not.toBe(uid);
    expect((await cluster.act('virtualmachines', 'web', 'stop')).status).toBe(202);
    cluster.clock.advance(20_000);
    expect((await cluster.call('GET', `${cluster.vmis}/web`)).status).toBe(404);
  });

  test('refuse a client that accepts JSON alone, since virt-api declares no media type for actions', async () => {
    await running('web');
    const put = (resource: string, action: string, accept: string) =>
      cluster.call('PUT', `/apis/subresources.kubevirt.io/v1/namespaces/tailvm/${resource}/web/${action}`, undefined, {
        Accept: accept,
      });
    for (const accept of ['application/json', 'application/*', 'application/json, text/plain']) {
      const refused = await put('virtualmachineinstances', 'pause', accept);
      expect(refused).toMatchObject({ status: 406, text: '406: Not Acceptable\n\nAvailable representations: ' });
      expect(refused.headers.get('content-type')).toMatch(/^text\/plain/);
      expect((await put('virtualmachines', 'stop', accept)).status).toBe(406);
    }
    expect((await put('virtualmachineinstances', 'pause', 'application/json, */*;q=0.8')).status).toBe(200);
    expect((await put('virtualmachines', 'stop', 'application/json, */*')).status).toBe(202);
  });

  test.each([
    ['start', 'Operation cannot be fulfilled on virtualmachine.kubevirt.io "web": VM is already running'],
    ['restart', ''],
  ])('%s of a running VM', async (action, message) => {
    await running('web');
    const answer = await cluster.act('virtualmachines', 'web', action);
    expect(answer.status).toBe(message ? 409 : 202);
    expect(answer.json?.['message'] ?? '').toBe(message);
  });

  test('refuse in the singular and with the messages of virt-api', async () => {
    const unknown = await cluster.act('virtualmachines', 'missing', 'start');
    expect(unknown.json).toMatchObject({ code: 404, message: 'virtualmachine.kubevirt.io "missing" not found' });
    await cluster.call('POST', cluster.vms, buildVirtualMachine('off', { runStrategy: 'Halted' }));
    cluster.clock.advance(1000);
    const restart = await cluster.act('virtualmachines', 'off', 'restart');
    expect(restart.json?.['message']).toContain('RunStategy Halted does not support manual restart requests');
    const stop = await cluster.act('virtualmachines', 'off', 'stop');
    expect(stop.json).toMatchObject({ code: 409, reason: 'Conflict' });
  });

  test('pause and unpause answer 200 and the status follows', async () => {
    await running('web');
    expect((await cluster.act('virtualmachineinstances', 'web', 'pause')).status).toBe(200);
    cluster.clock.advance(1000);
    const paused = await cluster.call('GET', `${cluster.vms}/web`);
    expect(paused.json).toMatchObject({ status: { printableStatus: 'Paused' } });
    expect(paused.json!['status']).not.toHaveProperty('ready');
    const twice = await cluster.act('virtualmachineinstances', 'web', 'pause');
    expect(twice.json?.['message']).toContain('VMI is already paused');
    expect((await cluster.act('virtualmachineinstances', 'web', 'unpause')).status).toBe(200);
    cluster.clock.advance(1000);
    expect((await cluster.call('GET', `${cluster.vms}/web`)).json).toMatchObject({
      status: { printableStatus: 'Running' },
    });
  });

  test('guest information fails with 500 and plain text until the agent is connected', async () => {
    await cluster.call('POST', cluster.vms, buildVirtualMachine('web'));
    cluster.clock.advance(5_000);
    const early = await cluster.ask('web', 'guestosinfo');
    expect(early).toMatchObject({
      status: 500,
      text: 'Operation cannot be fulfilled on virtualmachineinstance.kubevirt.io "web": VMI does not have guest agent connected',
    });
    cluster.clock.advance(60_000);
    const info = await cluster.ask('web', 'guestosinfo');
    expect(info.json).toMatchObject({ hostname: 'web', os: { id: 'fedora' } });
    expect((await cluster.ask('web', 'filesystemlist')).json).toMatchObject({ items: [{ mountPoint: '/' }] });
    expect((await cluster.ask('missing', 'userlist')).text).toBe(
      'virtualmachineinstance.kubevirt.io "missing" not found',
    );
  });

  test('the serial console speaks plain.kubevirt.io, shows a login prompt and runs commands', async () => {
    await running('web');
    const console = cluster.dial(cluster.consolePath('web', 'console'), ['plain.kubevirt.io']);
    await console.opened;
    expect(console.socket.protocol).toBe('plain.kubevirt.io');
    console.send('\r');
    await console.untilText('web login: ');
    console.send('root\rx\r');
    await console.untilText('[root@web ~]# ');
    console.send('uname -n\r');
    await console.untilText('uname -n\r\nweb\r\n');
  });

  test('a new console ends the previous one', async () => {
    await running('web');
    const first = cluster.dial(cluster.consolePath('web', 'console'), ['plain.kubevirt.io']);
    await first.opened;
    const second = cluster.dial(cluster.consolePath('web', 'console'), ['plain.kubevirt.io']);
    await second.opened;
    expect(await first.closed).toBe(1000);
    second.send('\r');
    await second.untilText('login: ');
  });

  test('refuses a console before the upgrade when the VMI is not running', async () => {
    const socket = cluster.dial(cluster.consolePath('missing', 'console'), ['plain.kubevirt.io']);
    await expect(socket.opened).rejects.toThrow('Unexpected server response: 404');
  });

  test('VNC speaks RFB 3.8, draws the simulated guest and shows typed text', async () => {
    await running('web');
    const vnc = cluster.dial(cluster.consolePath('web', 'vnc'), ['plain.kubevirt.io']);
    await vnc.untilText('RFB 003.008\n');
    vnc.send('RFB 003.008\n');
    await vnc.until((received) => received.length >= 12 + 2);
    vnc.send(Buffer.from([1]));
    await vnc.until((received) => received.length >= 12 + 2 + 4);
    vnc.send(Buffer.from([1]));
    await vnc.untilText('simulated guest');
    const { screen } = cluster.simulation.guestOf('tailvm', 'web');
    const before = vnc.received.length;
    vnc.send(Buffer.from([2, 0, 0, 1, 0, 0, 0, 5])); // hextile
    vnc.send(Buffer.from([3, 0, 0, 0, 0, 0, 0x03, 0x20, 0x02, 0x58]));
    await vnc.until((received) => received.length > before + 1000);
    // The first update may still be arriving, so its bytes don't show that the keys were typed.
    const typed = new Promise<void>((resolve) =>
      screen.onChange(() => screen.text.includes('web login: root') && resolve()),
    );
    for (const key of 'root') vnc.send(Buffer.from([4, 1, 0, 0, 0, 0, 0, key.charCodeAt(0)]));
    await typed;
    const shown = vnc.received.length;
    vnc.send(Buffer.from([3, 1, 0, 0, 0, 0, 0x03, 0x20, 0x02, 0x58]));
    await vnc.until((received) => received.length > shown);
  });

  test('a preserved VNC session is not taken over', async () => {
    await running('web');
    const first = cluster.dial(cluster.consolePath('web', 'vnc'), ['plain.kubevirt.io']);
    await first.opened;
    const second = cluster.dial(`${cluster.consolePath('web', 'vnc')}?preserveSession=true`, ['plain.kubevirt.io']);
    await expect(second.opened).rejects.toThrow('Unexpected server response: 500');
    expect(first.socket.readyState).toBe(first.socket.OPEN);
  });

  test('a screenshot is a PNG', async () => {
    await running('web');
    const response = await fetch(`${cluster.sandbox.url}${cluster.consolePath('web', 'vnc/screenshot')}`);
    const image = Buffer.from(await response.arrayBuffer());
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    expect(image.readUInt32BE(16)).toBe(800);
  });

  async function runningPod(): Promise<void> {
    await cluster.call('POST', '/api/v1/namespaces/tailvm/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'box' },
      spec: {
        containers: [{ name: 'main', image: 'registry.example.org/library/debian:12', command: ['sleep', 'infinity'] }],
      },
    });
    cluster.clock.advance(10_000);
  }

  test.each(['pod', 'node'])('exec and logs fail when the kubelet of a %s is unreachable', async (kind) => {
    await runningPod();
    const path = '/api/v1/namespaces/tailvm/pods/box';
    const pod = await cluster.call('GET', path);
    const { nodeName } = pod.json!['spec'] as unknown as { nodeName: string };
    const target = kind === 'pod' ? { namespace: 'tailvm', name: 'box' } : { name: nodeName };
    cluster.simulation.faults.inject('kubelet-unreachable', target);
    const shell = cluster.dial(`${path}/exec?command=sh&stdin=true&stdout=true&tty=true`, ['v5.channel.k8s.io']);
    // The API server accepts the session before it connects to the kubelet.
    await shell.opened;
    expect(await shell.closed).toBe(1000);
    const report = shell.frames.find((frame) => frame[0] === 3 && frame.length > 1)!;
    const dial =
      /"https:\/\/([\d.]+:10250)\/exec\/tailvm\/box\/main\?command=sh&input=1&output=1&tty=1": dial tcp \1: connect: connection refused$/;
    expect(JSON.parse(report.subarray(1).toString())).toEqual({
      metadata: {},
      status: 'Failure',
      message: expect.stringMatching(dial),
      reason: 'InternalError',
      details: { causes: [{ message: expect.stringMatching(dial) }] },
      code: 500,
    });
    const log = await cluster.call('GET', `${path}/log`);
    expect(log).toMatchObject({ status: 500, json: { message: expect.stringMatching(/^Get ".*connection refused$/) } });
    cluster.simulation.faults.clear('kubelet-unreachable', target);
    const again = cluster.dial(`${path}/exec?command=sh&stdin=true&stdout=true&tty=true`, ['v5.channel.k8s.io']);
    await again.untilText('[root@box ~]# ');
    expect((await cluster.call('GET', `${path}/log`)).status).toBe(200);
  });

  test('exec of a command that fails ends with its exit code', async () => {
    await runningPod();
    const path =
      '/api/v1/namespaces/tailvm/pods/box/exec?command=sh&command=-c&command=missing&stdout=true&stderr=true';
    const command = cluster.dial(path, ['v5.channel.k8s.io']);
    expect(await command.closed).toBe(1000);
    const report = command.frames.find((frame) => frame[0] === 3 && frame.length > 1)!;
    expect(JSON.parse(report.subarray(1).toString())).toMatchObject({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '127' }] },
    });
  });

  test('exec opens a shell with its own channels and ends with a Status', async () => {
    await runningPod();
    const path = '/api/v1/namespaces/tailvm/pods/box/exec?command=/bin/sh&stdin=true&stdout=true&tty=true';
    const shell = cluster.dial(path, ['v5.channel.k8s.io', 'v4.channel.k8s.io']);
    await shell.untilText('[root@box ~]# ');
    expect(shell.socket.protocol).toBe('v5.channel.k8s.io');
    shell.send('\x04{"Width":120,"Height":40}');
    shell.send('\x00echo hello > /data/x; cat /proc/self/winsize\r');
    await shell.untilText('40 120');
    shell.send('\x00exit\r');
    await shell.untilText('"status":"Success"');
    expect(await shell.closed).toBe(1000);
    const log = await cluster.call('GET', '/api/v1/namespaces/tailvm/pods/box/log?tailLines=1');
    expect(log).toMatchObject({ status: 200, text: 'ready\n' });
  });

  describe('the log of a container', () => {
    const LOG = '/api/v1/namespaces/tailvm/pods/box/log';
    const lines = async (query: string) => (await cluster.call('GET', `${LOG}?${query}`)).text.split('\n').slice(0, -1);

    beforeEach(() => runningPod());

    test('has a line every 10 seconds that says that it is simulated, and keeps them', async () => {
      const before = (await lines('')).length;
      cluster.clock.advance(30_000);
      const all = await lines('');
      expect(all).toHaveLength(before + 3);
      expect(all.at(-1)).toMatch(/still running \(simulated\)$/);
      expect(await lines('tailLines=2')).toEqual(all.slice(-2));
      expect(await lines('tailLines=0')).toEqual([]);
      expect(await lines(`sinceTime=${all.at(-2)?.split(' ')[0]}`)).toEqual(all.slice(-2));
      expect(await lines('sinceSeconds=3600')).toEqual(all);
      for (const line of await lines('timestamps=true')) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z /);
      expect((await cluster.call('GET', `${LOG}?limitBytes=9`)).text).toBe(all[0]?.slice(0, 9));
    });

    test('was rotated by the kubelet when it has become long', async () => {
      cluster.clock.advance(24 * 3600_000);
      const all = await lines('');
      expect(all).toHaveLength(2000);
      expect(all[0]).not.toContain('simulated container');
    });

    test.each([
      ['previous=true', 'previous terminated container "main" in pod "box" not found'],
      ['tailLines=-1', 'tailLines: Invalid value: "-1"'],
      ['sinceSeconds=0', 'sinceSeconds: Invalid value: "0"'],
      ['sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z', 'at most one of `sinceTime` or `sinceSeconds`'],
    ])('refuses %s', async (query, message) => {
      const { status, json } = await cluster.call('GET', `${LOG}?${query}`);
      expect([status, json?.['message']]).toEqual([400, expect.stringContaining(message)]);
    });
  });
});
