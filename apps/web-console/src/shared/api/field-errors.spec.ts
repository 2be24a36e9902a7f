import { ApiError } from './api-error.js';
import { fieldErrors } from './field-errors.js';

const FIELDS = ['name', 'disk', 'node'] as const;
const of = (message: string, code = 'X', details?: unknown) =>
  fieldErrors(new ApiError(400, code, message, details), FIELDS);

describe('fieldErrors', () => {
  test('has the sentence of each field that the details list', () => {
    const fields = [
      { field: 'name', message: 'name is too long.' },
      { field: 'disk', message: 'disk must be a quantity.' },
    ];
    expect(of('name is too long. disk must be a quantity.', 'INVALID_NAME', { fields })).toEqual({
      name: 'name is too long.',
      disk: 'disk must be a quantity.',
    });
  });

  test('takes the field that a message begins with', () =>
    expect(of('disk must be a quantity.')).toEqual({ disk: 'disk must be a quantity.' }));

  test('knows what some codes are about', () => {
    expect(of('There is an instance of that name.', 'ALREADY_EXISTS')).toEqual({
      name: 'There is an instance of that name.',
    });
    expect(of('There is no node n9.', 'NODE_NOT_FOUND')).toEqual({ node: 'There is no node n9.' });
  });

  test.each([
    ['The disk is full.', 'X', undefined],
    ['disks are full.', 'X', undefined],
    ['A field is unknown.', 'INVALID_INPUT', { fields: [{ field: 'shoe', message: 'shoe is not a known field.' }] }],
    ['There is no volume data.', 'VOLUME_NOT_FOUND', undefined],
  ])('finds none in «%s»', (message, code, details) => expect(of(message, code, details)).toEqual({}));

  test('finds none in what did not come from the service', () =>
    expect(fieldErrors(new Error('name'), FIELDS)).toEqual({}));
});
