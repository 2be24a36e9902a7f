import { ApiError } from './api-error.js';
import { fieldOfError } from './field-of-error.js';

const FIELDS = ['name', 'disk'] as const;

describe('fieldOfError', () => {
  test('takes the field that a message begins with', () => {
    expect(fieldOfError(new ApiError(400, 'X', 'disk must be a quantity.'), FIELDS)).toBe('disk');
  });

  test('believes the details before the message', () => {
    expect(fieldOfError(new ApiError(400, 'X', 'disk is odd.', { field: 'name' }), FIELDS)).toBe('name');
  });

  test.each([
    new ApiError(400, 'X', 'The disk is full.'),
    new ApiError(400, 'X', 'disks are full.'),
    new Error('name'),
  ])('finds none in «%s»', (error) => expect(fieldOfError(error, FIELDS)).toBeUndefined());
});
