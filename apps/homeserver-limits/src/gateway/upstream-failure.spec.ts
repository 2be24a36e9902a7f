import { UpstreamBusy, UpstreamTimeout } from '@headgate/http-relay';
import { MatrixError } from '@headgate/matrix-protocol';
import { upstreamFailure } from './upstream-failure.js';

test.each([
  ['a timeout', new UpstreamTimeout(), 504],
  ['too many requests', new UpstreamBusy(), 503],
  ['a refused connection', new Error('refused'), 502],
])('the failure of an upstream with %s has its own status', (_what, error, status) => {
  expect(upstreamFailure(error)).toMatchObject({ status, errcode: 'M_UNKNOWN', cause: error });
});

test('an error that has a response already is passed on', () => {
  const error = MatrixError.forbidden('no');
  expect(upstreamFailure(error)).toBe(error);
});
