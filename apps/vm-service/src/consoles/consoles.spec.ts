import 'reflect-metadata';
import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { Edge, refusalOf } from '../testing/edge.js';

describe('a console', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const first = async (socket: WebSocket): Promise<string> => String(((await once(socket, 'message')) as [Buffer])[0]);

  test('is bridged over a socket', async () => {
    const vnc = edge.socket('/api/vnc/default/db');
    expect(await first(vnc)).toBe('RFB 003.008\n');
    const tty = edge.socket('/api/tty/default/db?context=lab');
    expect(await first(tty)).toMatch(/^booted\n/);
    tty.send(Buffer.from('root\n'));
    let echoed = '';
    while (!echoed.endsWith('root\n')) echoed += await first(tty);
    vnc.close();
    tty.close();
  });

  test('keeps input that arrives before the guest answers, and delivers it', async () => {
    const consoles = edge.lab.require('consoles');
    const openSerial = consoles.openSerial.bind(consoles);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    consoles.openSerial = (ref) => answered.then(() => openSerial(ref));
    const tty = edge.socket('/api/tty/default/db?context=lab');
    let seen = '';
    tty.on('message', (data: Buffer) => (seen += String(data)));
    await once(tty, 'open');
    tty.send(Buffer.from('early\n'));
    await fetch(`http://${edge.base}/healthz`);
    answer();
    while (!seen.includes('early\n')) await once(tty, 'message');
    tty.close();
  });

  test.each([
    ['/api/vnc/default/none', {}, 404],
    ['/api/vnc/default/web', {}, 409],
    ['/api/tty/default/twin', {}, 409],
    ['/api/vnc/Bad/web', {}, 400],
    ['/api/spice/default/db', {}, 404],
    ['/api/vnc/default/db', { origin: 'http://evil.example.org' }, 403],
    ['/api/vnc/default/db', { host: 'evil.example.org' }, 403],
  ])('at %s with %j is refused with %i before it is opened', async (path, headers, status) => {
    expect(await refusalOf(edge.socket(path, headers))).toBe(status);
  });

  test('closes with the service', async () => {
    const tty = edge.socket('/api/tty/default/db');
    await once(tty, 'open');
    const closed = once(tty, 'close');
    await edge.service.close();
    await closed;
    await edge.open();
  });
});
