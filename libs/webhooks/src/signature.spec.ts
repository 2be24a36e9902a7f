import { newSecret, signedHeaders } from './signature.js';

describe('the signature of a webhook', () => {
  test('is the one of the specification', () => {
    // Source: the example of https://github.com/standard-webhooks/standard-webhooks, which its libraries test.
    const headers = signedHeaders(
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1614265330, body: '{"test": 2432232314}' },
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('depends on the ID, the time, the body and the secret', () => {
    const message = { id: 'msg_1', timestampSeconds: 1, body: '{}' };
    const secret = newSecret();
    const signatures = [
      signedHeaders(message, secret),
      signedHeaders({ ...message, id: 'msg_2' }, secret),
      signedHeaders({ ...message, timestampSeconds: 2 }, secret),
      signedHeaders({ ...message, body: '{ }' }, secret),
      signedHeaders(message, newSecret()),
    ].map((headers) => headers['webhook-signature']);
    expect(new Set(signatures).size).toBe(5);
  });

  test('is followed by that of a former secret', () => {
    const message = { id: 'msg_1', timestampSeconds: 1, body: '{}' };
    const [one, two] = [newSecret(), newSecret()];
    const signature = (...secrets: [string, ...string[]]) => signedHeaders(message, ...secrets)['webhook-signature'];
    expect(signature(one, two)).toBe(`${signature(one)} ${signature(two)}`);
  });

  test('has a secret of 32 random bytes', () => {
    expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSecret()).not.toBe(newSecret());
  });
});
