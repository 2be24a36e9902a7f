import { MatrixError } from './matrix-error.js';

describe('MatrixError', () => {
  test('puts errcode and error in front of the extra members', () => {
    const error = new MatrixError(429, 'M_LIMIT_EXCEEDED', 'Too fast.', { extra: { retry_after_ms: 1 } });
    expect(error.body()).toEqual({ errcode: 'M_LIMIT_EXCEEDED', error: 'Too fast.', retry_after_ms: 1 });
  });

  test('uses the status of each kind of error', () => {
    expect(MatrixError.unrecognized()).toMatchObject({ status: 404, errcode: 'M_UNRECOGNIZED' });
    expect(MatrixError.wrongMethod()).toMatchObject({ status: 405, errcode: 'M_UNRECOGNIZED' });
    expect(MatrixError.tooLarge('big')).toMatchObject({ status: 413, errcode: 'M_TOO_LARGE' });
  });
});
