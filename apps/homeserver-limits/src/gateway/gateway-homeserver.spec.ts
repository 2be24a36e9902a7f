import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { jest } from '@jest/globals';
import { MatrixRequest } from '../wire/matrix-request.js';
import type { GatewayIdentity } from './gateway-identity.js';
import { GatewayHomeserver } from './gateway-homeserver.js';
import type { UpstreamClient } from './upstream-client.js';

test('GatewayHomeserver hands on what was done though it could not be noted: it counts, and somebody is told', async () => {
  const body = Buffer.from('{"filter_id":"f"}');
  const answer = Object.assign(new IncomingMessage(new Socket()), { statusCode: 200 });
  const upstream = { read: async () => ({ answer, body }) } as unknown as UpstreamClient;
  const observer = { interest: () => 'body' as const, observe: () => Promise.reject(new Error('disk full')) };
  const error = jest.fn();
  const homeserver = new GatewayHomeserver(upstream, {} as GatewayIdentity, observer, {
    ...{ host: 'b', timeoutMs: 1, trusts: () => false },
    log: { error },
  });
  const raw = new IncomingMessage(new Socket());
  const request = new MatrixRequest(raw, new ServerResponse(raw), '/', {}, '', '192.0.2.1', '192.0.2.1');
  expect(await homeserver.answer(request, 'createFilter')).toMatchObject({ status: 200, body });
  expect(error).toHaveBeenCalledWith(expect.objectContaining({ operation: 'createFilter' }), expect.any(String));
});
