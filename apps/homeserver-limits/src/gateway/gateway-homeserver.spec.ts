import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { MatrixRequest } from '@headgate/homeserver-contracts';
import { jest } from '@jest/globals';
import { GatewayHomeserver } from './gateway-homeserver.js';
import type { GatewayIdentity } from './gateway-identity.js';
import type { UpstreamClient } from './upstream-client.js';

test('GatewayHomeserver returns the response when its effect could not be recorded, and logs the failure', async () => {
  const body = Buffer.from('{"filter_id":"f"}');
  const response = Object.assign(new IncomingMessage(new Socket()), { statusCode: 200 });
  const upstream = { read: async () => ({ response, body }) } as unknown as UpstreamClient;
  const observer = { interest: () => 'body' as const, observe: () => Promise.reject(new Error('disk full')) };
  const error = jest.fn();
  const homeserver = new GatewayHomeserver({
    upstream,
    identity: {} as GatewayIdentity,
    observer,
    headers: { of: () => [] },
    timeoutMs: 1,
    log: { error },
  });
  const raw = new IncomingMessage(new Socket());
  const request = new MatrixRequest({
    raw,
    response: new ServerResponse(raw),
    target: '/',
    params: {},
    queryText: '',
    address: '192.0.2.1',
    source: '192.0.2.1',
  });
  expect(await homeserver.handle(request, 'createFilter')).toMatchObject({ status: 200, body });
  expect(error).toHaveBeenCalledWith(expect.objectContaining({ operation: 'createFilter' }), expect.any(String));
});
