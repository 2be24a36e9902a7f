import { ApiError } from './api-error.js';
import { fieldErrors } from './field-errors.js';

const FIELDS = ['name', 'disk', 'node'] as const;
const of = (message: string, code = 'X', details?: unknown) =>
  fieldErrors(new ApiError(400, code, message, details), FIELDS);

describe('fieldErrors', () => {
  test('returns the message of each field in the details', () => {
    const fields = [
      { field: 'name', message: 'name is too long.' },
      { field: 'disk', message: 'disk must be a quantity.' },
    ];
    expect(of('name is too long. disk must be a quantity.', 'INVALID_NAME', { fields })).toEqual({
      name: 'name is too long.',
      disk: 'disk must be a quantity.',
    });
  });

  test('finds the field at the start of the message', () =>
    expect(of('disk must be a quantity.')).toEqual({ disk: 'disk must be a quantity.' }));

  test('derives the field from the code', () => {
    expect(of('An instance with this name exists.', 'ALREADY_EXISTS')).toEqual({
      name: 'An instance with this name exists.',
    });
    expect(of('There is no node n9.', 'NODE_NOT_FOUND')).toEqual({ node: 'There is no node n9.' });
  });

  test.each([
    ['The disk is full.', 'X', undefined],
    ['disks are full.', 'X', undefined],
    ['A field is unknown.', 'INVALID_INPUT', { fields: [{ field: 'shoe', message: 'shoe is not a known field.' }] }],
    ['There is no volume data.', 'VOLUME_NOT_FOUND', undefined],
  ])('finds no field in "%s"', (message, code, details) => expect(of(message, code, details)).toEqual({}));

  test('finds no field in an error that is not from the service', () =>
    expect(fieldErrors(new Error('name'), FIELDS)).toEqual({}));
});
